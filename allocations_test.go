//go:build !race

package debate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
)

// A debate without tools and documents makes no more allocations on an engine that has them than on another one. The count is exact
// without the race detector only, because that empties pools at random; make test runs this test by itself.
func TestToolsAndDocumentsCostNothingUnused(t *testing.T) {
	least := func(o debate.Options) float64 {
		o.Providers = map[string]providers.Provider{"m": benchSpeaker()}
		e := debatetest.Engine(t, o)
		counts := make([]float64, 20) // the garbage collector empties pools in some of them
		for i := range counts {
			counts[i] = testing.AllocsPerRun(1, func() {
				runBench(t, e, unjudgedPanel{}, nil, debate.Limits{MaxRounds: benchRounds, OutputTokens: 1_000_000}, 2*benchRounds*benchChunks)
			})
		}
		return slices.Min(counts)
	}
	search := tool.Func(tool.Spec{Name: "search", Description: "Searches."}, func(context.Context, struct{}) (string, error) { return "", nil })
	with := debate.Options{Tools: []tool.Tool{search}, Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
		return "", nil
	}}
	require.LessOrEqual(t, least(with), least(debate.Options{}))
}
