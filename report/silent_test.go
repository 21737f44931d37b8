package report_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
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
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": model}})
	d := debatetest.Create(t, e, cfg)
	debatetest.Finish(t, d)
	turns := debatetest.Result(t, d).Turns
	said := turns[slices.IndexFunc(turns, func(x transcript.Turn) bool { return x.Kind == transcript.Speech })]
	silent := debatetest.Fork(t, e, d.ID(), 0, debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
	debatetest.Finish(t, silent)
	for d, count := range map[*debate.Debate]int{d: 0, silent: 1} {
		r := debatetest.Call(t, report.Collect, d)
		var page bytes.Buffer
		require.NoError(t, report.HTML(&page, r))
		require.Equal(t, count, bytes.Count(page.Bytes(), []byte("silent in this fork")))
		require.NotRegexp(t, `</summary>\s*</details>`, page.String(), "nothing to unfold")
		require.Equal(t, count, bytes.Count([]byte(markdown(t, r)), []byte("silent in this fork")))
	}
}
