package toolstest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// A debate whose budget leaves room for some rounds only makes the same requests if it loses its process at any entry.
func TestACrashAtEachEntryUnderABudget(t *testing.T) {
	for name, mode := range map[string]panel.Mode{"sequential": "", "parallel": panel.Simultaneous} {
		t.Run(name, func(t *testing.T) {
			made := map[int]bool{}
			for _, limits := range []debate.Limits{
				{OutputTokens: 2700}, {OutputTokens: 3900}, {OutputTokens: 6000}, {Tokens: 30_000}, {Tokens: 50_000}, {Cost: 0.054}, {Cost: 0.094},
			} {
				c := config(&world{})
				c.Protocol, c.Limits = panel.Protocol{Mode: mode}, limits
				c.Limits.MaxRounds = 1
				c.Limits.StepTokens = 600
				c.Limits.JudgeTokens = 600
				c.Prices = price.Prices{"x": {Input: 1, Output: 5}}
				c.Participants[0].Model = "x"
				c.Participants[1].Model = "x"
				c.Judges[0].Model = "x"
				whole := &world{rounds: 4}
				d := run(t, whole, c, nil)
				total := len(events(t, d))
				for _, list := range whole.asked {
					made[roundsIn(list[len(list)-1])] = true
				}
				for n := 1; n < total; n++ {
					before, after := &world{rounds: 4}, &world{rounds: 4}
					debatetest.Finish(t, interrupted(t, c, n, before, after))
					before.merge(after)
					requireSameRequests(t, whole.asked, before.asked)
				}
			}
			for rounds := range 4 {
				require.Contains(t, made, rounds, "the budgets decide")
			}
		})
	}
}

// requireSameRequests requires that each step has made the same requests in the same order, apart from requests that it has
// repeated.
func requireSameRequests(t testing.TB, want, got map[transcript.Key][]providers.Request) {
	t.Helper()
	require.Len(t, got, len(want))
	for k, list := range got {
		var once []providers.Request
		for _, r := range list {
			if !slices.ContainsFunc(once, func(x providers.Request) bool { return reflect.DeepEqual(x, r) }) {
				once = append(once, r)
			}
		}
		require.Equal(t, want[k], once, "%s", k)
	}
}
