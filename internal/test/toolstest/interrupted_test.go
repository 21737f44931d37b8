package toolstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// Verification names the requests of rounds whose step never came to an end. If the step goes on, its turn has them.
func TestRoundsOfAnInterruptedStepAreNamed(t *testing.T) {
	for name, finish := range map[string]func(t *testing.T, d *debate.Debate){
		"canceled": func(t *testing.T, d *debate.Debate) { require.NoError(t, d.Cancel(t.Context())) },
		"goes on": func(t *testing.T, d *debate.Debate) {
			debatetest.Finish(t, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := &world{rounds: 2}, store.Memory()
			c := config(w)
			d := debatetest.Create(t, newEngine(t, w, s), c)
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, called := ev.(debate.ToolsCalled); called {
					break
				}
			}
			again := debatetest.Open(t, newEngine(t, w, s), "d")
			finish(t, again)
			unknown := 0
			for check, err := range again.VerifyEntries(t.Context()) {
				require.NoError(t, err)
				require.NotEqual(t, debate.EntryWrong, check.Verdict, check.Reason)
				unknown += check.Unknown
				if check.Unknown > 0 {
					require.Equal(t, "tools", check.Type)
					require.Equal(t, []string{"the step was interrupted after this round of tool calls: its requests are not made again"}, check.Missing)
				}
			}
			require.Equal(t, map[string]int{"canceled": 1, "goes on": 0}[name], unknown)
		})
	}
}
