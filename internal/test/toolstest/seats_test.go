package toolstest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// A person who speaks in a parallel phase sees what the others have called only after the own turn, and never the messages of
// their models.
func TestRoundsOfAnOpenParallelPhaseAreWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{rounds: 2}
		c := config(w)
		c.Protocol, c.Limits.MaxRounds = panel.Protocol{Mode: panel.Simultaneous}, 1
		c.Participants[1] = debate.Participant{Name: c.Participants[1].Name, Human: true}
		e := newEngine(t, w, nil)
		d := debatetest.Call(t, e.Launch, c)

		ctx, cancel := context.WithCancel(t.Context())
		var seen []debate.Event
		done := make(chan struct{})
		go func() {
			defer close(done)
			for ev, err := range d.WatchAs(ctx, c.Participants[1].Name, 0) {
				if err != nil {
					return
				}
				seen = append(seen, ev)
			}
		}()
		synctest.Wait()
		require.Len(t, roundsOf(events(t, d)), 2, "A has called tools")
		require.Empty(t, roundsOf(seen), "B has yet to speak")

		list := debatetest.Waiting(t, d)
		require.Len(t, list, 1)
		require.NoError(t, d.Answer(t.Context(), list[0].Key, "Ice is warm.", ""))
		synctest.Wait()
		cancel()
		<-done
		shown := roundsOf(seen)
		require.GreaterOrEqual(t, len(shown), 2)
		for _, r := range shown {
			require.NotEmpty(t, r.Calls)
			require.Nil(t, r.Parts, "it is the model's own message")
		}
		require.NoError(t, e.Close(t.Context()))
	})
}

// bytes counts a token for each byte.
type bytes struct{}

// Count implements window.TokenCounter.
func (bytes) Count(_, text string) int { return len(text) }

// A budget of all tokens holds as many rounds with tools that are never called as without tools. The definitions of the tools
// are part of each prompt: the debate without them has as long instructions in their place.
func TestTokenBudgetsWithToolsThatAreNotCalled(t *testing.T) {
	create := func(tools bool, instructions string, budget int) (*debate.Debate, error) {
		w := &world{}
		c := config(w)
		c.Limits.MaxRounds = 6
		c.Limits.Tokens = budget
		c.Limits.StepTokens = 300
		c.Limits.JudgeTokens = 2000
		for _, p := range []*debate.Participant{&c.Participants[0], &c.Participants[1], &c.Judges[0]} {
			p.Window, p.Instructions = 200_000, instructions
			if !tools {
				p.Tools = nil
			}
		}
		uncounted := providersFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			resp, err := w.Generate(ctx, r)
			resp.Usage = transcript.Usage{}
			return resp, err
		})
		return debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": uncounted}, Tools: w.tools(), TokenCounter: bytes{}})
	}
	prompt := func(tools bool) int {
		d, err := create(tools, "Be kind.", 0)
		require.NoError(t, err)
		list, err := d.Preview(t.Context())
		require.NoError(t, err)
		size := len(list[0].Request.Messages[0].Text)
		if tools {
			raw, err := json.Marshal(list[0].Request.Tools)
			require.NoError(t, err)
			size += len(raw)
		}
		return size
	}
	defined := prompt(true) - prompt(false)
	require.Greater(t, defined, 200)
	held := map[int]bool{}
	for budget := 30_000; budget <= 180_000; budget += 5_000 {
		hold := func(tools bool, background string) int {
			d, err := create(tools, background, budget)
			if err != nil {
				return -1
			}
			debatetest.Finish(t, d)
			return len(debatetest.Result(t, d).Turns)
		}
		without := hold(false, "Be kind."+strings.Repeat("x", defined))
		require.Equal(t, without, hold(true, "Be kind."), "with %d tokens", budget)
		held[without] = true
	}
	require.Greater(t, len(held), 3, "the budgets decide: %v", held)
}
