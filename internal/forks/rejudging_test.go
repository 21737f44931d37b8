package forks_test

import (
	"strings"
	"testing"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

var judging = forks.Place{State: fsm.Judging, Round: 1}

// key returns the key of a step in round 1.
func key(phase, name string) transcript.Key {
	return transcript.Key{Run: 1, Round: 1, Phase: phase, Actor: name}
}

func at(seq int64) journal.EventMeta { return journal.EventMeta{Seq: seq} }

func move(seq int64, on fsm.Event, from, to fsm.State, round int) journal.StateChanged {
	return journal.StateChanged{EventMeta: at(seq), On: on, From: from, To: to, Round: round}
}

func phase(seq int64, name string) journal.PhaseStarted {
	return journal.PhaseStarted{EventMeta: at(seq), Phase: name}
}

func summaryPhase(seq int64, name string) journal.PhaseStarted {
	return journal.PhaseStarted{EventMeta: at(seq), Phase: name, Summary: &window.SummaryPlan{}}
}

func turn(seq int64, k transcript.Key) journal.TurnDone {
	return journal.TurnDone{EventMeta: at(seq), Turn: transcript.Turn{Key: k}}
}

func summary(seq int64, k transcript.Key) journal.TurnDone {
	return journal.TurnDone{EventMeta: at(seq), Turn: transcript.Turn{Key: k, Kind: transcript.Summary}}
}

func calls(seq int64, phase string) journal.ToolsCalled {
	return journal.ToolsCalled{EventMeta: at(seq), Key: key(phase, "")}
}

func drop(seq int64, name string) journal.Dropped {
	return journal.Dropped{EventMeta: at(seq), Name: name}
}

// other returns an entry that a course does not know.
func other(seq int64) journal.Annotated { return journal.Annotated{EventMeta: at(seq)} }

// as returns an event with another seq, which repeats an entry of the parent.
func as(ev journal.Event, seq, repeats int64) journal.Event {
	meta := journal.EventMeta{Seq: seq, Repeats: repeats}
	switch ev := ev.(type) {
	case journal.StateChanged:
		ev.EventMeta = meta
		return ev
	case journal.PhaseStarted:
		ev.EventMeta = meta
		return ev
	case journal.TurnDone:
		ev.EventMeta = meta
		return ev
	case journal.ToolsCalled:
		ev.EventMeta = meta
		return ev
	case journal.Dropped:
		ev.EventMeta = meta
		return ev
	}
	return nil
}

// parent returns the entries after the first five of a debate: judges decide, the debate pauses and comes back, Bob drops out, a
// participant calls a tool and speaks, and a summary is made for the judges who decide at the end.
func parent() []journal.Event {
	return []journal.Event{
		phase(6, "verdict"),
		turn(7, key("verdict", "Jo")),
		move(8, fsm.Pause, fsm.Judging, fsm.Paused, 1),
		phase(9, "lost"),
		move(10, fsm.Resume, fsm.Paused, fsm.Judging, 1),
		move(11, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
		drop(12, "Bob"),
		phase(13, "speech"),
		calls(14, "speech"),
		turn(15, key("speech", "Ann")),
		phase(16, "verdict"),
		summaryPhase(17, "summary"),
		summary(18, key("summary", "summarizer")),
		calls(19, "verdict"),
		other(20),
	}
}

func nobody(string) bool { return false }

func newCourse(omit journal.Omission) *forks.Course {
	return forks.NewCourse(&journal.Course{From: 5, Omit: omit, Swap: true, Phases: []string{"verdict"}}, parent())
}

func TestTheCourseIsRepeated(t *testing.T) {
	c := newCourse(journal.Omission{})
	all := func(string) bool { return true }
	require.False(t, c.Leads())
	require.False(t, c.Follow(other(4), judging))
	require.False(t, c.Follow(other(5), judging), "no document is left out")
	require.True(t, c.Begun())
	require.True(t, c.GoesOn(judging))
	require.False(t, c.GoesOn(forks.Place{State: fsm.Judging, Round: 2}))
	require.True(t, c.Asks(nobody))

	var seqs []int64
	own := int64(5)
	for c.Leads() {
		x := c.Next(all)
		if x == nil {
			break
		}
		seq := x.Meta().Seq
		seqs = append(seqs, seq)
		own += 2 // the judges reply in between
		c.Follow(as(x, own, seq), forks.Place{State: fsm.Judging, Round: 1})
	}
	require.Equal(t, []int64{11, 12, 13, 14, 15}, seqs, "neither the judges' phases, turns, calls and summary, nor the pause")
	require.True(t, c.Asks(nobody), "they decide at the end")
	require.Equal(t, int64(3), c.SeqOf(3))
	require.Equal(t, int64(5), c.SeqOf(10), "nothing is repeated between the first entries and entry 10")
	require.Equal(t, int64(15), c.SeqOf(18))
	require.Nil(t, c.Summary(nil))
	require.Equal(t, &window.SummaryPlan{Base: 4, Covers: []int64{7, 15}}, c.Summary(&window.SummaryPlan{Base: 4, Covers: []int64{11, 15}}))
	c.Follow(journal.StateChanged{EventMeta: at(90), On: fsm.Stop}, judging)
	require.False(t, c.Leads(), "somebody has stopped the debate elsewhere")
}

func TestOnlyParticipantsAreDropped(t *testing.T) {
	c := newCourse(journal.Omission{})
	c.Follow(other(5), judging)
	c.Follow(as(parent()[5], 6, 11), judging)
	next := c.Next(func(name string) bool { return name != "Bob" })
	require.Equal(t, "speech", next.(journal.PhaseStarted).Phase, "Bob was dropped before")
}

// A remark or a summary that the debate has already, with the same key, is not repeated.
func TestTurnsThatTheDebateHasAreNotRepeated(t *testing.T) {
	remark, summed := transcript.Key{Run: 1, Phase: "remark", Target: "cost"}, key("summary", "summarizer")
	kept := func(has ...journal.Event) (seqs []int64) {
		c := forks.NewCourse(&journal.Course{From: 5, Phases: []string{"verdict"}}, []journal.Event{
			move(6, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
			turn(7, remark),
			summaryPhase(8, "summary"),
			summary(9, summed),
			summaryPhase(10, "summary"),
			summary(11, key("summary", "other")),
			turn(12, key("speech", "Ann")),
		})
		c.Follow(other(5), judging)
		own := int64(5)
		for _, x := range has {
			own++
			c.Follow(as(x, own, 0), judging)
		}
		for c.Leads() {
			own++
			next := c.Next(func(string) bool { return true })
			seq := next.Meta().Seq
			seqs = append(seqs, seq)
			c.Follow(journal.Annotated{EventMeta: journal.EventMeta{Seq: own, Repeats: seq}}, judging)
		}
		if len(has) == 2 {
			require.Equal(t, &window.SummaryPlan{Base: 7, Covers: []int64{6, 8, 11}}, c.Summary(&window.SummaryPlan{Base: 9, Covers: []int64{7, 6, 12}}))
		}
		return seqs
	}
	require.Equal(t, []int64{6, 7, 8, 9, 10, 11, 12}, kept())
	require.Equal(t, []int64{6, 8, 9, 10, 11, 12}, kept(turn(0, remark)))
	require.Equal(t, []int64{6, 10, 11, 12}, kept(turn(0, remark), summary(0, summed)))
}

func TestAFailureWithoutAReturnStays(t *testing.T) {
	c := forks.NewCourse(&journal.Course{From: 5}, []journal.Event{move(6, fsm.Fail, fsm.Judging, fsm.Error, 1)})
	c.Follow(other(5), judging)
	require.Equal(t, int64(6), c.Next(nil).Meta().Seq)
	require.Nil(t, forks.NewCourse(&journal.Course{}, nil).Next(nil))
}

// A judge who dropped out just before others decide is asked again, and the others are too.
func TestJudgesDecideAfterADrop(t *testing.T) {
	c := forks.NewCourse(&journal.Course{From: 5, Phases: []string{"verdict"}}, []journal.Event{
		drop(6, "Jo"), phase(7, "verdict"), move(8, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
	})
	c.Follow(other(5), judging)
	require.True(t, c.Asks(nobody))
	require.False(t, c.Asks(func(name string) bool { return name == "Jo" }), "a drop that is repeated comes first")
	none := forks.NewCourse(&journal.Course{From: 5, Phases: []string{"verdict"}}, []journal.Event{drop(6, "Jo")})
	none.Follow(other(5), judging)
	require.False(t, none.Asks(nobody))
}

func TestOtherJudgesDepart(t *testing.T) {
	c := newCourse(journal.Omission{})
	c.Follow(other(5), judging)
	stop := transcript.Ending{Outcome: transcript.EarlyStop}
	limit := transcript.Ending{Outcome: transcript.RoundLimit}
	require.Nil(t, c.Instead(1, stop, stop))
	require.Nil(t, c.Instead(1, transcript.Ending{}, limit))
	require.Equal(t, &transcript.Ending{Outcome: transcript.RoundLimit, Round: 1}, c.Instead(1, stop, limit))
	require.Nil(t, c.Instead(1, limit, transcript.Ending{}))
	require.Equal(t, &transcript.Ending{Round: 1}, c.Instead(1, stop, transcript.Ending{}))
	x := move(9, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1)
	x.Repeats = 11
	x.Ending = transcript.Ending{}
	x.Instead = &stop
	c.Follow(x, forks.Place{Round: 1})
	require.Nil(t, c.Instead(1, stop, transcript.Ending{}), "they have departed in this round")
	remains := turn(10, key("verdict", "Jo"))
	remains.Remains = true
	c.Follow(remains, judging)
	require.Equal(t, []string{
		"round 1: the new judges would have had the debate end it with early_stop; the course, which was to go on, is kept",
		"round 1, verdict of Jo: the prompt has words of a turn that was left out",
	}, c.Warnings())
	var none *forks.Course
	require.Equal(t, int64(5), c.Before(9))
	require.Equal(t, int64(9), none.Before(9))
	require.Nil(t, none.Warnings())
	require.False(t, none.Begun())
}

func TestWhatJudgesDoNotSee(t *testing.T) {
	said := "Buses need less room than any number of cars, on every street."
	r := &protocol.Record{Turns: []transcript.Turn{
		{Key: key("speech", "Ann"), Kind: transcript.Speech, Text: said},
		{Key: key("speech", "Bob"), Kind: transcript.Speech, Text: "No."},
		{Key: key("note", "Jo"), Kind: transcript.Assessment},
	}}
	c := newCourse(journal.Omission{Seats: []string{"Ann"}, Documents: []string{"a.txt"}})
	phases := []protocol.Phase{
		{Name: "speech", Steps: []protocol.Step{{Key: key("speech", "Ann")}}},
		{Name: "verdict", Steps: []protocol.Step{
			{Key: key("verdict", "Jo"), Blind: true},
			{Key: key("verdict", "Lee"), Blind: true},
			{Key: key("verdict", "Lee"), Blind: true, Swap: true},
			{Key: key("verdict", "Pat"), Show: func(t *transcript.Turn) bool { return t.Kind == transcript.Assessment }},
		}},
	}
	rules := forks.WithCourse(phasesOf(phases), c)
	require.Equal(t, len(phases), len(rules.Phases(r)))
	require.Nil(t, rules.Phases(r)[1].Steps[0].Show, "the debate does not have the first entries yet")
	require.True(t, c.Follow(other(5), judging), "documents are left out from here on")
	is := rules.Phases(r)
	require.Nil(t, is[0].Steps[0].Show)
	require.True(t, is[1].Steps[0].Swap)
	require.False(t, is[1].Steps[1].Swap, "the judge is asked twice")
	require.False(t, phases[1].Steps[0].Swap, "the phases of the protocol do not change")
	shows := func(s protocol.Step) (seen []bool) {
		for i := range r.Turns {
			seen = append(seen, s.Show(&r.Turns[i]))
		}
		return seen
	}
	require.Equal(t, []bool{false, true, false}, shows(is[1].Steps[0]))
	require.Equal(t, []bool{false, false, true}, shows(is[1].Steps[3]))

	prompt := []providers.Message{{Text: said}}
	hide := func(text string) string { return strings.ReplaceAll(text, "Buses", "Debater A") }
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], prompt, nil, hide))
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "debater a need less room than any number"}}, nil, hide))
	require.False(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "Debater B need less room than any number"}}, nil, hide))
	require.False(t, c.RemainsIn(r, &is[0].Steps[0], prompt, nil, hide), "Ann does not decide")
	require.False(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "No."}}, nil, hide))
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "the first word of a long document is this one"}}, []string{"The first word of a long document is this one."}, hide))
}

// phasesOf is a protocol with phases.
type phasesOf []protocol.Phase

func (phasesOf) Name() string { return "phases/1" }

func (phasesOf) Check(*protocol.Record) []protocol.Problem { return nil }

func (p phasesOf) Phases(*protocol.Record) []protocol.Phase { return p }

func (phasesOf) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func TestWhatCanBeLeftOut(t *testing.T) {
	turns := map[transcript.Key]transcript.Turn{key("speech", "Ann"): {Kind: transcript.Speech}, key("verdict", "Jo"): {Kind: transcript.Assessment}}
	find := func(k transcript.Key) (transcript.Turn, bool) { t, ok := turns[k]; return t, ok }
	good := journal.Omission{Turns: []transcript.Key{key("speech", "Ann")}, Seats: []string{"Ann"}, Documents: []string{"a.txt"}}
	require.Empty(t, forks.CheckOmission(&good, find, []string{"Ann"}, []string{"a.txt"}))
	bad := journal.Omission{
		Turns: []transcript.Key{key("speech", "Eve"), key("verdict", "Jo")}, Seats: []string{"Eve"},
		Documents: []string{"b.txt"},
	}
	require.Equal(t, []protocol.Problem{
		{Field: "omit.turns[0]", Reason: "the debate has no turn 1/1/speech/Eve/"},
		{Field: "omit.turns[1]", Reason: "1/1/verdict/Jo/ is no speech or remark, but a turn of kind assessment"},
		{Field: "omit.seats[0]", Reason: `"Eve" is not a participant`},
		{Field: "omit.documents[0]", Reason: `the debate has no document or attachment "b.txt"`},
	}, forks.CheckOmission(&bad, find, []string{"Ann"}, []string{"a.txt"}))
}

func TestTheFirstDecision(t *testing.T) {
	p := &journal.Course{Phases: []string{"verdict"}}
	entries := []journal.Event{
		phase(0, "speech"),
		phase(0, "verdict"),
		journal.StateChanged{On: fsm.Reset},
		summaryPhase(0, "verdict"),
		phase(0, "verdict"),
		phase(0, "verdict"),
	}
	require.Equal(t, 4, forks.FirstDecision(entries, p))
	require.Zero(t, forks.FirstDecision(entries[:3], p))
}
