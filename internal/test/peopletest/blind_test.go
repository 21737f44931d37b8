package peopletest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/council"
)

// ranking returns a ranking of the answers that a member of a council sees, in the order of their pseudonyms.
func ranking(t *testing.T, a debate.Asked) string {
	t.Helper()
	r := council.Ranking{Comparison: "Each has a point."}
	for i, s := range a.Said {
		r.Ranking = append(r.Ranking, council.Ranked{Name: s.Actor, Reason: "It is clear.", Place: i + 1})
	}
	return debatetest.Encode(t, r)
}

// A member of a council who ranks answers under pseudonyms sees no names before. Afterwards, the names are back.
func TestAMemberOfACouncilSeesNoNamesBeforeItRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "@A @B C", func(c *debate.Config) { c.Protocol, c.Limits = council.Protocol{}, debate.Limits{} })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asA, _ := b.watchAs(ctx, "A", 0)
		asC, _ := b.watchAs(ctx, "C", 0)
		blind := func(want ...string) {
			t.Helper()
			b.run()
			synctest.Wait()
			seats, err := b.Blind(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, seats)
			n := 0
			for _, err := range b.ReplayAs(t.Context(), "A") {
				require.NoError(t, err)
				n++
			}
			if len(want) > 0 && want[0] == "A" {
				require.Empty(t, *asA)
				require.Zero(t, n)
			} else {
				require.NotZero(t, n)
			}
		}
		blind("A", "B")
		require.Contains(t, *asC, "C1", "a model is not influenced by what its viewer sees")
		b.answer("A", "Copy it.")
		blind("A", "B")
		b.answer("B", "Print it.")
		blind("A", "B")

		require.Len(t, debatetest.Result(t, b.Debate).Waiting, 2, "the result says plainly who is asked")
		asked := b.asked("A")
		require.Len(t, asked.Said, 2)
		for _, s := range asked.Said {
			require.Contains(t, s.Actor, "Debater", "a pseudonym")
		}
		b.answer("A", ranking(t, asked))
		blind("B")
		for _, who := range []string{"A1", "B1", "C1"} {
			require.Contains(t, *asA, who)
		}
		b.answer("B", ranking(t, b.asked("B")))
		require.Equal(t, fsm.Completed, b.run())
		synctest.Wait()
		require.Contains(t, *asA, "end")
		seats, err := b.Blind(t.Context())
		require.NoError(t, err)
		require.Empty(t, seats)
	})
}

// Nobody is blind in a debate that ends early, nor a person who judges under real names.
func TestWhoIsBlind(t *testing.T) {
	for name, tt := range map[string]struct {
		seats string
		edit  func(*debate.Config)
		want  []string
	}{
		"speakers": {seats: "@A @B"},
		"a judge":  {seats: "A @B", edit: func(c *debate.Config) { c.Judges[0].Human = true }},
		"a judge, blind": {
			seats: "A @B", edit: func(c *debate.Config) { c.Judges[0].Human, c.Judges[0].Blind = true, true },
			want: []string{"J"},
		},
		"a council of people": {
			seats: "@A @B @C",
			edit:  func(c *debate.Config) { c.Protocol, c.Limits = council.Protocol{}, debate.Limits{} }, want: []string{"A", "B", "C"},
		},
		"models": {
			seats: "A B C",
			edit:  func(c *debate.Config) { c.Protocol, c.Limits = council.Protocol{}, debate.Limits{} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, tt.seats, tt.edit)
				seats, err := b.Blind(t.Context())
				require.NoError(t, err)
				require.Equal(t, tt.want, seats, "before the debate begins")
				b.run()
				if b.status().State.Final() {
					tt.want = nil
				}
				seats, err = b.Blind(t.Context())
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(tt.want), fmt.Sprint(seats))
				if tt.want != nil {
					require.NoError(t, b.Cancel(t.Context()))
					seats, err = b.Blind(t.Context())
					require.NoError(t, err)
					require.Empty(t, seats)
				}
			})
		})
	}
}
