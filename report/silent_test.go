package report_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// A report says who is silent in a fork.
func TestAReportShowsSilentTurns(t *testing.T) {
	cfg := enginetest.PresetConfigs()["panel"]
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": model}})
	require.NoError(t, err)
	d, err := e.Create(t.Context(), cfg)
	require.NoError(t, err)
	_, err = debatetest.Run(t, d)
	require.NoError(t, err)
	turns := debatetest.Result(t, d).Turns
	said := turns[slices.IndexFunc(turns, func(x transcript.Turn) bool { return x.Kind == transcript.Speech })]
	silent, err := e.Fork(t.Context(), d.ID(), 0, debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
	require.NoError(t, err)
	_, err = debatetest.Run(t, silent)
	require.NoError(t, err)
	for d, count := range map[*debate.Debate]int{d: 0, silent: 1} {
		r, err := report.Collect(t.Context(), d)
		require.NoError(t, err)
		var page bytes.Buffer
		require.NoError(t, report.HTML(&page, r))
		require.Equal(t, count, bytes.Count(page.Bytes(), []byte("silent in this fork")))
		require.Equal(t, count, bytes.Count([]byte(markdown(t, r)), []byte("silent in this fork")))
	}
}
