package enginetest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store/storetest"
)

// Presets breaks a debate of each preset off after each durable event, has another process finish it, and compares it with
// one that nothing disturbed: each turn with its order, text and data, the findings, the answer and the ending. No step is
// called twice, and none that stood. The places are those of Run. Where Run takes fewer moments, Presets does so too, but
// a debate with a process for each event still goes through all of them.
func Presets(t *testing.T, empty func(t testing.TB) storetest.Place) {
	for name, cfg := range presets() {
		t.Run(name, func(t *testing.T) {
			place := empty(t)
			want := set(t, place).rehearsed(cfg)
			step := 1
			if !set(t, place).thorough() {
				step = 8
			}
			for n := step; n <= want.events; n += step {
				t.Run(fmt.Sprint("event ", n), func(t *testing.T) { set(t, place).presetBrokenOff(n, cfg, want.text) })
			}
			t.Run("a process for each event", func(t *testing.T) { set(t, place).presetHandedOn(cfg, want.text) })
			t.Run("a pause after each turn", func(t *testing.T) { set(t, place).presetPaused(cfg) })
		})
	}
}

// presets are debates that have all steps that a preset can have.
func presets() map[string]debate.Config {
	refining := refine.Protocol{
		Summary: refine.Limit{Above: 60}, Summaries: map[string]refine.Limit{"B": {Off: true}}, Final: refine.Limit{Above: 100},
	}
	all := panel.Protocol{Mode: panel.Simultaneous, Personas: panel.Binary, Bench: judge.Bench{Swap: true}}
	scores := map[string]float64{"problem": 7, "solution": 5, "market": 6}
	return map[string]debate.Config{
		"panel":            among(all, 2, "A", "B", "C"),
		"proposer-skeptic": among(skeptic.Protocol{}, 3, "A", "B"),
		"critique-refine":  among(refining, 2, "A", "B", "C"),
		"arbitration":      among(arbitration.Protocol{Scores: scores}, 3, "A", "B"),
		"pro-con":          among(procon.Protocol{}, 3, "A", "B"),
		"vote":             among(vote.Protocol{Decision: vote.Judge, Topology: vote.Ring}, 2, "A", "B", "C", "D"),

		"panel with summaries in its window": summed(among(panel.Protocol{}, 3, "A", "B")),
		"panel with vectors":                 measured(among(panel.Protocol{}, 2, "A", "B")),
	}
}

// summed gives the participants a window that soon needs summaries.
func summed(c debate.Config) debate.Config {
	c.History, c.Limits.StepTokens, c.Limits.JudgeTokens = window.Policy{Manager: window.Summarize}, 500, 500
	for i := range c.Participants {
		c.Participants[i].Window = 4000
	}
	return c
}

// measured has vectors made of each round.
func measured(c debate.Config) debate.Config {
	c.Embedder.Provider = "m"
	c.Watch = []detect.Rule{{Sign: detect.Repetitive, By: "vectors", Use: detect.Advise}, {Sign: detect.Drifting}}
	return c
}

// among is a debate of participants, judged by J and K.
func among(p protocol.Protocol, rounds int, names ...string) debate.Config {
	c := debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Limits: debate.Limits{MinRounds: 1, MaxRounds: rounds},
		Judges: []debate.Participant{{Name: "J"}, {Name: "K"}}, Retriever: debate.Participant{Provider: "m"},
	}
	for _, n := range names {
		c.Participants = append(c.Participants, debate.Participant{Name: n, Position: "What " + n + " holds"})
	}
	return c
}

// actors makes a process play everyone in a debate: what each says is decided by all that its prompt shows. Speeches are
// long where the window is small.
func actors(cfg debate.Config) func(*debate.Options) {
	return func(o *debate.Options) {
		m := o.Providers["m"].(*model)
		m.alter = func(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
			var names []string
			for _, p := range cfg.Participants {
				names = append(names, p.Name)
			}
			words := digest(r)
			pick, _ := strconv.ParseUint(words, 16, 64) // it always is one
			if cfg.History.Manager != "" && r.Reply == "" {
				words = fmt.Sprintf("%01200s", words)
			}
			reply.Text = Reply(r, names, words, pick)
			return reply
		}
	}
}

// rehearsed is what becomes of a preset that one process runs in memory.
func (s *scene) rehearsed(cfg debate.Config) (r rehearsal) {
	s.Helper()
	d := s.create(s.over(nil, actors(cfg)), cfg)
	r.events = len(durable(s.finish(d)))
	r.text = s.everything(d)
	return r
}

// everything is what a debate came to, but for what depends on time.
func (s *scene) everything(d *debate.Debate) (text string) {
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

func (s *scene) presetBrokenOff(n int, cfg debate.Config, want string) {
	first, second := s.process(actors(cfg)), s.process(actors(cfg))
	require.True(s, s.breakOff(s.create(first, cfg), n))
	d := s.open(second, cfg.ID)
	stood := len(s.result(d).Turns)
	s.finish(d)
	require.Equal(s, want, s.everything(d))
	require.Len(s, second.model.heard(), len(s.result(d).Turns)-stood, "what is missing is called, once")
	require.NoError(s, first.Delete(s.ctx, cfg.ID))
}

// presetPaused pauses a debate after each turn: neither the keys nor what prompts show depend on the entries between.
func (s *scene) presetPaused(cfg debate.Config) {
	cfg.ID += "-paused"
	want := s.rehearsed(cfg).text // of the same id, since judges' labels depend on it
	d := s.create(s.process(actors(cfg)), cfg)
	for !s.head(d).State.Final() {
		for ev, err := range d.Run(s.ctx) {
			require.NoError(s, err)
			if _, turn := ev.(debate.TurnDone); turn && s.head(d).State.Active() {
				require.NoError(s, d.Pause(s.ctx))
			}
		}
		if s.head(d).State == fsm.Paused {
			require.NoError(s, d.Resume(s.ctx))
		}
	}
	require.Equal(s, want, s.everything(d))
	require.NoError(s, s.process().Delete(s.ctx, cfg.ID))
}

func (s *scene) presetHandedOn(cfg debate.Config, want string) {
	d := s.create(s.process(actors(cfg)), cfg)
	for !s.head(d).State.Final() {
		d = s.open(s.process(actors(cfg)), cfg.ID)
		s.breakOff(d, 1)
	}
	require.Equal(s, want, s.everything(s.open(s.process(), cfg.ID)))
	s.sound(cfg.ID)
}
