package peopletest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/transcript"
)

// replyToAll has each person reply with a text until the debate ends, and returns its result.
func (b *table) replyToAll(text string) *debate.Result {
	b.t.Helper()
	for b.run() == fsm.Paused {
		require.NotEmpty(b.t, b.status().Waiting)
		for _, name := range b.status().Waiting {
			b.answer(name, text)
		}
	}
	return debatetest.Result(b.t, b.Debate)
}

// Budgets assume nothing for the replies of people, but that models read them.
func TestPeopleUseNoBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		limits debate.Limits
		want   transcript.Outcome
	}{
		"the judge's replies fit":                       {debate.Limits{OutputTokens: 2000}, transcript.RoundLimit},
		"they do not fit":                               {debate.Limits{OutputTokens: 1200}, transcript.TokenBudget},
		"what the judge reads fits":                     {debate.Limits{Tokens: 150_000}, transcript.RoundLimit},
		"the replies of people may be too long to read": {debate.Limits{Tokens: 46_000}, transcript.TokenBudget},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "@A @B", func(c *debate.Config) {
					c.Limits = tt.limits
					c.Limits.MaxRounds, c.Judges[0].MaxTokens = 2, 500
					for i := range c.Participants {
						c.Participants[i].MaxTokens = 10_000
					}
				})
				require.Equal(t, tt.want, b.replyToAll("No.").Ending.Outcome)
			})
		})
	}
}

// A person reads everything that was said, although the models read a summary.
func TestAPersonReadsNoSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) {
			c.History, c.Limits.MaxRounds = window.Policy{Manager: window.Summarize}, 4
			c.Participants[0].Window, c.Participants[0].MaxTokens = 4000, 500
		})
		for round := 1; round < 4; round++ {
			b.run()
			b.answer("B", strings.Repeat("No, and again no. ", 200))
		}
		b.run()
		require.Contains(t, b.said(), "summary 4 "+protocol.Summarizer)
		said := b.asked("B").Said
		require.Len(t, said, 6)
		for _, turn := range said {
			require.Equal(t, transcript.Speech, turn.Kind)
		}
	})
}

// A person who ranks the answers of others knows them by pseudonyms, as a model does.
func TestAPersonInACouncil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range 8 {
			b := sit(t, "A @B C", func(c *debate.Config) {
				c.Protocol = council.Protocol{}
				c.Limits.MaxRounds = 1
				c.Seed = fmt.Sprint(seed)
			})
			b.run()
			b.answer("B", "Keep the trams.")
			require.Equal(t, fsm.Paused, b.run())
			asked := b.asked("B")
			require.NotContains(t, string(asked.Schema), `"A"`)
			require.Len(t, asked.Said, 2)
			for _, turn := range asked.Said {
				require.Contains(t, string(asked.Schema), `"`+strings.ReplaceAll(turn.Actor, " ", "_")+`":{`)
			}
			require.Less(t, asked.Said[0].Actor, asked.Said[1].Actor, "the order does not tell who it is")
		}
	})
}
