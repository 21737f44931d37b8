package toolstest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// The prompt of each step is rebuilt byte for byte, whatever happens between its rounds.
func TestPromptsWithToolsAreRebuilt(t *testing.T) {
	failing := func(kind providers.ErrorKind, at int) func(debate.Step, int) *providers.Error {
		return func(_ debate.Step, call int) *providers.Error {
			if call != at {
				return nil
			}
			return &providers.Error{Kind: kind, Err: errors.New("it failed")}
		}
	}
	expected := map[string]transcript.Flag{
		"asked again": transcript.Reasked, "substitute": transcript.Substituted, "substitute, asked again": transcript.Reasked,
	}
	for name, change := range map[string]func(w *world, c *debate.Config){
		"plain": func(*world, *debate.Config) {},
		"retry": func(w *world, _ *debate.Config) { w.fail = failing(providers.ServerError, 2) },
		"overflow": func(w *world, _ *debate.Config) {
			w.fail = failing(providers.ContextOverflow, 3)
			w.results = func(tool.Call) (tool.Result, error) { return tool.Result{Text: fmt.Sprintf("%04000d", 1)}, nil }
		},
		"overflow of history": func(w *world, _ *debate.Config) {
			w.fail = func(s debate.Step, call int) *providers.Error {
				if s.Key.Round < 2 {
					return nil
				}
				return failing(providers.ContextOverflow, 1)(s, call)
			}
		},
		"parallel": func(_ *world, c *debate.Config) { c.Protocol = panel.Protocol{Mode: panel.Simultaneous} },
		"parallel, failed": func(w *world, c *debate.Config) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			w.fail = failing(providers.RateLimit, 2)
		},
		"long results": func(w *world, _ *debate.Config) {
			w.results = func(tool.Call) (tool.Result, error) { return tool.Result{Text: fmt.Sprintf("%020000d", 1)}, nil }
		},
		"small windows": func(w *world, c *debate.Config) {
			w.results = func(tool.Call) (tool.Result, error) { return tool.Result{Text: fmt.Sprintf("%09000d", 1)}, nil }
			for i := range c.Participants {
				c.Participants[i].Window = 8000
			}
		},
		"asked again": func(w *world, _ *debate.Config) { w.vague = true },
		"substitute": func(w *world, c *debate.Config) {
			w.dead, c.Judges[0].Model = "first", "first"
			c.Substitutes = []debate.Participant{{Provider: "m", Model: "second"}}
		},
		"substitute, asked again": func(w *world, c *debate.Config) {
			w.vague = true
			w.dead = "first"
			c.Judges[0].Model = "first"
			c.Substitutes = []debate.Participant{{Provider: "m", Model: "second"}}
		},
		"no rounds left": func(_ *world, c *debate.Config) { c.Limits.ToolRounds = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{rounds: 2, calls: 2}
				c := config(w)
				change(w, &c)
				d := run(t, w, c, nil)
				requirePrompts(t, w, d)
				if want := expected[name]; want != "" {
					flags := map[transcript.Flag]bool{}
					for _, turn := range debatetest.Result(t, d).Turns {
						for _, f := range turn.Flags {
							flags[f] = true
						}
					}
					require.Contains(t, flags, want)
				}
			})
		})
	}
}

// A debate that loses its process at any entry goes on in another one: no call of a model or a tool that was committed is
// repeated, no usage is lost, and prompts are the same.
func TestACrashAtEachEntry(t *testing.T) {
	for name, protocol := range map[string]panel.Protocol{"sequential": {}, "parallel": {Mode: panel.Simultaneous}} {
		t.Run(name, func(t *testing.T) {
			whole := &world{rounds: 2, calls: 2}
			c := config(whole)
			c.Protocol = protocol
			d := run(t, whole, c, nil)
			want, total := texts(t, d), len(events(t, d))
			usage := debatetest.Result(t, d).Total.Usage
			for n := 1; n < total; n++ {
				before, after := &world{rounds: 2, calls: 2}, &world{rounds: 2, calls: 2}
				second := interrupted(t, c, n, before, after)
				var stored []tool.Record
				for _, r := range roundsOf(events(t, second)) {
					stored = append(stored, r.Calls...)
				}
				debatetest.Finish(t, second)
				require.Equal(t, want, texts(t, second), "after entry %d", n)
				require.Equal(t, usage, debatetest.Result(t, second).Total.Usage, "no usage is lost")
				require.Equal(t, usage, debatetest.Status(t, second).Usage)
				for _, call := range stored {
					require.Zero(t, after.ran[call.ID], "a call that was committed is not repeated")
				}
				before.merge(after)
				requirePrompts(t, before, second)
			}
		})
	}
}

// A tool that changes something never runs twice, wherever the process ends.
func TestOnceAcrossCrashes(t *testing.T) {
	whole := &world{rounds: 1, calls: 2, name: "order"}
	c := config(whole)
	total := len(events(t, run(t, whole, c, nil)))
	unknown := 0
	for n := 1; n < total; n++ {
		before, after := &world{rounds: 1, calls: 2, name: "order"}, &world{rounds: 1, calls: 2, name: "order"}
		second := interrupted(t, c, n, before, after)
		debatetest.Finish(t, second)
		for id, times := range after.ran {
			require.LessOrEqual(t, times+before.ran[id], 1, "call %s after entry %d", id, n)
		}
		for _, r := range roundsOf(events(t, second)) {
			for _, call := range r.Calls {
				if call.Error == tool.Interrupted {
					unknown++
					require.Contains(t, call.Text, "unknown")
				}
			}
		}
	}
	require.Positive(t, unknown, "the model was told")
}

// A person decides about a call, in another process. The IDs stay the same, and the reason of a refusal reaches the model.
func TestApproval(t *testing.T) {
	for _, name := range []string{"ask", "buy"} {
		t.Run(name, func(t *testing.T) {
			db := store.Memory()
			w := &world{rounds: 1, calls: 2, name: name}
			c := config(w)
			c.Judges[0].Tools = nil
			c.Participants[1].Tools = nil
			c.Limits.MaxRounds = 1
			d := run(t, w, c, db)
			require.Empty(t, w.ran)
			ids := map[string]bool{}
			for i, action := range []string{"approve", "refuse"} {
				other := &world{rounds: 1, calls: 2, name: name}
				d := debatetest.Open(t, newEngine(t, other, db), c.ID)
				r := debatetest.Result(t, d)
				require.Equal(t, "paused", string(r.State))
				require.NotNil(t, r.Question)
				require.Equal(t, name, r.Question.Call.Name)
				require.Equal(t, c.Participants[0].Name, r.Question.Step.Actor)
				require.Contains(t, string(r.Question.Call.Arguments), fmt.Sprintf("0 %d", i))
				ids[r.Question.Call.ID] = true
				var remarks []debate.Remark
				if action == "refuse" {
					remarks = []debate.Remark{{From: "Ann", Text: "Too expensive."}}
				}
				require.NoError(t, d.Decide(t.Context(), r.Question.ID, action, remarks...))
				debatetest.Finish(t, d)
				w.merge(other)
			}
			r := debatetest.Result(t, d)
			require.Equal(t, "completed", string(r.State))
			require.Len(t, ids, 2)
			require.Len(t, w.ran, 1)
			for id, n := range w.ran {
				require.True(t, ids[id])
				require.Equal(t, 1, n)
			}
			list := roundsOf(events(t, d))
			last := list[len(list)-1]
			require.Equal(t, "A person refused this call: Too expensive.", last.Calls[1].Text)
			require.Equal(t, tool.Disapproved, last.Calls[1].Error)
			requirePrompts(t, w, d)
			require.Equal(t, debatetest.Status(t, d).Usage, r.Total.Usage)
			for _, turn := range r.Turns {
				require.NotEqual(t, "remark", string(turn.Kind), "the reason is no remark")
			}
		})
	}
}

// A fork has the rounds of its parent and repeats none, wherever it begins.
func TestForksHaveAllRounds(t *testing.T) {
	w := &world{rounds: 2}
	db := store.Memory()
	d := run(t, w, config(w), db)
	list := events(t, d)
	e := newEngine(t, w, db)
	for n := 2; n <= len(list); n++ {
		fork := debatetest.Fork(t, e, "d", int64(n), debate.Edits{})
		ran := len(w.ran)
		debatetest.Finish(t, fork)
		require.Equal(t, texts(t, d), texts(t, fork), "from entry %d", n)
		all := roundsOf(events(t, fork))
		require.LessOrEqual(t, len(w.ran)-ran, len(all)-len(roundsOf(list[:n])), "calls are shared or repeated once")
		for _, turn := range debatetest.Result(t, fork).Turns {
			mine := debatetest.PromptOf(t, fork, turn.Key)
			require.Empty(t, mine.Missing)
			its := debatetest.PromptOf(t, d, turn.Key)
			require.Equal(t, its.Request, mine.Request)
		}
	}
}

// An engine that lacks a tool leaves the debate alone.
func TestAnEngineWithoutTheTool(t *testing.T) {
	db := store.Memory()
	w := &world{rounds: 1}
	d := debatetest.Create(t, newEngine(t, w, &failingStore{Store: db, left: 6}), config(w))
	_, err := debatetest.Run(t, d)
	require.ErrorIs(t, err, errPower)
	other := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": w}, Store: db})
	d = debatetest.Open(t, other, "d")
	seq := debatetest.Status(t, d).Seq
	_, err = debatetest.Run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, `participants[0].tools: this engine lacks "search", see Options.Tools`)
	require.Equal(t, seq, debatetest.Status(t, d).Seq)
}
