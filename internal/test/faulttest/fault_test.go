package faulttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// callSite is a place where a model is called. Each actor has its own provider, under its own name.
type callSite struct {
	name     string
	key      string // of the step
	reply    string // contract of its reply; empty for free text
	before   int    // number of such replies that the actor has given before
	about    string // part of the prompt, if the actor gives several such replies
	pair     bool   // A and B debate alone
	one      bool   // A speaks alone
	nobody   bool   // there are only judges
	said     string // what the model says before it fails
	speaker  bool
	safe     bool // the reply has a default
	history  bool // its prompt shows earlier turns, which can be omitted
	complete bool // a round is complete
	alone    bool // the speaker is the only member of its side

	converged bool // the first assessment says that the participants converged
	optional  bool // the debate does not wait for the reply
	debate    func(panel.Mode) debate.Config
}

// callSites lists all places where a debate calls a model. Add a line here if you add a place.
var callSites = []callSite{
	{name: "personas", key: "1/0/personas/personas/", reply: "personas/1", debate: panels},
	{name: "first of three speakers", key: "1/2/respond/A/", before: 1, speaker: true, history: true, complete: true, debate: panels},
	{name: "middle of three speakers", key: "1/2/respond/B/", before: 1, speaker: true, history: true, complete: true, debate: panels},
	{name: "last of three speakers", key: "1/2/respond/C/", before: 1, speaker: true, history: true, complete: true, debate: panels},
	{name: "speaker in mid-sentence", key: "1/2/respond/B/", before: 1, said: "First of all", speaker: true, history: true, complete: true, debate: panels},
	{name: "one of two speakers, round 1", key: "1/1/respond/A/", pair: true, speaker: true, debate: panels},
	{name: "one of two speakers, round 2", key: "1/2/respond/A/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: panels},
	{name: "judge", key: "1/2/assess/J/", reply: "assessment/1", before: 1, safe: true, history: true, complete: true, debate: panels},
	{name: "verdict", key: "1/2/verdict/J/", reply: "verdict/1", safe: true, history: true, complete: true, debate: panels},
	{name: "audience, before", key: "1/0/audience-before/J/", reply: "audience/1", about: "The debate has not begun", safe: true, debate: oxfords},
	{name: "audience, after", key: "1/2/audience-after/J/", reply: "audience/1", about: "The debate is over", before: 1, safe: true, history: true, complete: true, debate: oxfords},
	{name: "one of two on a side", key: "1/2/closing/A/", before: 1, speaker: true, history: true, complete: true, debate: oxfords},
	{name: "alone on a side", key: "1/2/closing/B/", before: 1, alone: true, speaker: true, history: true, complete: true, debate: oxfords},
	{name: "devil's advocate", key: "1/2/respond/A/devil's advocate", before: 1, converged: true, speaker: true, history: true, complete: true, debate: func(m panel.Mode) debate.Config {
		return debate.Config{Protocol: panel.Protocol{Mode: m, DevilsAdvocate: true}, Limits: debate.Limits{MaxRounds: 3}}
	}},
	{name: "conclusion without a default", key: "1/2/sum/summarizer/", history: true, complete: true, debate: func(m panel.Mode) debate.Config {
		c := panels(m)
		c.Protocol = debatetest.SummarizingPanel{Protocol: c.Protocol.(panel.Protocol)}
		return c
	}},
	{name: "summary in the window", key: "1/2/summary/summarizer/up to 1/2/respond/B/", safe: true, history: true, complete: true, debate: withSummaries},
	{name: "vectors", optional: true, key: "1/2/embed/embedder/", reply: "vectors/1", before: 1, safe: true, complete: true, debate: withEmbedder},

	{name: "retrieval", key: "1/0/retrieval/retriever/", reply: "documents/1", pair: true, debate: skeptics},
	{name: "retrieval, `continue`", optional: true, key: "1/0/retrieval/retriever/", reply: "documents/1", pair: true, safe: true, debate: func(m panel.Mode) debate.Config {
		c := skeptics(m)
		c.OnRetrievalFailure = debate.Continue
		return c
	}},
	{name: "proposer", key: "1/2/defend/A/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: skeptics},
	{name: "critique by the skeptic", key: "1/2/attack/B/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: skeptics},
	{name: "synthesis", key: "1/2/synthesis/J/", pair: true, history: true, complete: true, debate: skeptics},

	{name: "proposal", key: "1/2/propose/A/", before: 2, speaker: true, history: true, complete: true, debate: refiners},
	{name: "critique", key: "1/2/critique/C/A", reply: "peer-critique/1", before: 2, about: "the proposal that A has made", speaker: true, history: true, complete: true, debate: refiners},
	{name: "refinement", key: "1/2/refine/B/", before: 3, speaker: true, history: true, complete: true, debate: refiners},
	{name: "summary of an agent's work", key: "1/2/summarize/summarizer/A", reply: "refine-summary/1", about: "Summarize the work of A so far", safe: true, history: true, complete: true, debate: refiners},
	{name: "summary of the final round", key: "1/2/digest/J/", reply: "refine-summary/1", safe: true, history: true, complete: true, debate: refiners},
	{name: "solution", key: "1/2/synthesize/J/", reply: "solution/1", safe: true, complete: true, debate: refiners},

	{name: "argument", key: "1/2/argue/B/", reply: "argument/1", before: 1, pair: true, speaker: true, history: true, complete: true, debate: arbitrations},
	{name: "ruling", key: "1/2/rule/J/", reply: "ruling/1", before: 1, pair: true, safe: true, history: true, complete: true, debate: arbitrations},
	{name: "closing statement", key: "1/2/close/A/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: proCons},
	{name: "judgment", key: "1/2/judge/J/", reply: "judgment/1", pair: true, safe: true, history: true, complete: true, debate: proCons},
	{name: "answer of a member", key: "1/1/answer/A/", speaker: true, debate: councils},
	{name: "ranking", key: "1/1/rank/B/", reply: "ranking/1", speaker: true, history: true, debate: councils},
	{name: "answer of the chair", key: "1/1/conclude/J/", reply: "council-answer/1", safe: true, history: true, complete: true, debate: councils},
	{name: "statement for or against an answer", key: "1/2/argue/B/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: mads},
	{name: "moderation", key: "1/2/moderate/J/", reply: "moderation/1", before: 1, pair: true, safe: true, history: true, complete: true, debate: mads},
	{name: "candidates", key: "1/2/candidates/J/", reply: "candidates/1", pair: true, safe: true, history: true, complete: true, debate: mads},
	{name: "decision after a debate", key: "1/2/decide/J/", reply: "mad-decision/1", pair: true, safe: true, history: true, complete: true, debate: mads},
	{name: "speech about a hidden text", key: "1/2/speak/B/", before: 1, pair: true, speaker: true, history: true, complete: true, debate: overseen},
	{name: "question about a hidden text", key: "1/1/ask/J/", pair: true, history: true, complete: true, debate: overseen},
	{name: "credence in two answers", key: "1/2/judge/J/", reply: "credence/1", pair: true, safe: true, history: true, complete: true, debate: overseen},
	{name: "speech of a consultant", key: "1/2/speak/A/", before: 1, one: true, alone: true, speaker: true, history: true, complete: true, debate: consultants},
	{name: "credence of a judge alone", key: "1/1/judge/J/", reply: "credence/1", nobody: true, safe: true, debate: judgesAlone},
	{name: "choice of an answer", key: "1/1/choose/A/", reply: "answer-choice/1", pair: true, speaker: true, debate: choosers},
	{name: "ballot", key: "1/2/revise/A/", reply: "vote/1", before: 1, speaker: true, history: true, complete: true, debate: votes},
	{name: "ballot, with conditions", key: "1/2/revise/A/", reply: "vote/1", before: 1, speaker: true, history: true, complete: true, debate: func(panel.Mode) debate.Config {
		return debate.Config{Protocol: vote.Protocol{Decision: vote.Judge, Grouped: true, Filter: new(0.0), Conditional: true}}
	}},
	{name: "one of an agent's samples", key: "1/1/answer/A/2", reply: "vote/1", about: "This is sample 2.", speaker: true, debate: samples},
	{name: "decision of a vote", key: "1/2/decide/J/", reply: "decision/1", safe: true, history: true, complete: true, debate: votes},
}

func panels(m panel.Mode) debate.Config {
	return debate.Config{Protocol: panel.Protocol{Mode: m, Personas: panel.Binary}, Limits: debate.Limits{MaxRounds: 3}}
}

// oxfords returns an Oxford-style debate in which A and C are for the motion, and B is against it.
func oxfords(m panel.Mode) debate.Config {
	return debate.Config{Protocol: panel.Protocol{Format: panel.Oxford, Mode: m}, Limits: debate.Limits{MaxRounds: 2}}
}

func withSummaries(m panel.Mode) debate.Config {
	c := panels(m)
	c.History = window.Policy{Manager: window.Summarize}
	c.Limits.StepTokens = 100
	c.Limits.JudgeTokens = 100
	c.Judges = []debate.Participant{{Window: 3100}}
	c.Summarizer.Window = 9000
	return c
}

func withEmbedder(m panel.Mode) debate.Config {
	c := panels(m)
	c.Detect, c.Embedder.Provider = []detect.Rule{{Signal: detect.Repetitive, Method: "vectors"}}, protocol.Embedder
	return c
}

func skeptics(panel.Mode) debate.Config {
	return debate.Config{Protocol: skeptic.Protocol{}, Limits: debate.Limits{MaxRounds: 2}, Retriever: debate.Participant{Provider: protocol.Retriever}}
}

func refiners(panel.Mode) debate.Config {
	return debate.Config{Protocol: refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 1000}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 1000}}, Limits: debate.Limits{MaxRounds: 2}}
}

func arbitrations(panel.Mode) debate.Config {
	scores := map[string]float64{"problem": 7, "solution": 5, "market": 6}
	return debate.Config{Protocol: arbitration.Protocol{Scores: scores}, Limits: debate.Limits{MaxRounds: 2}}
}

func proCons(panel.Mode) debate.Config {
	return debate.Config{Protocol: procon.Protocol{}, Limits: debate.Limits{MaxRounds: 2}}
}

func councils(panel.Mode) debate.Config {
	return debate.Config{Protocol: council.Protocol{}}
}

func mads(panel.Mode) debate.Config {
	return debate.Config{Protocol: mad.Protocol{}, Limits: debate.Limits{MaxRounds: 2}}
}

// overseen returns a debate in which a judge asks.
func overseen(panel.Mode) debate.Config {
	return debate.Config{Protocol: oversight.Protocol{Mode: oversight.Interactive, A: "Yes.", B: "No.", MinWords: 1, Once: true}, Limits: debate.Limits{MaxRounds: 2}}
}

// choosers returns a debate in which A chooses its answer.
func choosers(panel.Mode) debate.Config {
	return debate.Config{Protocol: oversight.Protocol{Mode: oversight.OpenDebate, A: "Yes.", B: "No.", MinWords: 1, Once: true}, Limits: debate.Limits{MaxRounds: 2}}
}

// consultants returns a debate in which A speaks alone.
func consultants(panel.Mode) debate.Config {
	return debate.Config{Protocol: oversight.Protocol{Mode: oversight.Consultancy, A: "Yes.", B: "No.", MinWords: 1, Once: true}, Limits: debate.Limits{MaxRounds: 2}}
}

// judgesAlone returns a debate in which nobody speaks.
func judgesAlone(panel.Mode) debate.Config {
	return debate.Config{Protocol: oversight.Protocol{Mode: oversight.Direct, A: "Yes.", B: "No.", Once: true}}
}

func votes(panel.Mode) debate.Config {
	return debate.Config{Protocol: vote.Protocol{Decision: vote.Judge}}
}

func samples(panel.Mode) debate.Config {
	return debate.Config{Protocol: numberedSamples{vote.Protocol{Samples: 3}}}
}

// numberedSamples is a vote of samples whose prompts have the number of the sample, so that the test can tell the calls of
// an agent apart.
type numberedSamples struct{ vote.Protocol }

// Phases returns the phases of the vote with parameters for samplePrompts.
func (p numberedSamples) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	for i := range phases {
		for j := range phases[i].Steps {
			s := &phases[i].Steps[j]
			s.Vars = maps.Clone(s.Vars)
			s.Vars["sample"] = s.Target
		}
	}
	return phases
}

var samplePrompts = fstest.MapFS{"_sample.tmpl": {Data: []byte(`{{define "round-heading"}}This is sample {{index .Vars "sample"}}.{{end}}`)}}

// modes returns the modes in which to test a place. Only panels have two.
func (s callSite) modes() []panel.Mode {
	if reflect.DeepEqual(s.debate(panel.Sequential).Protocol, s.debate(panel.Simultaneous).Protocol) {
		return []panel.Mode{panel.Sequential}
	}
	return []panel.Mode{panel.Sequential, panel.Simultaneous}
}

func (s callSite) actor() string { return strings.Split(s.key, "/")[3] }

// hangs names a model that never answers. All other faults have the name of their error's kind.
const hangs = providers.ErrorKind("hangs")

// faults lists the ways in which a model can fail, and how often the engine retries by default.
var faults = []struct {
	kind  providers.ErrorKind
	tries int
}{
	{providers.Network, 3},
	{providers.RateLimit, 5},
	{providers.ServerError, 2},
	{providers.Timeout, 2},
	{providers.InvalidResponse, 1},
	{providers.ContextOverflow, 0},
	{providers.Authentication, 0},
	{providers.InvalidRequest, 0},
	{providers.ContentFiltered, 1},
	{providers.Billing, 0},
	{providers.OutOfMemory, 0},
	{hangs, 0}, // the step times out
}

// fault is a cell of the matrix.
type fault struct {
	site  callSite
	kind  providers.ErrorKind
	tries int
	once  bool
	mode  panel.Mode
	want  faultlessRun
}

// faultlessRun describes a debate without a fault.
type faultlessRun struct {
	keys     []string
	ending   transcript.Ending
	last     int // number of keys of the conclusion
	warned   int
	parallel map[string]bool // parallel phases, by run, round and phase
}

func (f fault) name() string {
	often := "always"
	if f.once {
		often = "once"
	}
	return fmt.Sprintf("%s/%s/%s/%s", f.site.name, f.kind, often, f.mode)
}

// The results of a cell.
const (
	retried   = "retried"
	shortened = "shortened"
	dropped   = "dropped"
	cut       = "partial"
	lost      = "quorum lost"
	late      = "time limit"
	fallback  = "default"
	stopped   = "error"
	unreached = "unreachable" // at once
)

// expected returns the outcome of a cell under the rules, and the least and the largest number of failed attempts.
func (f fault) expected() (what string, least, most int) {
	overflow := f.kind == providers.ContextOverflow && f.site.history
	switch {
	case f.once && overflow:
		return shortened, 1, 1
	case f.once && f.tries > 0:
		return retried, 1, 1
	}
	least, most = f.tries+1, f.tries+1
	if overflow {
		least, most = 2, 10
	}
	switch {
	case f.kind == providers.Authentication || f.kind == providers.InvalidRequest || f.kind == providers.Billing || f.kind == providers.OutOfMemory:
		return stopped, 1, 1
	case f.kind == providers.Network && f.isFirst():
		return unreached, 3, 4
	case f.kind == providers.Network && f.site.said == "" && f.site.speaker && !f.site.pair &&
		!f.site.alone: // the others have other providers
		return dropped, least, 12
	case f.kind == providers.Network && f.site.actor() == protocol.Summarizer && f.site.safe: // the debate goes on without the summary
		return fallback, least, 12
	case f.kind == providers.Network && f.site.said == "" && !f.site.optional: // the debate waits for the provider, then stops
		return stopped, 5, 70
	case f.site.one && f.kind == providers.RateLimit: // it affects all participants, so the debate waits
		return late, least, 300
	case f.site.safe:
		return fallback, least, most
	case f.site.said != "":
		return cut, least, most
	case f.site.speaker && !f.site.pair && !f.site.alone:
		return dropped, least, most
	case f.site.speaker && f.site.complete:
		return lost, least, most
	}
	return stopped, least, most
}

// isFirst reports whether the debate has no turn when the call fails, and waits for the reply.
func (f fault) isFirst() bool {
	together := f.want.parallel[phaseOf(f.site.key)] && len(f.want.keys) > 1 && phaseOf(f.want.keys[1]) == phaseOf(f.site.key) // others speak meanwhile
	return !f.site.optional && f.want.keys[0] == f.site.key && !together
}

// turns returns the keys of the final turns under the rules.
func (f fault) turns(what string) (keys []string) {
	want, at := f.want.keys, slices.Index(f.want.keys, f.site.key)
	switch {
	case what == dropped: // only parallel steps still refer to the dropped speaker
		for i, key := range want {
			part := strings.Split(key, "/")
			if i < at || i > at && (phaseOf(key) == phaseOf(f.site.key) || part[3] != f.site.actor() && part[4] != f.site.actor()) {
				keys = append(keys, key)
			}
		}
		return keys
	case what == fallback && f.site.reply == "assessment/1": // a default assessment never ends a debate
		for _, key := range want {
			if strings.HasPrefix(key, "1/2/") {
				keys = append(keys, strings.Replace(key, "1/2/", "1/3/", 1))
			}
		}
		return append(slices.Clone(want[:len(want)-f.want.last]), keys...)
	case what == stopped || what == unreached || what == lost || what == late:
		keys = append(keys, want[:at]...)
		for _, key := range want[at+1:] { // parallel steps of the failed one have finished
			if f.want.parallel[phaseOf(key)] && phaseOf(key) == phaseOf(f.site.key) {
				keys = append(keys, key)
			}
		}
		if what == lost || what == late {
			keys = append(keys, want[len(want)-f.want.last:]...)
		}
		return keys
	}
	return want
}

// phaseOf returns a key without its actor and target.
func phaseOf(key string) string { return strings.Join(strings.Split(key, "/")[:3], "/") }

// runWithoutFault runs the debate without a fault.
func (f fault) runWithoutFault(t *testing.T) (r faultlessRun) {
	t.Helper()
	d, w := f.debate(t)
	w.repaired = true
	events := debatetest.Finish(t, d)
	r.parallel = map[string]bool{}
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.PhaseStarted:
			r.parallel[fmt.Sprintf("1/%d/%s", ev.Round, ev.Phase)] = ev.Parallel
		case debate.Warning:
			r.warned++
		}
	}
	res := debatetest.Result(t, d)
	for _, turn := range res.Turns {
		require.Empty(t, turn.Flags)
		if turn.Kind == transcript.Conclusion {
			r.last++
		}
	}
	r.keys, r.ending = debatetest.TurnKeys(res), res.Ending
	require.Contains(t, r.keys, f.site.key)
	return r
}

// scriptedModels plays all models of a debate, one of which fails.
type scriptedModels struct {
	fault fault
	store store.Store

	mu       sync.Mutex
	repaired bool
	failed   int            // failed calls
	calls    map[string]int // calls by actor
	replies  map[string]int // replies by actor and contract
	usage    debatetest.UsageMeter
}

// reopen opens the debate in another engine, which has no models.
func (w *scriptedModels) reopen(t *testing.T) *debate.Debate {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: w.store})
	return debatetest.Open(t, e, "d")
}

func (w *scriptedModels) provider(name string) providers.Provider {
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		w.mu.Lock()
		w.calls[name]++
		n, of := w.replies[name+r.SchemaName], w.fault
		hit := !w.repaired && name == of.site.actor() && r.SchemaName == of.site.reply && n >= of.site.before && (!of.once || w.failed == 0) && of.site.matches(r)
		if hit {
			w.failed++
		} else {
			w.replies[name+r.SchemaName]++
		}
		w.mu.Unlock()
		if hit {
			return of.fail(ctx, r)
		}
		text := fmt.Sprintf("%s speaks the %d. time, %s", name, n+1, strings.Repeat("and has reasons for it, ", 20))
		text = enginetest.Reply(r, of.site.names(), text, uint64(max(strings.Index("ABC", name), 0))) // the replies differ by actor
		if debatetest.AsksFor(r, "assessment") && n == 1 {                                            // the second assessment ends the debate
			text = strings.Replace(text, `"should_continue":true`, `"should_continue":false`, 1)
		}
		if debatetest.AsksFor(r, "assessment") && n == 0 && of.site.converged {
			text = strings.Replace(text, `"should_continue":`, `"converged":true,"should_continue":`, 1)
		}
		if err := r.OnChunk(text); err != nil {
			return providers.Response{}, err
		}
		return providers.Response{Text: text, FinishReason: providers.Stop, Usage: transcript.Usage{Input: 10, Output: 5}}, nil
	})
}

// names returns the names of the participants.
func (s callSite) names() []string {
	switch {
	case s.nobody:
		return nil
	case s.one:
		return []string{"A"}
	case s.pair:
		return []string{"A", "B"}
	}
	return []string{"A", "B", "C"}
}

// matches reports whether a request is for the reply of this call site.
func (s callSite) matches(r providers.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m providers.Message) bool { return strings.Contains(m.Text, s.about) })
}

// fail returns the faulty response.
func (f fault) fail(ctx context.Context, r providers.Request) (providers.Response, error) {
	partial := providers.Response{Text: f.site.said, Usage: transcript.Usage{Input: 10, Output: 1}}
	if f.site.said != "" {
		if err := r.OnChunk(f.site.said); err != nil {
			return providers.Response{}, err
		}
	}
	if f.kind == hangs {
		<-ctx.Done()
		return providers.Response{}, providers.ContextError(ctx, partial)
	}
	return providers.Response{}, &providers.Error{Kind: f.kind, Partial: partial, Err: errors.New("made to fail")}
}

// debate creates the debate in which the fault occurs.
func (f fault) debate(t *testing.T) (*debate.Debate, *scriptedModels) {
	t.Helper()
	cfg := f.site.debate(f.mode)
	cfg.ID = "d"
	cfg.Topic = "Ban cars?"
	cfg.Judges = append(cfg.Judges, debate.Participant{})[:1]
	cfg.Judges[0].Name, cfg.Judges[0].Provider = "J", "J"
	cfg.PersonaAssigner.Provider, cfg.Summarizer.Provider = protocol.PersonaAssigner, protocol.Summarizer
	for _, name := range f.site.names() {
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: name, Provider: name, Position: "What " + name + " holds"})
	}
	options := debate.Options{Store: store.Memory()}
	if _, ok := cfg.Protocol.(numberedSamples); ok {
		cfg.Judges, options.Prompts = nil, samplePrompts // samples take no judge
	}
	if p, ok := cfg.Protocol.(panel.Protocol); ok && p.Format == panel.Oxford {
		for i := range cfg.Participants {
			cfg.Participants[i].Side = []string{"for", "against"}[i%2]
		}
	}
	w := &scriptedModels{fault: f, store: options.Store, calls: map[string]int{}, replies: map[string]int{}}
	options.Providers = map[string]providers.Provider{}
	for _, name := range []string{"A", "B", "C", "J", protocol.PersonaAssigner, protocol.Summarizer, protocol.Retriever, protocol.Embedder} {
		options.Providers[name] = w.usage.Wrap(w.provider(name))
	}
	d := debatetest.New(t, cfg, options)
	return d, w
}

// The test tries every fault at every place where a model is called. The debate must end as the policies say, in time, and
// lose nothing. Each cell runs in a synctest bubble, so a leaked or blocked goroutine fails it.
func TestFaultsAtEveryCallOfAModel(t *testing.T) {
	results, cells := map[string]string{}, 0
	for _, site := range callSites {
		for _, mode := range site.modes() {
			var want faultlessRun
			synctest.Test(t, func(t *testing.T) { want = fault{site: site, mode: mode}.runWithoutFault(t) })
			for _, kind := range faults {
				for _, once := range []bool{true, false} {
					f := fault{site, kind.kind, kind.tries, once, mode, want}
					cells++
					t.Run(f.name(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { results[f.name()] = f.check(t) })
					})
				}
			}
		}
	}
	if len(results) == cells && !t.Failed() { // all cells were run
		golden.Section(t, "../../../docs/measured/faults.md", "faults", faultTables(results))
	}
}

// check runs a cell and returns its result.
func (f fault) check(t *testing.T) string {
	d, w := f.debate(t)
	began := time.Now()
	events, err := debatetest.Run(t, d)
	require.Less(t, time.Since(began), time.Hour)
	what, least, most := f.expected()
	res := debatetest.Result(t, d)

	require.Equal(t, f.turns(what), debatetest.TurnKeys(res))
	checkKept(t, events, res)
	w.usage.Check(t, d, w.reopen(t))
	require.GreaterOrEqual(t, w.failed, least)
	if what != fallback || f.site.reply != "assessment/1" || f.once { // otherwise the judge is asked again
		require.LessOrEqual(t, w.failed, most)
	}
	f.checkEvents(t, events, what, w)
	is := f.outcome(res, err)
	require.Equal(t, what, is)
	if what == stopped || what == unreached {
		f.checkRetry(t, d, w, err)
	}
	for actor, n := range w.calls { // only failed calls were repeated
		spoken := 0
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Actor == actor && !slices.Contains(turn.Flags, transcript.Defaulted) && !slices.Contains(turn.Flags, transcript.Partial) {
				spoken++
			}
		}
		if actor == f.site.actor() {
			n -= w.failed
		}
		require.Equal(t, spoken, n, actor)
	}
	return is
}

// outcome returns the result of a cell, or the state and the outcome of the debate if it is none.
func (f fault) outcome(res *debate.Result, err error) string {
	var marked *transcript.Turn
	for i := range res.Turns {
		if res.Turns[i].Key.String() == f.site.key {
			marked = &res.Turns[i]
		}
	}
	flagged := func(flag transcript.Flag) bool { return marked != nil && slices.Contains(marked.Flags, flag) }
	is := string(res.State) + " " + string(res.Ending.Outcome)
	switch {
	case res.State == fsm.Error && err != nil && res.Failure.Unreachable && res.Failure.At.Sub(res.Failure.Started) <= 15*time.Second:
		return unreached
	case res.State == fsm.Error && err != nil:
		return stopped
	case res.State != fsm.Completed || err != nil:
	case flagged(transcript.Defaulted) && (res.Ending.Round == 3) == (f.site.reply == "assessment/1"):
		return fallback
	case res.Ending.Outcome == transcript.QuorumLost && (res.Verdict != nil) == (f.want.last > 0):
		return lost
	case res.Ending.Outcome == transcript.TimeBudget:
		return late
	case res.Ending.Outcome != f.want.ending.Outcome || res.Ending.Round != f.want.ending.Round:
	case marked == nil && slices.ContainsFunc(res.Participants, func(s debate.ParticipantStatus) bool { return s.Name == f.site.actor() && s.State == "dropped" }):
		return dropped
	case flagged(transcript.Partial) && marked.Text == f.site.said:
		return cut
	case marked != nil && len(marked.Flags) == 0 && marked.Window != nil && marked.Window.Omitted > 0:
		return shortened
	case marked != nil && len(marked.Flags) == 0:
		return retried
	}
	return is
}

// checkKept checks that the result contains every committed text.
func checkKept(t *testing.T, events []debate.Event, res *debate.Result) {
	t.Helper()
	said := map[transcript.Key]string{}
	for _, ev := range events {
		if done, ok := ev.(debate.TurnDone); ok {
			said[done.Turn.Key] = done.Turn.Text
		}
	}
	require.Len(t, res.Turns, len(said))
	for _, turn := range res.Turns {
		if turn.Kind != transcript.Summary { // a failed summary is empty
			require.NotEmpty(t, turn.Text)
		}
		require.Equal(t, said[turn.Key], turn.Text)
	}
}

// checkEvents checks the events of the step that failed.
func (f fault) checkEvents(t *testing.T, events []debate.Event, what string, w *scriptedModels) {
	t.Helper()
	started := 0
	failed := 0
	gone := false
	left := 0
	warned := 0
	for _, ev := range events {
		switch ev := ev.(type) {
		case debate.TurnStarted:
			if ev.Key.String() == f.site.key {
				started++
				require.Equal(t, started, ev.Number)
			}
		case debate.TurnFailed:
			if ev.Key.Actor == f.site.actor() {
				failed++
				gone = ev.RetryIn < 0
			} else {
				require.Fail(t, "another actor failed", "%v", ev.Key)
			}
			require.Equal(t, f.kind == providers.ContextOverflow && !gone, ev.RetryIn == 0, "only a shorter prompt is retried without a wait")
		case debate.Dropped:
			left++
			require.Equal(t, f.site.actor(), ev.Name)
			require.Equal(t, w.failed, ev.Failure.Attempts)
		case debate.Warning:
			warned++
		}
	}
	require.Equal(t, w.failed, failed, "each failed call has an event")
	require.Equal(t, what != retried && what != shortened, gone, "the last failure says that no attempt follows")
	require.Equal(t, what == dropped, left == 1)
	if what == shortened && f.want.warned > 0 { // the warning replaces the one about the window
		require.Equal(t, f.want.warned, warned)
		return
	}
	require.Equal(t, what == fallback || what == cut || what == shortened, warned > f.want.warned)
}

// checkRetry checks the error of the debate, and that the debate continues once the fault is gone.
func (f fault) checkRetry(t *testing.T, d *debate.Debate, w *scriptedModels, err error) {
	t.Helper()
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.True(t, failure.Recoverable)
	require.Equal(t, f.site.key, failure.Key.String())
	require.Equal(t, f.site.actor(), failure.Provider)
	require.Equal(t, w.failed, failure.Attempts)
	require.Len(t, failure.AttemptDetails, w.failed)
	if f.kind != hangs {
		require.Equal(t, f.kind, failure.Kind)
	}
	before := debatetest.Result(t, d)
	w.repaired = true
	require.NoError(t, d.Retry(t.Context()))
	after := debatetest.RunResult(t, d)
	require.Equal(t, fsm.Completed, after.State)
	require.Equal(t, f.turns(retried), debatetest.TurnKeys(after))
	for _, turn := range before.Turns {
		require.Contains(t, after.Turns, turn)
	}
	w.usage.Check(t, d, w.reopen(t))
}

func faultTables(results map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cells: %d places, %d faults, once and always, panels sequential and simultaneous.\n", len(results), len(callSites), len(faults))
	for _, often := range []string{"always", "once"} {
		fmt.Fprintf(&b, "\n| %s |", often)
		for _, kind := range faults {
			fmt.Fprintf(&b, " %s |", kind.kind)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(faults)) + "\n")
		for _, site := range callSites {
			fmt.Fprintf(&b, "| %s |", site.name)
			for _, kind := range faults {
				what := []string{}
				for _, mode := range site.modes() {
					what = append(what, results[fault{site: site, kind: kind.kind, once: often == "once", mode: mode}.name()])
				}
				fmt.Fprintf(&b, " %s |", strings.Join(slices.Compact(what), ", "))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
