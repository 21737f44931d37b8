package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// encode is v as JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// assessment is a judge's word on participants.
func assessment(goOn bool, names ...string) judge.Assessment {
	a := judge.Assessment{ShouldContinue: goOn, Quality: 6, Reasoning: "because"}
	for _, n := range names {
		a.Participants = append(a.Participants, judge.Score{Name: n, Criteria: judge.Rubric(nil).Marks(6)})
	}
	return a
}

// assess is it as a reply.
func assess(t testing.TB, goOn bool, names ...string) string {
	t.Helper()
	return encode(t, assessment(goOn, names...))
}

const verdict = `{"summary": "A draw.", "quality": 50}`

// court is a judge that lets a debate of A and B go on for some rounds, and concludes.
func court(t testing.TB, rounds int, names ...string) *scripted.Provider {
	t.Helper()
	if len(names) == 0 {
		names = []string{"A", "B"}
	}
	said := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if asked(r, "verdict") {
			return scripted.Reply{Text: verdict}
		}
		said++
		return scripted.Reply{Text: assess(t, said < rounds, names...)}
	}}
}

// asked says whether a request is for one kind of structured reply.
func asked(r providers.Request, what string) bool { return r.Reply == what+"/1" }

// chatter is a participant's model that always has something to say.
func chatter() *scripted.Provider {
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf("Statement after %d messages.", len(r.Messages)), Chunks: 3}
	}}
}

// pair is the usual debate: A and B by the model "m", judged by "j".
func pair(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p,
		Participants: []debate.Participant{{Name: "A", Side: "for", Provider: "m"}, {Name: "B", Side: "against", Provider: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
	}
}

func models(m, j providers.Provider) map[string]providers.Provider {
	return map[string]providers.Provider{"m": m, "j": j}
}

// run drives a debate to its rest.
func run(t testing.TB, d *debate.Debate) (events []debate.Event, err error) {
	t.Helper()
	for ev, err := range d.Run(t.Context()) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// result is what a debate came to.
func result(t testing.TB, d *debate.Debate) *debate.Result {
	t.Helper()
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

// keys are who said what, in order.
func keys(r *debate.Result) (list []string) {
	for _, turn := range r.Turns {
		list = append(list, turn.Key.String())
	}
	return list
}

// echo answers each request with a digest of all that it holds: any change of what a prompt shows changes the text, and
// with it all that follows. As a judge it says so in the reply's terms.
type echo struct {
	names   []string
	latency func() time.Duration // nil: none
	fault   func() error         // nil: none
}

func (e *echo) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	h := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%s|%s\n", m.Role, m.Text)
	}
	reply := scripted.Reply{Text: e.say(h.Sum64(), r), Chunks: 3}
	if e.latency != nil {
		reply.Latency = e.latency()
	}
	if e.fault != nil {
		reply.Err = e.fault()
	}
	p := &scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

func (e *echo) say(sum uint64, r providers.Request) string {
	var v any
	switch {
	case asked(r, "assessment"):
		a := assessment(sum%4 != 0, e.names...)
		a.Reasoning, a.Converged, a.DiminishingReturns = fmt.Sprint(sum), sum%5 == 0, sum%7 == 0
		v = a
	case asked(r, "verdict"):
		v = judge.Verdict{Summary: fmt.Sprint(sum), Quality: float64(sum % 101)}
	case asked(r, "personas"):
		p := protocol.Personas{}
		for _, n := range e.names {
			p.Personas = append(p.Personas, protocol.Persona{Name: n, Persona: fmt.Sprint(sum, n), Position: n, KeyArguments: []string{n}})
		}
		v = p
	default:
		return fmt.Sprintf("%016x", sum)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// mesh is a protocol with everything that panel lacks: several phases a round, in parallel and in sequence, steps with
// a target, a view of one's own, and a phase that depends on what was said.
type mesh struct {
	Rounds int `json:"rounds"`
}

func (mesh) Name() string { return "mesh/1" }

func (mesh) Check(*protocol.Record) []protocol.Problem { return nil }

func (m mesh) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return panel.Protocol{}.Phases(r)
	}
	propose := protocol.Phase{Name: "propose", Parallel: true}
	critique := protocol.Phase{Name: "critique", Parallel: true}
	refine := protocol.Phase{Name: "refine", Parallel: true}
	for _, a := range r.Seats {
		propose.Steps = append(propose.Steps, step(a.Name, "", nil))
		for _, b := range r.Seats {
			if a.Name != b.Name {
				critique.Steps = append(critique.Steps, step(a.Name, b.Name, own(r.Cursor.Round, "propose", b.Name)))
			}
		}
		refine.Steps = append(refine.Steps, step(a.Name, "", nil))
	}
	phases := []protocol.Phase{propose, critique, refine}
	for i := range m.Rounds { // each speaker is chosen by what the one before said
		at := 0
		if i > 0 {
			last, ok := r.At(fmt.Sprintf("free-%d", i-1), r.Seats[0].Name, "")
			for _, s := range r.Seats {
				if !ok {
					last, ok = r.At(fmt.Sprintf("free-%d", i-1), s.Name, "")
				}
			}
			if !ok {
				return phases
			}
			at = int(last.Text[0]) % len(r.Seats)
		}
		phases = append(phases, protocol.Phase{Name: fmt.Sprintf("free-%d", i), Steps: []protocol.Step{step(r.Seats[at].Name, "", nil)}})
	}
	return phases
}

func (mesh) End(r *protocol.Record) transcript.Ending { return panel.Protocol{}.End(r) }

func own(round int, phase, actor string) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool { return t.Round == round && t.Phase == phase && t.Actor == actor }
}

func step(actor, target string, show func(*transcript.Turn) bool) protocol.Step {
	s := protocol.Step{Prompt: "free-form", Vars: map[string]string{"format": "free-form"}, Show: show}
	s.Actor, s.Target = actor, target
	return s
}

// fails is a model that always gives the same error.
type fails struct{ err error }

func (f fails) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{}, f.err
}

// dice are a seeded source of disturbance.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// summed is a panel whose conclusion is a summary, by the actor that makes summaries.
type summed struct{ panel.Protocol }

func (summed) Name() string { return "summed/1" }

func (s summed) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Conclusion {
		return []protocol.Phase{{Name: "sum", Steps: []protocol.Step{step(protocol.Summarizing, "", nil)}}}
	}
	return s.Protocol.Phases(r)
}

// seen counts events, and keeps none.
func seen(events iter.Seq2[debate.Event, error]) (n int, err error) {
	for _, err := range events {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
