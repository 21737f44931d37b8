package archive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// The record of a rejudged debate is derived from its course. A text that is hidden is hidden in the course too.
func TestRecordOfARejudgedDebate(t *testing.T) {
	cfg := enginetest.PresetConfigs()["mad"]
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": model}}
	e := debatetest.Engine(t, o)
	parent := debatetest.Create(t, e, cfg)
	debatetest.Finish(t, parent)
	d, err := e.Rejudge(t.Context(), parent.ID(), debate.Rejudge{ID: "again"})
	require.NoError(t, err)
	debatetest.Finish(t, d)

	f, err := archive.Record(t.Context(), e, "again")
	require.NoError(t, err)
	report, err := archive.Verify(t.Context(), f, o)
	require.NoError(t, err)
	require.Zero(t, report.Count(debate.EntryWrong)+report.Count(debate.EntryNotDerivable), "%v", report)
	var said transcript.Turn
	for _, turn := range debatetest.Result(t, d).Turns {
		if turn.Kind == transcript.Speech {
			said = turn
		}
	}
	shows := func() bool {
		b, err := f.MarshalText()
		require.NoError(t, err)
		return strings.Contains(string(b), said.Text)
	}
	require.True(t, shows())
	_, err = f.Redact(said.Key.String())
	require.NoError(t, err)
	require.False(t, shows(), "the course has the text too")
}
