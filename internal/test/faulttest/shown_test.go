package faulttest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

// Readers see that a turn is a refusal, a part of a dialogue or has a special token, wherever they look: in the terminal, live and
// afterwards, in reports, in the inspector, over HTTP, and in the outputs of tools, which MCP and A2A have too.
func TestReadersSeeTheFlagsOfTurns(t *testing.T) {
	for name, test := range map[string]struct {
		stray func(cfg debate.Config, name, text string) string
		flag  transcript.Flag
		told  string // in the terminal, as a warning
		shown string // in reports
		meant string // in the inspector
	}{
		"a refusal": {
			func(debate.Config, string, string) string { return refusal }, transcript.Refused,
			"the model declined to speak", "a refusal: the model declined to speak",
			"the model declined to speak, and the text is what it said instead",
		},
		"a dialogue": {
			func(cfg debate.Config, name, text string) string { return dialogueOf(name, otherThan(cfg, name), text) },
			transcript.SpokeForOthers,
			"lines for others", "cut off before the lines that the model wrote for others", "the raw reply has the whole",
		},
		"a special token": {
			func(_ debate.Config, _, text string) string { return text + " <|fim_hole|> and so on." }, transcript.SpecialToken,
			"special token", "with what looks like a special token", "the text has what looks like a special token",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
				m, _ := newSpoiling(t, cfg, nil, func(string) string { return "" })
				model := &straying{spoiling: m, stray: func(name, text string, _ bool) string { return test.stray(cfg, name, text) }}
				judges := &debatetest.DigestModel{Names: []string{"A", "B"}}
				e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": uncheckable{model}, "j": judges}})
				d := debatetest.Create(t, e, cfg)
				events := debatetest.Finish(t, d)
				turn := debatetest.Result(t, d).Turns[0]
				require.Contains(t, turn.Flags, test.flag)

				for _, live := range []bool{false, true} {
					var terminal strings.Builder
					p := &printer.Printer{Output: &terminal, Live: live}
					for _, ev := range events {
						p.Show(ev)
					}
					require.Regexp(t, `A · .*`+string(test.flag), terminal.String())
					require.Regexp(t, `warning: .*`+test.told, terminal.String())
				}

				r := debatetest.Call(t, report.Collect, d)
				require.Contains(t, strings.Join(r.Notices(), "\n")+"\n"+markdownOf(t, r), test.shown)
				require.Contains(t, markdownOf(t, r), test.shown)

				pages, err := inspector.Handler(e,
					inspector.Options{Authorize: func(context.Context, *debatehttp.Access) error { return nil }})
				require.NoError(t, err)
				require.Contains(t, get(t, pages, "/debates/"+d.ID()), `<span class="flag">`+string(test.flag)+`</span>`)
				require.Contains(t, strings.ReplaceAll(get(t, pages, "/debates/"+d.ID()+fmt.Sprintf("/turn?seq=%d", turn.Seq)), "&#39;",
					"'"), test.meant)
				require.Contains(t, get(t, pages, "/api/debates/"+d.ID()+"/result"), `"`+string(test.flag)+`"`)

				tools, err := debatetool.New(e, debatetool.Options{})
				require.NoError(t, err)
				out, err := tools.Status(t.Context(), d.ID(), 0)
				require.NoError(t, err)
				require.Contains(t, out.Turns[0].Flags, test.flag)
				require.Contains(t, out.Text(), "Flags: ")
				require.Contains(t, out.Text(), string(test.flag))
			})
		})
	}
}

// A person who judges sees that a speech is a refusal, wherever the person is asked: in programs, in the inspector, over HTTP, and in
// the outputs of tools.
func TestAHumanJudgeSeesRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
		cfg.Judges = []debate.Participant{{Name: "J", Human: true}}
		m, _ := newSpoiling(t, cfg, nil, func(string) string { return "" })
		model := &straying{spoiling: m, stray: func(name, text string, _ bool) string {
			if name == "B" {
				return refusal
			}
			return text
		}}
		e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": uncheckable{model}}})
		d := debatetest.Create(t, e, cfg)
		debatetest.Finish(t, d)

		asked := debatetest.Waiting(t, d)
		require.Len(t, asked, 1)
		require.Len(t, asked[0].Said, 2)
		refused := 0
		for _, said := range asked[0].Said {
			if said.Text == refusal {
				require.Equal(t, []transcript.Flag{transcript.Refused}, said.Flags)
				refused++
			} else {
				require.Empty(t, said.Flags)
			}
		}
		require.Equal(t, 1, refused)

		pages, err := inspector.Handler(e,
			inspector.Options{Authorize: func(context.Context, *debatehttp.Access) error { return nil }})
		require.NoError(t, err)
		const flagged = `</b> <span class="flag">refused</span>: I&#39;m sorry`
		require.Equal(t, 1, strings.Count(get(t, pages, "/debates/"+d.ID()+"?seat=J"), flagged))
		require.Contains(t, get(t, pages, "/api/debates/"+d.ID()+"/waiting?seat=J"), `"flags":["refused"]`)

		tools, err := debatetool.New(e, debatetool.Options{})
		require.NoError(t, err)
		out, err := tools.Status(t.Context(), d.ID(), 0)
		require.NoError(t, err)
		require.Len(t, out.Waiting, 1)
		require.Equal(t, 1, strings.Count(fmt.Sprint(out.Waiting[0].Said), "[refused]"))
	})
}

func markdownOf(t *testing.T, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Markdown(&b, r))
	return b.String()
}

// get returns a page.
func get(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
	h.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}
