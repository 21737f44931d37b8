package agenda_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// rules is a protocol with speeches of Ann and Bob, and an assessment by Jo in both orders. It counts how often it is asked.
type rules struct{ asked *int }

func (rules) Name() string { return "rules/1" }

func (rules) Check(*protocol.Record) []protocol.Problem { return nil }

func (p rules) Phases(r *protocol.Record) []protocol.Phase {
	*p.asked++
	switch r.Cursor.Stage {
	case transcript.Speech:
		return []protocol.Phase{{Name: "speech", Steps: []protocol.Step{stepOf("Ann"), stepOf("Bob")}}}
	case transcript.Assessment:
		swapped := stepOf("Jo")
		swapped.Target = "again"
		swapped.Swap = true
		swapped.Blind = true
		return []protocol.Phase{{Name: "judging", Parallel: true, Steps: []protocol.Step{stepOf("Jo"), swapped}}}
	default:
		return nil
	}
}

func (rules) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func stepOf(actor string) protocol.Step { return protocol.Step{Key: transcript.Key{Actor: actor}} }

// debate returns an agenda and the record of a debate in which Ann and Bob speak and Jo judges.
func debate(c journal.Config, first journal.Origin) (*agenda.Agenda, *protocol.Record, *int) {
	asked := 0
	c.Protocol = rules{&asked}
	c.Participants = []journal.Participant{{Name: "Ann"}, {Name: "Bob"}}
	r := &protocol.Record{
		Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}},
		Judges:       []string{"Jo"},
		Cursor:       transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech},
		Seq:          4,
	}
	a := &agenda.Agenda{}
	if err := a.Begin(&first); err != nil {
		panic(err)
	}
	a.Configure(&c)
	return a, r, &asked
}

// add adds the turn of a step.
func add(a *agenda.Agenda, r *protocol.Record, s protocol.Step) {
	r.Apply(transcript.Turn{Key: s.Key, Kind: s.Kind, Seq: r.Seq + 1})
	r.Seq++
	a.Follow(r, journal.TurnDone{EventMeta: journal.EventMeta{Seq: r.Seq}, Turn: transcript.Turn{Key: s.Key, Kind: s.Kind}})
}

func TestAProtocolIsAskedOnceForEachPhase(t *testing.T) {
	a, r, asked := debate(journal.Config{}, journal.Origin{})
	for _, name := range []string{"Ann", "Bob"} {
		steps := a.Next(r)
		require.Len(t, steps, 1)
		require.Equal(t, name, steps[0].Actor)
		require.Equal(t, transcript.Speech, steps[0].Kind)
		require.Equal(t, 1, *asked, "its own turns do not change a phase")
		require.Len(t, a.Phases(r), 1)
		*asked = 1 // the whole list may be wanted after each entry
		add(a, r, steps[0])
	}
	require.Empty(t, a.Next(r))
	require.Equal(t, 2, *asked)
	r.Cursor.Stage = transcript.Assessment
	require.Len(t, a.Next(r), 2)
	require.Equal(t, "judging", a.Phase(r, "judging")[0].Name)
	require.Equal(t, 3, *asked)
	a.Forget()
	require.Len(t, a.Phases(r), 1)
	require.Equal(t, 4, *asked)
}

func TestVectorsAreComputedAfterTheSpeeches(t *testing.T) {
	a, r, _ := debate(journal.Config{Detect: []detect.Rule{{Signal: detect.Repetitive, Method: "vectors"}}}, journal.Origin{})
	for range 2 {
		add(a, r, a.Next(r)[0])
	}
	steps := a.Next(r)
	require.Len(t, steps, 1)
	require.Equal(t, protocol.Embedder, steps[0].Actor)
	require.Equal(t, transcript.Embeddings, steps[0].Kind)
	a.Follow(r, move(7, fsm.Responded, fsm.AwaitingResponses, fsm.Judging))
	r.Cursor.Stage = transcript.Assessment
	require.Equal(t, transcript.Assessment, a.Next(r)[0].Kind)
}

func TestAPersonJudgesOnceAndAsTheConfigurationAsks(t *testing.T) {
	a, r, _ := debate(journal.Config{Judges: []journal.Participant{{Name: "Jo", Human: true, Blind: true}}}, journal.Origin{})
	r.Cursor.Stage = transcript.Assessment
	steps := a.Next(r)
	require.Len(t, steps, 1)
	require.True(t, steps[0].Blind)
	require.False(t, steps[0].Swap)
}

func TestTheSilentAreNotAsked(t *testing.T) {
	a, r, _ := debate(journal.Config{}, journal.Origin{Silent: []journal.Silence{{From: 5, Seats: []string{"Ann"}}}})
	require.False(t, agenda.IsEmpty(a.Next(r)[0]), "the fork begins later")
	r.Seq = 5
	step := a.Next(r)[0]
	require.Equal(t, "Ann", step.Actor)
	require.True(t, agenda.IsEmpty(step))
	add(a, r, step)
	require.False(t, agenda.IsEmpty(a.Next(r)[0]))
	require.NotEmpty(t, a.Check(r), "one participant is too few")
}

func TestACourseIsRepeatedAndOnlyItsJudgesAreAsked(t *testing.T) {
	entries := []journal.Event{
		move(3, fsm.Responded, fsm.AwaitingResponses, fsm.Judging),
		journal.PhaseStarted{EventMeta: journal.EventMeta{Type: "phase", Seq: 4}, Phase: "judging", Round: 1},
		journal.TurnDone{
			EventMeta: journal.EventMeta{Type: "turn", Seq: 5},
			Turn:      transcript.Turn{Key: transcript.Key{Run: 1, Round: 1, Phase: "judging", Actor: "Jo"}},
		},
		move(6, fsm.Assessed, fsm.Judging, fsm.RoundComplete),
	}
	course := &journal.Course{From: 2, Phases: []string{"judging"}}
	for _, ev := range entries {
		course.Entries = append(course.Entries, raw(t, ev))
	}
	a, r, asked := debate(journal.Config{}, journal.Origin{Course: course})
	stamp := func(kind string) journal.EventMeta { return journal.EventMeta{Type: kind, Seq: r.Seq + 1} }
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	given := func() journal.Event {
		return a.Given(r, func() []protocol.Step { return a.Next(r) }, stamp, now)
	}
	require.Nil(t, given(), "the debate has not the entries that it begins with")
	r.Seq = 2
	a.Follow(r, move(2, fsm.Initialized, fsm.Initializing, fsm.AwaitingResponses))
	require.Empty(t, a.Next(r), "participants are not asked")
	require.Zero(t, *asked)
	ev := given()
	require.Equal(t, int64(3), ev.Meta().Repeats)
	r.Seq = 3
	a.Follow(r, ev)
	r.Cursor.Stage = transcript.Assessment
	steps := a.Next(r)
	require.Len(t, steps, 2)
	require.Nil(t, given(), "the judge is asked first")
	for _, s := range steps {
		add(a, r, s)
	}
	ev = given()
	require.Equal(t, int64(6), ev.Meta().Repeats)
	require.Equal(t, fsm.Judging, ev.(journal.StateChanged).From)
	a.Follow(r, journal.StateChanged{EventMeta: stamp("state"), On: fsm.Pause, From: fsm.Judging, To: fsm.Paused, Round: 1})
	require.Nil(t, given(), "nothing is repeated during a pause")
}

func move(seq int64, on fsm.Event, from, to fsm.State) journal.StateChanged {
	return journal.StateChanged{EventMeta: journal.EventMeta{Type: "state", Seq: seq}, On: on, From: from, To: to, Round: 1}
}

// raw returns an event as the course of a debate has it.
func raw(t *testing.T, ev journal.Event) []byte {
	t.Helper()
	b, err := json.Marshal(ev)
	require.NoError(t, err)
	return b
}

func TestWhatWasFoundIsReportedOnce(t *testing.T) {
	a, r, _ := debate(journal.Config{Detect: []detect.Rule{{Signal: detect.Repetitive, Method: "words", Effect: detect.Stop}}}, journal.Origin{})
	found := a.Find(r, false)
	require.NotEmpty(t, found)
	found[0].Found = true
	r.MaxRounds = 3
	require.NotEmpty(t, a.Ending(r, found...).Outcome)
	done := move(5, fsm.Responded, fsm.AwaitingResponses, fsm.Judging)
	done.Findings = found
	a.Follow(r, done)
	a.Configure(&journal.Config{Protocol: rules{new(int)}, Detect: []detect.Rule{{Signal: detect.Repetitive, Method: "words"}}})
	require.Empty(t, a.Find(r, false))
	require.NotEmpty(t, a.Advice(1))
	res := &journal.Result{}
	a.AddTo(res)
	require.Equal(t, found, res.Findings)
	require.Nil(t, res.Rejudged)
	a.Follow(r, move(6, fsm.Reset, fsm.Error, fsm.Configuring))
	require.Empty(t, a.Advice(1))
}
