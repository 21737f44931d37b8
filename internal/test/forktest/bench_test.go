package forktest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/store"
)

// longDebate returns an engine with a debate of at least that many entries, and its number of entries.
func longDebate(t testing.TB, n int) (*debate.Engine, store.Store, int64) {
	t.Helper()
	cfg := lifeConfig()
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, n/8
	cfg.Limits.RunningTime, cfg.Limits.OutputTokens = 300*time.Hour, 1<<30
	for i := range cfg.Participants {
		cfg.Participants[i].Window = 6000 // so that the debate itself takes little time
	}
	for i := range cfg.Judges {
		cfg.Judges[i].Window = 6000
	}
	kept := store.Memory()
	e, _, d := completed(t, cfg, func(o *debate.Options) { o.Store = kept })
	end := debatetest.Status(t, d).Seq
	require.GreaterOrEqual(t, end, int64(n))
	return e, kept, end
}

// BenchmarkFork measures a fork of a whole journal, and a bare loop that loads the same entries and commits them under
// another ID.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		e, kept, end := longDebate(b, n)
		b.Run(fmt.Sprint("fork/", n), func(b *testing.B) {
			for b.Loop() {
				d, err := e.Fork(b.Context(), "d", 0, debate.Edits{ID: "fork"})
				require.NoError(b, err)
				require.NoError(b, e.Delete(b.Context(), d.ID()))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(end), "us/entry")
		})
		b.Run(fmt.Sprint("copy/", n), func(b *testing.B) {
			for b.Loop() {
				is, entries, err := kept.Load(b.Context(), "d", 0)
				require.NoError(b, err)
				is.ID = "copy"
				require.NoError(b, kept.Commit(b.Context(), store.Change{ID: "copy", Entries: entries, Status: is}))
				require.NoError(b, kept.Delete(b.Context(), "copy", 0))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(end), "us/entry")
		})
	}
}

// A fork of a journal that is four times as long takes four times the allocations.
func TestForkIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		e, _, end := longDebate(t, n)
		return testing.AllocsPerRun(3, func() {
			d, err := e.Fork(t.Context(), "d", 0, debate.Edits{})
			require.NoError(t, err)
			require.NoError(t, e.Delete(t.Context(), d.ID()))
		}) / float64(end)
	}
	require.Less(t, cost(2_000), 1.5*cost(500))
}
