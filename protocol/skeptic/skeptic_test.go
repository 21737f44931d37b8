package skeptic_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
	"github.com/elenchus-go/debate/transcript"
)

// Short names for critiques.
const (
	accepts  = "It holds.\n\n```json\n{\"issues\":[],\"ready\":true,\"score\":9}\n```"
	sinks    = "🔴 It fails.\n\n```json\n{\"issues\":[{\"severity\":\"critical\",\"text\":\"It fails.\"}],\"ready\":false,\"score\":3}\n```"
	mutters  = "Hm."
	threeDoc = `{"documents":[{"title":"One","text":"First."},{"title":"Two","text":"Second."},{"title":"Three","text":"Third."}]}`
)

// playedDebate runs a protocol like an engine, with fixed replies.
type playedDebate struct {
	*protocoltest.Session
	protocol skeptic.Protocol
	found    string // documents of the retriever
	critique func(round int) string
	said     []string // "round phase actor prompt"
}

func start(t *testing.T, p skeptic.Protocol, critique func(round int) string) *playedDebate {
	return &playedDebate{Session: protocoltest.New(t, p, []string{"Ann", "Bob"}, []string{"Eve"}), protocol: p, found: threeDoc, critique: critique}
}

// stage runs all steps of a stage.
func (d *playedDebate) stage(t *testing.T, stage transcript.Kind, round int) {
	t.Helper()
	d.Enter(stage, round)
	for steps := d.Next(); len(steps) > 0; steps = d.Next() {
		require.Len(t, steps, 1, "steps run in sequence")
		require.True(t, d.Apply(d.turn(t, steps[0])), "%s was said already", steps[0].Key)
	}
}

// turn returns the turn of a step. The nth turn takes n seconds.
func (d *playedDebate) turn(t *testing.T, s protocol.Step) transcript.Turn {
	t.Helper()
	d.said = append(d.said, fmt.Sprintf("%d %s %s %s", d.Cursor.Round, s.Phase, s.Actor, s.Prompt))
	began := time.Date(2026, 3, 1, 12, len(d.said), 0, 0, time.UTC)
	turn := transcript.Turn{
		Key: s.Key, Kind: s.Kind, Order: s.Order, Seq: d.Seq + 1, Contract: s.Contract, Text: s.Phase + " " + fmt.Sprint(d.Cursor.Round),
		Started: began, Ended: began.Add(time.Duration(len(d.said)) * time.Second),
		Attempts: []transcript.Attempt{{Model: "failing"}, {Model: "model of " + s.Actor}},
	}
	switch s.Phase {
	case "attack":
		turn.Text = d.critique(d.Cursor.Round)
	case "retrieval":
		r, err := skeptic.DocumentsContract.Parse(d.found, nil)
		require.NoError(t, err)
		turn.Text, turn.Data = r.Text, r.Data
	}
	return turn
}

// run runs the whole debate like an engine, and returns how it ended.
func (d *playedDebate) run(t *testing.T) transcript.Ending {
	t.Helper()
	d.stage(t, transcript.Setup, 0)
	ending := transcript.Ending{}
	for round := 1; ending.Outcome == ""; round++ {
		d.stage(t, transcript.Speech, round)
		if round >= d.MinRounds {
			ending = d.protocol.End(&d.Record)
		}
		if ending.Outcome == "" && round >= d.MaxRounds {
			ending.Outcome = transcript.RoundLimit
		}
	}
	d.Ending = ending
	d.stage(t, transcript.Conclusion, d.Cursor.Round)
	return ending
}

func always(text string) func(int) string { return func(int) string { return text } }

func ExampleProtocol() {
	p := skeptic.Protocol{}
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}}, Judges: []string{"Eve"}, MinRounds: 3, MaxRounds: 5}
	for _, at := range []transcript.Cursor{
		{Stage: transcript.Setup},
		{Stage: transcript.Speech, Round: 1},
		{Stage: transcript.Speech, Round: 2},
		{Stage: transcript.Conclusion, Round: 2},
	} {
		r.Cursor = at
		for _, phase := range p.Phases(r) {
			fmt.Println(at.Round, phase.Name, phase.Steps[0].Actor, phase.Steps[0].Prompt)
		}
	}
	// Output:
	// 0 retrieval retriever skeptic-retrieve
	// 1 propose Ann skeptic-propose
	// 1 attack Bob skeptic-attack
	// 2 defend Ann skeptic-defend
	// 2 attack Bob skeptic-attack
	// 2 synthesis Eve skeptic-synthesis
}

func TestADebateRunsFromRetrievalToSynthesis(t *testing.T) {
	d := start(t, skeptic.Protocol{}, func(round int) string { return map[bool]string{true: accepts, false: sinks}[round >= 4] })
	require.Equal(t, transcript.Ending{
		Outcome: transcript.EarlyStop, Evidence: "Bob: ready for synthesis at 9 of 10; critical issues: 0, major: 0, minor: 0",
	}, d.run(t))
	require.Equal(t, []string{
		"0 retrieval retriever skeptic-retrieve",
		"1 propose Ann skeptic-propose", "1 attack Bob skeptic-attack",
		"2 defend Ann skeptic-defend", "2 attack Bob skeptic-attack",
		"3 defend Ann skeptic-defend", "3 attack Bob skeptic-attack",
		"4 defend Ann skeptic-defend", "4 attack Bob skeptic-attack",
		"4 synthesis Eve skeptic-synthesis",
	}, d.said)
}

func TestRoundsOfADebate(t *testing.T) {
	for _, tt := range []struct {
		name     string
		critique string
		rounds   int
		outcome  transcript.Outcome
	}{
		{"ready at once, but three rounds are the least", accepts, 3, transcript.EarlyStop},
		{"never ready", sinks, 5, transcript.RoundLimit},
		{"never readable", mutters, 5, transcript.RoundLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := start(t, skeptic.Protocol{}, always(tt.critique))
			require.Equal(t, tt.outcome, d.run(t).Outcome)
			require.Equal(t, tt.rounds, d.Cursor.Round)
		})
	}
}

func TestReachingTheLimitIsNotEarly(t *testing.T) {
	d := start(t, skeptic.Protocol{}, func(round int) string { return map[bool]string{true: accepts, false: sinks}[round == 5] })
	require.Equal(t, transcript.RoundLimit, d.run(t).Outcome)
	require.Empty(t, d.protocol.End(&d.Record))
	d.MaxRounds = 6
	require.Equal(t, transcript.EarlyStop, d.protocol.End(&d.Record).Outcome, "with a round to spare it is")
}

func TestWhoIsWho(t *testing.T) {
	type seats []transcript.Profile
	for _, tt := range []struct {
		name     string
		seats    seats
		proposer string
	}{
		{"without roles by order", seats{{Name: "Ann"}, {Name: "Bob"}}, "Ann"},
		{"roles in order", seats{{Name: "Ann", Role: "proposer"}, {Name: "Bob", Role: "skeptic"}}, "Ann"},
		{"roles against the order", seats{{Name: "Ann", Role: "skeptic"}, {Name: "Bob", Role: "proposer"}}, "Bob"},
		{"only the first has a role", seats{{Name: "Ann", Role: "skeptic"}, {Name: "Bob"}}, "Bob"},
		{"only the second has a role", seats{{Name: "Ann"}, {Name: "Bob", Role: "proposer"}}, "Bob"},
		{"other roles have no effect", seats{{Name: "Ann", Role: "nurse"}, {Name: "Bob", Role: "judge"}}, "Ann"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &protocol.Record{Participants: tt.seats, Cursor: transcript.Cursor{Round: 1, Stage: transcript.Speech}}
			phases := skeptic.Protocol{}.Phases(r)
			require.Len(t, phases, 2)
			require.Equal(t, tt.proposer, phases[0].Steps[0].Actor)
			require.NotEqual(t, tt.proposer, phases[1].Steps[0].Actor)
		})
	}
}

func TestStagesWithoutAnyoneToAct(t *testing.T) {
	for _, stage := range []transcript.Kind{"", transcript.Assessment, transcript.Remark, transcript.Speech, transcript.Conclusion} {
		require.Empty(t, skeptic.Protocol{}.Phases(&protocol.Record{Cursor: transcript.Cursor{Stage: stage}}), stage)
	}
	one := &protocol.Record{Participants: []transcript.Profile{{Name: "Ann"}}, Cursor: transcript.Cursor{Round: 2, Stage: transcript.Speech}}
	require.Empty(t, skeptic.Protocol{}.Phases(one), "the other has dropped out")
	require.Empty(t, skeptic.Protocol{Templates: -1}.Phases(&protocol.Record{Cursor: transcript.Cursor{Stage: transcript.Setup}}), "no templates are wanted")
}

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	type seats []transcript.Profile
	two := seats{{Name: "Ann"}, {Name: "Bob"}}
	for _, tt := range []struct {
		name     string
		protocol skeptic.Protocol
		seats    seats
		judges   int
		want     []string
	}{
		{"the defaults", skeptic.Protocol{}, two, 1, nil},
		{"the bounds", skeptic.Protocol{Templates: 8, ReadyScore: 10}, two, 1, nil},
		{"no templates", skeptic.Protocol{Templates: -1, ReadyScore: 0.5}, two, 1, nil},
		{"one participant", skeptic.Protocol{}, two[:1], 1, []string{"participants: 1 enabled, it takes 2: a proposer and a skeptic"}},
		{"two skeptics", skeptic.Protocol{}, seats{{Role: "skeptic"}, {Role: "skeptic"}}, 1, []string{`participants: both have the role "skeptic", it takes one proposer and one skeptic`}},
		{"two nurses", skeptic.Protocol{}, seats{{Role: "nurse"}, {Role: "nurse"}}, 1, nil},
		{
			"all that can be wrong",
			skeptic.Protocol{Templates: 9, ReadyScore: 10.5},
			append(two, two...), 0,
			[]string{
				"participants: 4 enabled, it takes 2: a proposer and a skeptic",
				"judges: none, it takes one to write the synthesis",
				"protocol.templates: 9, use 1 to 8, or a negative number for none",
				"protocol.ready_score: 10.5, use a score above 0 and up to 10",
			},
		},
		{"a negative score", skeptic.Protocol{ReadyScore: -1}, two, 1, []string{"protocol.ready_score: -1, use a score above 0 and up to 10"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &protocol.Record{Participants: tt.seats, Judges: make([]string, tt.judges)}
			var got []string
			for _, p := range tt.protocol.Check(r) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestParametersAreStoredInThisForm(t *testing.T) {
	for want, p := range map[string]skeptic.Protocol{
		`{}`:                                 {},
		`{"templates":-1,"ready_score":9.5}`: {Templates: -1, ReadyScore: 9.5},
	} {
		b, err := json.Marshal(p)
		require.NoError(t, err)
		require.JSONEq(t, want, string(b))
		var back skeptic.Protocol
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, p, back)
	}
	require.Equal(t, "skeptic/1", skeptic.Protocol{}.Name())
}

func TestItHasDefaultsOfItsOwn(t *testing.T) {
	var p protocol.Protocol = skeptic.Protocol{}
	own, ok := p.(protocol.Defaulter)
	require.True(t, ok)
	d := own.Defaults()
	require.Equal(t, []any{3, 5, []float64{0.7, 0.8}, 0.5}, []any{d.MinRounds, d.MaxRounds, d.Temperatures, *d.JudgeTemperature})
}

func TestDocumentsAreCounted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		k     int
		found string
		want  []string
	}{
		{"three by default", 0, `{"documents":[{"title":"1","text":"a"},{"title":"2","text":"b"},{"title":"3","text":"c"},{"title":"4","text":"d"}]}`, []string{"1", "2", "3"}},
		{"one is wanted", 1, threeDoc, []string{"One"}},
		{"fewer than are wanted", 8, threeDoc, []string{"One", "Two", "Three"}},
		{"nothing was found", 0, `{"documents":[]}`, []string{}},
		{"nothing is wanted", -1, threeDoc, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := start(t, skeptic.Protocol{Templates: tt.k}, always(sinks))
			d.found = tt.found
			d.run(t)
			require.Equal(t, tt.want, traced(t, d).Templates)
		})
	}
}

// The engine uses the default if a retrieval fails and the debate is to continue without it.
func TestNothingFoundIsAValidReply(t *testing.T) {
	r, ok := skeptic.DocumentsContract.Default(nil)
	require.True(t, ok)
	require.JSONEq(t, `{"documents":[]}`, string(r.Data))
	require.Equal(t, "No documents found.", r.Text)
}

func TestTheRetrieverSeesTheTopicAlone(t *testing.T) {
	r := &protocol.Record{Cursor: transcript.Cursor{Run: 1, Stage: transcript.Setup}}
	steps := protocol.Next(skeptic.Protocol{}, r)
	require.Len(t, steps, 1)
	require.Equal(t, "documents/1", steps[0].Contract)
	require.False(t, steps[0].Show(&transcript.Turn{Kind: transcript.Remark}), "no remark becomes a part of the query")
}

func TestTheLibrarysOwnRetrieverFollowsTheContract(t *testing.T) {
	res, err := retrieval.TemplateRetriever().Generate(t.Context(), providers.Request{
		Messages:   []providers.Message{{Role: providers.User, Text: "Should cities ban private cars?"}},
		SchemaName: skeptic.DocumentsContract.Name(), Schema: skeptic.DocumentsContract.Schema(),
	})
	require.NoError(t, err)
	r, err := skeptic.DocumentsContract.Parse(res.Text, nil)
	require.NoError(t, err)
	require.False(t, r.Repaired)
	require.Contains(t, r.Text, "Documents used: ")
	docs, err := transcript.Decode[skeptic.Documents](transcript.Turn{Contract: skeptic.DocumentsContract.Name(), Data: r.Data})
	require.NoError(t, err)
	require.Len(t, docs.Documents, 8, "as many as can be asked for")
}

func traced(t *testing.T, d *playedDebate) (trace skeptic.Trace) {
	t.Helper()
	require.NoError(t, json.Unmarshal(d.protocol.Answer(&d.Record).Data, &trace))
	return trace
}

func TestTheTraceOfADebate(t *testing.T) {
	d := start(t, skeptic.Protocol{Templates: 2}, func(round int) string {
		return map[int]string{1: mutters, 2: sinks, 3: accepts}[round]
	})
	require.Zero(t, d.protocol.Answer(&d.Record), "nothing was said yet")
	require.Equal(t, transcript.EarlyStop, d.run(t).Outcome)
	d.ID = "d"
	d.Topic = "Ban cars?"
	d.Started = time.Unix(1e9, 0).UTC()
	a := d.protocol.Answer(&d.Record)
	require.Equal(t, "synthesis 3", a.Text)
	require.JSONEq(t, `{
		"id": "d", "time": "2001-09-09T01:46:40Z", "query": "Ban cars?", "rating": null,
		"templates": ["One", "Two"],
		"rounds": [
			{"round": 1, "proposal": "propose 1", "attack": "Hm.", "parsed": false, "critique": {
				"issues": [{"severity": "critical", "text": "The critique could not be read. This counts as a critical issue."}], "ready": false, "score": null}},
			{"round": 2, "proposal": "defend 2", "attack": `+quote(t, sinks)+`, "parsed": true, "critique": {
				"issues": [{"severity": "critical", "text": "It fails."}], "ready": false, "score": 3}},
			{"round": 3, "proposal": "defend 3", "attack": `+quote(t, accepts)+`, "parsed": true, "critique": {"issues": [], "ready": true, "score": 9}}
		],
		"answer": "synthesis 3",
		"models": {"proposer": "model of Ann", "skeptic": "model of Bob", "synthesizer": "model of Eve", "embedding": "model of retriever"},
		"quality": {"automatic_score": 9, "ready": true, "critical": 0, "major": 0, "minor": 0},
		"timing": {"retrieval": 1000000000, "rounds": [5000000000, 9000000000, 13000000000], "synthesis": 8000000000, "total": 36000000000},
		"stopped_early": true
	}`, string(a.Data))
}

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}

func TestTheTraceSaysWhetherItStoppedEarly(t *testing.T) {
	d := start(t, skeptic.Protocol{}, always(sinks))
	d.run(t)
	require.False(t, traced(t, d).StoppedEarly, "the limit was reached")

	d = start(t, skeptic.Protocol{}, always(accepts))
	d.stage(t, transcript.Setup, 0)
	d.stage(t, transcript.Speech, 1)
	require.False(t, traced(t, d).StoppedEarly, "the debate continues")
	d.Ending.Outcome = transcript.Stopped
	d.stage(t, transcript.Conclusion, 1)
	require.False(t, traced(t, d).StoppedEarly, "a person has stopped it, whatever the critique says")

	d = start(t, skeptic.Protocol{}, always(accepts))
	d.run(t)
	require.True(t, traced(t, d).StoppedEarly)
	d.Drop("Bob")
	require.True(t, traced(t, d).StoppedEarly, "the past does not change with those who are in")
}

func TestTheTraceOfADebateThatGoesOn(t *testing.T) {
	d := start(t, skeptic.Protocol{}, always(accepts))
	d.stage(t, transcript.Setup, 0)
	require.Equal(t, []skeptic.Round{}, traced(t, d).Rounds)
	for round := 1; round <= 3; round++ {
		d.stage(t, transcript.Speech, round)
	}
	require.False(t, traced(t, d).StoppedEarly, "it has not stopped")
	require.Empty(t, d.protocol.Answer(&d.Record).Text)
	require.True(t, d.Apply(transcript.Turn{Key: transcript.Key{Run: 1, Round: 4, Phase: "defend", Actor: "Ann"}, Kind: transcript.Speech, Seq: d.Seq + 1, Text: "More."}))
	trace := traced(t, d)
	require.Equal(t, skeptic.Round{Round: 4, Proposal: "More."}, trace.Rounds[3])
	require.Empty(t, trace.Models.Proposer, "the turn names none")
}

func TestTimesOfAViewerAndOfRemarksDoNotCount(t *testing.T) {
	d := start(t, skeptic.Protocol{Templates: -1}, always(sinks))
	d.Cursor = transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	say := func(kind transcript.Kind, phase string, took, viewed time.Duration) {
		require.True(t, d.Apply(transcript.Turn{
			Key:  transcript.Key{Run: 1, Round: 1, Phase: phase, Actor: phase},
			Kind: kind, Seq: d.Seq + 1, Started: began, Ended: began.Add(took), ViewerTime: viewed,
		}))
	}
	say(transcript.Speech, "propose", 5*time.Second, 2*time.Second)
	say(transcript.Remark, "remark", time.Hour, 0)
	say(transcript.Speech, "attack", time.Second, 2*time.Second)
	require.Equal(t, skeptic.Timing{Rounds: []time.Duration{3 * time.Second}, Total: 3 * time.Second}, traced(t, d).Timing)
}
