package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
)

// A report of a debate that its engine has signed says who signed what; that of another debate says nothing.
func TestAReportShowsTheSignature(t *testing.T) {
	signer, _, _ := debatetest.Keys(t, "example.org/debates")
	cfg := enginetest.PresetConfigs()["panel"]
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	for _, signs := range []note.Signer{nil, signer} {
		d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": model}, Signer: signs})
		debatetest.Finish(t, d)
		r := debatetest.Call(t, report.Collect, d)
		var page bytes.Buffer
		require.NoError(t, report.HTML(&page, r))
		for _, text := range []string{markdown(t, r), page.String()} {
			if signs == nil {
				require.NotContains(t, text, "Signed by")
				continue
			}
			s := debatetest.Result(t, d).Signature
			require.Contains(t, text, fmt.Sprintf("example.org/debates, entries 1 to %d; verify a record to check it", s.Entries))
			require.Contains(t, strings.ReplaceAll(text, `\`, ""), s.Head, "Markdown escapes _")
		}
	}
}
