package forktest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/derivedtest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// judged returns configurations of all presets that judges decide.
func judged() map[string]debate.Config {
	all := enginetest.PresetConfigs()
	scores := all["panel"]
	scores.Protocol = panel.Protocol{ByScores: true}
	all["panel by scores"] = scores
	pairs := all["panel"]
	pairs.Protocol, pairs.Participants, pairs.Limits.MaxRounds = pairwise.Protocol{A: "Yes.", B: "No.", Challenge: true}, nil, 1
	all["pairwise"] = pairs
	for _, name := range []string{"vote of samples", "vote with conditions"} {
		delete(all, name)
	}
	return all
}

// rejudge returns a rejudged debate.
func rejudge(t testing.TB, e *debate.Engine, id string, again debate.Rejudge) *debate.Debate {
	t.Helper()
	d, err := e.Rejudge(t.Context(), id, again)
	require.NoError(t, err)
	return d
}

// decides reports whether a step is one of those who decide.
func decides(c debate.Config, k transcript.Key) bool {
	return slices.Contains(c.Protocol.(protocol.Decider).Deciding(), k.Phase)
}

// kept returns the turns of those who do not decide, as JSON without the numbers of entries.
func kept(t testing.TB, c debate.Config, d *debate.Debate) (list []string) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		if decides(c, turn.Key) {
			continue
		}
		turn.Seq, turn.VisibleSeq = 0, 0
		b, err := json.Marshal(turn)
		require.NoError(t, err)
		list = append(list, string(b))
	}
	return list
}

// course returns the transitions and phases of a debate, without pauses.
func course(t testing.TB, d *debate.Debate) (list []string) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		switch ev := m.Event.(type) {
		case debate.StateChanged:
			if ev.On != fsm.Pause && ev.On != fsm.Resume {
				list = append(list, fmt.Sprintln(ev.On, ev.To, ev.Round, ev.Ending, ev.Findings))
			}
		case debate.PhaseStarted:
			list = append(list, fmt.Sprintln(ev.Round, ev.Phase, ev.Parallel))
		}
	}
	return list
}

// The same judges are asked the same, in the same order, and nobody else is asked anything.
func TestOnlyThoseWhoDecideAreAskedAgain(t *testing.T) {
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			asked := m.take()
			maps.DeleteFunc(asked, func(k transcript.Key, _ []providers.Request) bool { return !decides(cfg, k) })
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again"})
			require.NoError(t, d.Verify(t.Context()))
			run(t, d)
			again := m.take()
			for key := range again {
				require.Contains(t, asked, key, "no other step")
			}
			require.Equal(t, asked, again)
			is := debatetest.Result(t, d)
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			require.Equal(t, course(t, parent), course(t, d))
			require.Equal(t, outcome(t, parent), outcome(t, d))
			require.Equal(t, fsm.Completed, is.State)
			require.NotNil(t, is.Rejudged)
			require.Empty(t, is.Rejudged.Departures)
			for _, turn := range is.Turns {
				if len(turn.Attempts) == 0 {
					continue
				}
				p, err := d.PromptOf(t.Context(), turn.Key)
				require.NoError(t, err, turn.Key)
				require.Equal(t, "equal", p.Match, "%s %v", turn.Key, p.Missing)
			}
		})
	}
}

// Whatever new judges say, the rest stays as it was: also if there are other judges, and if they fail at first.
func TestTheCourseIsKept(t *testing.T) {
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			m.take()
			m.alter = func(k transcript.Key, n int, reply *scripted.Reply) {
				if k.Actor == "new" {
					reply.Text = enginetest.PresetReply(cfg, providers.Request{Model: "other", SchemaName: m.last(k).SchemaName, Schema: m.last(k).Schema, Messages: []providers.Message{{Text: fmt.Sprint(k, n)}}})
				}
			}
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: []debate.Participant{{Name: "new", Provider: "m"}}})
			run(t, d)
			asked := m.take()
			require.NotEmpty(t, asked)
			for key := range asked {
				require.True(t, key.Actor == "new" && decides(cfg, key), key)
			}
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			require.Equal(t, debatetest.Result(t, parent).Ending, debatetest.Result(t, d).Ending)
			require.Equal(t, fsm.Completed, status(t, d).State)
			for _, turn := range debatetest.Result(t, d).Turns {
				if len(turn.Attempts) == 0 {
					continue
				}
				p, err := d.PromptOf(t.Context(), turn.Key)
				require.NoError(t, err, turn.Key)
				require.Equal(t, "equal", p.Match, "%s %v", turn.Key, p.Missing)
			}
		})
	}
}

// A rejudged debate goes on in other processes, of which each ends after one event, and asks nobody twice.
func TestARejudgedDebateSurvivesItsProcess(t *testing.T) {
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := store.Memory()
			e, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
			parent := create(t, e, cfg)
			run(t, parent)
			run(t, rejudge(t, e, parent.ID(), debate.Rejudge{ID: "whole", Swap: true}))
			rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Swap: true})
			for range 200 {
				e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
				d, err := e.Open(t.Context(), "again")
				require.NoError(t, err)
				if status(t, d).State == fsm.Completed {
					whole, err := e.Open(t.Context(), "whole")
					require.NoError(t, err)
					require.Equal(t, outcome(t, whole), outcome(t, d))
					derivedtest.Require(t, d)
					return
				}
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, done := ev.(debate.TurnDone); done {
						break
					}
				}
				for key := range m.take() {
					require.True(t, decides(cfg, key), key)
				}
			}
			require.Fail(t, "the debate does not end")
		})
	}
}

// A fork of a rejudged debate follows the course too, from each of its entries.
func TestForksOfRejudgedDebates(t *testing.T) {
	for _, name := range []string{"mad", "arbitration", "panel in Oxford style", "panel by scores"} {
		cfg := judged()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Swap: true})
			from := status(t, d).Parent.Seq
			run(t, d)
			m.take()
			for seq := from; seq <= status(t, d).Seq; seq++ {
				f, err := e.Fork(t.Context(), "again", seq, debate.Edits{})
				require.NoError(t, err)
				run(t, f)
				require.Equal(t, outcome(t, d), outcome(t, f), seq)
				for key := range m.take() {
					require.True(t, decides(cfg, key), key)
				}
			}
			f, err := e.Fork(t.Context(), "again", from-1, debate.Edits{})
			require.NoError(t, err)
			run(t, f)
			require.Nil(t, debatetest.Result(t, f).Rejudged, "it has nothing of the course")
			twice := rejudge(t, e, "again", debate.Rejudge{ID: "twice", Swap: true})
			run(t, twice)
			require.Equal(t, outcome(t, d), outcome(t, twice))
		})
	}
}
