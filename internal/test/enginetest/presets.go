package enginetest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store/storetest"
)

// Presets interrupts a debate of each preset after a sample of its durable events, has another process finish it, and compares
// it with an undisturbed debate: the order, text and data of each turn, the findings, the answer and the ending. No step may be
// called twice or after its turn is committed. empty is the same as for Run. A debate with a process for each event covers all
// events.
func Presets(t *testing.T, empty func(t testing.TB) storetest.Backend) {
	for name, cfg := range PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			place := empty(t)
			want := newEnv(t, place).runPresetInMemory(cfg)
			moments := newEnv(t, place).moments()
			for i, kind := range want.events {
				if moments.Tries(kind) {
					t.Run(fmt.Sprint("event ", i+1), func(t *testing.T) { newEnv(t, place).presetInterrupted(i+1, cfg, want.text) })
				}
			}
			t.Run("a process for each event", func(t *testing.T) { newEnv(t, place).presetProcessPerEvent(cfg, want.text) })
			t.Run("a pause after each turn", func(t *testing.T) { newEnv(t, place).presetPaused(cfg) })
		})
	}
}

// PresetConfigs returns debates with every kind of step that each preset can have, by name.
func PresetConfigs() map[string]debate.Config {
	refining := refine.Protocol{
		SummaryPolicy: refine.SummaryPolicy{Threshold: 60}, AgentSummaryPolicies: map[string]refine.SummaryPolicy{"B": {Disabled: true}}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 100},
	}
	all := panel.Protocol{Mode: panel.Simultaneous, Personas: panel.Binary, Jury: judge.Jury{Swap: true}}
	scores := map[string]float64{"problem": 7, "solution": 5, "market": 6}
	return map[string]debate.Config{
		"panel":       presetConfig(all, 2, "A", "B", "C"),
		"skeptic":     withOneJudge(presetConfig(skeptic.Protocol{}, 3, "A", "B")),
		"refine":      withOneJudge(presetConfig(refining, 2, "A", "B", "C")),
		"arbitration": withOneJudge(presetConfig(arbitration.Protocol{Scores: scores}, 3, "A", "B")),
		"procon":      presetConfig(procon.Protocol{}, 3, "A", "B"),
		"council":     withOneJudge(presetConfig(council.Protocol{Families: [][]string{{"C", "D"}}}, 1, "A", "B", "C", "D")),
		"mad":         withOneJudge(presetConfig(mad.Protocol{}, 3, "A", "B")),
		"oversight":   presetConfig(overseen(oversight.Interactive), 3, "A", "B"),
		"vote":        presetConfig(vote.Protocol{Decision: vote.Judge, Topology: vote.Ring}, 2, "A", "B", "C", "D"),

		"review":              withDocument(presetConfig(review.Protocol{}, 1, "A", "B", "C")),
		"skeptic with a plan": withOneJudge(presetConfig(skeptic.Protocol{Plan: true}, 2, "A", "B")),

		"oversight with a choice":            presetConfig(overseen(oversight.OpenDebate), 2, "A", "B"),
		"vote with conditions":               presetConfig(vote.Protocol{Topology: vote.Groups, Grouped: true, Filter: new(0.5), Conditional: true}, 3, "A", "B", "C", "D"),
		"vote of samples":                    withoutJudges(presetConfig(vote.Protocol{Samples: 3}, 1, "A", "B")),
		"panel with a decision":              presetConfig(panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}, Jury: judge.Jury{Swap: true}}, 2, "A", "B"),
		"procon with a decision":             presetConfig(procon.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}}, 2, "A", "B"),
		"panel in Oxford style":              withSides(presetConfig(panel.Protocol{Format: panel.Oxford, Personas: panel.Binary}, 3, "A", "B", "C")),
		"panel with a devil's advocate":      presetConfig(panel.Protocol{Format: panel.ConvergenceSeeking, DevilsAdvocate: true, RotateJudges: true}, 4, "A", "B"),
		"panel with a selection":             withSenior(presetConfig(panel.Protocol{Selection: selection(4), Jury: judge.Jury{Swap: true}}, 2, "A", "B")),
		"procon with a selection":            withSenior(presetConfig(procon.Protocol{Selection: selection(2)}, 2, "A", "B")),
		"panel with summaries in its window": withSummaries(presetConfig(panel.Protocol{}, 3, "A", "B")),
		"panel with vectors":                 withEmbedder(presetConfig(panel.Protocol{}, 2, "A", "B")),
	}
}

// selection returns one of the jury J and K, with S as the senior judge.
func selection(decisions int) agreement.Selection {
	return agreement.Selection{Senior: "S", Calibration: agreement.Calibration{
		Judges: []string{"J", "K"}, Target: .8, Decisions: decisions, Margin: decisions, Items: 60, Decided: 40, Wrong: 1, Bound: .114,
	}}
}

// withSenior adds the senior judge.
func withSenior(c debate.Config) debate.Config {
	c.Judges = append(c.Judges, debate.Participant{Name: "S"})
	return c
}

// overseen returns a protocol with speeches of any length, which one call gives.
func overseen(m oversight.Mode) oversight.Protocol {
	return oversight.Protocol{Mode: m, A: "Ban them", B: "Let them drive", MinWords: 1, MaxWords: 1e6}
}

// withOneJudge removes all judges but the first, for protocols that take only one.
func withOneJudge(c debate.Config) debate.Config {
	c.Judges = c.Judges[:1]
	return c
}

// withSides puts the participants on the sides for and against in turn.
func withSides(c debate.Config) debate.Config {
	for i := range c.Participants {
		c.Participants[i].Side = []string{"for", "against"}[i%2]
	}
	return c
}

// withoutJudges removes all judges.
func withoutJudges(c debate.Config) debate.Config {
	c.Judges = nil
	return c
}

// withSummaries gives the participants a small window that soon needs summaries.
func withSummaries(c debate.Config) debate.Config {
	c.History = window.Policy{Manager: window.Summarize}
	c.Limits.StepTokens = 500
	c.Limits.JudgeTokens = 500
	for i := range c.Participants {
		c.Participants[i].Window = 4000
	}
	return c
}

// withEmbedder adds a rule that needs vectors of each round.
func withEmbedder(c debate.Config) debate.Config {
	c.Embedder.Provider = "m"
	c.Detect = []detect.Rule{{Signal: detect.Repetitive, Method: "vectors", Effect: detect.Advise}, {Signal: detect.Drifting}}
	return c
}

// presetConfig returns a debate of the named participants, judged by J and K.
func presetConfig(p protocol.Protocol, rounds int, names ...string) debate.Config {
	c := debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Limits: debate.Limits{MinRounds: 1, MaxRounds: rounds},
		Judges: []debate.Participant{{Name: "J"}, {Name: "K"}}, Retriever: debate.Participant{Provider: "m"},
	}
	for _, n := range names {
		c.Participants = append(c.Participants, debate.Participant{Name: n, Position: "What " + n + " holds"})
	}
	return c
}

// presetModel gives a process a model that plays all actors. Each reply depends on the whole prompt. Speeches are long
// if the window is small.
func presetModel(cfg debate.Config) func(*debate.Options) {
	return func(o *debate.Options) {
		m := o.Providers["m"].(*model)
		m.alter = func(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
			reply.Text = PresetReply(cfg, r)
			return reply
		}
	}
}

// PresetReply returns a valid reply to a request of a debate. It depends on the whole request.
func PresetReply(cfg debate.Config, r providers.Request) string {
	var names []string
	for _, p := range cfg.Participants {
		names = append(names, p.Name)
	}
	words := digest(r)
	pick, _ := strconv.ParseUint(words, 16, 64) // always valid
	if cfg.History.Manager != "" && r.SchemaName == "" {
		words = fmt.Sprintf("%01200s", words)
	}
	return Reply(r, names, words, pick)
}

// runPresetInMemory returns the result of an undisturbed debate in memory.
func (s *env) runPresetInMemory(cfg debate.Config) (r reference) {
	s.Helper()
	d := s.create(s.newProcessOver(nil, presetModel(cfg)), cfg)
	r.events = types(durable(s.runToEnd(d)))
	r.text = s.formatOutcome(d)
	return r
}

// formatOutcome returns the result of a debate as text, without anything that depends on time.
func (s *env) formatOutcome(d *debate.Debate) (text string) {
	s.Helper()
	r := s.result(d)
	for _, t := range r.Turns {
		require.Empty(s, t.Flags, "%s: %s", t.Key, t.Text)
		text += fmt.Sprintln(t.Key, t.Kind, t.Order, t.Text, string(t.Data), s.json(t.Window))
	}
	findings, err := json.MarshalIndent(r.Findings, "", "\t")
	require.NoError(s, err)
	return text + fmt.Sprintln(r.State, r.Ending, r.Answer.Text, string(findings))
}

func (s *env) presetInterrupted(n int, cfg debate.Config, want string) {
	first, second := s.newProcess(presetModel(cfg)), s.newProcess(presetModel(cfg))
	require.True(s, s.runUntilEvent(s.create(first, cfg), n))
	d := s.open(second, cfg.ID)
	stood := len(s.result(d).Turns)
	s.runToEnd(d)
	require.Equal(s, want, s.formatOutcome(d))
	require.Len(s, second.model.requests(), len(s.result(d).Turns)-stood, "each missing step is called once")
	require.NoError(s, first.Delete(s.ctx, cfg.ID))
}

// presetPaused pauses a debate after each turn. The additional entries change neither keys nor prompts.
func (s *env) presetPaused(cfg debate.Config) {
	cfg.ID += "-paused"
	want := s.runPresetInMemory(cfg).text // with the same ID, because judges' pseudonyms depend on it
	d := s.create(s.newProcess(presetModel(cfg)), cfg)
	for !s.status(d).State.Final() {
		for ev, err := range d.Run(s.ctx) {
			require.NoError(s, err)
			if _, turn := ev.(debate.TurnDone); turn && s.status(d).State.Active() {
				require.NoError(s, d.Pause(s.ctx))
			}
		}
		if s.status(d).State == fsm.Paused {
			require.NoError(s, d.Resume(s.ctx))
		}
	}
	require.Equal(s, want, s.formatOutcome(d))
	require.NoError(s, s.newProcess().Delete(s.ctx, cfg.ID))
}

func (s *env) presetProcessPerEvent(cfg debate.Config, want string) {
	d := s.create(s.newProcess(presetModel(cfg)), cfg)
	for !s.status(d).State.Final() {
		d = s.open(s.newProcess(presetModel(cfg)), cfg.ID)
		s.runUntilEvent(d, 1)
	}
	require.Equal(s, want, s.formatOutcome(s.open(s.newProcess(), cfg.ID)))
	s.requireJournalValid(cfg.ID)
}
