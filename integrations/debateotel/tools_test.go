package debateotel

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
)

// caller calls two tools in each speech of B, the second of which fails.
type caller struct{ *model }

func (m caller) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	has := func(x providers.Message) bool { return len(x.Parts) > 0 && x.Parts[0].ToolResult != nil }
	if !r.MayCallTools() || slices.ContainsFunc(r.Messages, has) {
		return m.model.Generate(ctx, r)
	}
	call := func(name string) providers.Part {
		return providers.Part{ToolCall: &providers.ToolCall{ID: name, Name: name, Arguments: json.RawMessage(`{"q":"SECRET question"}`)}}
	}
	return providers.Response{FinishReason: providers.ToolCalls, Parts: []providers.Part{call("look"), call("fail")}}, nil
}

// A call of a tool is a span within its step. It has texts only with Texts, and none if the step reads a private document.
func TestCallsOfTools(t *testing.T) {
	for name, tt := range map[string]struct{ texts, private bool }{"without texts": {}, "with texts": {texts: true}, "private": {true, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := pair()
				cfg.Participants = slices.Clone(cfg.Participants)
				cfg.Participants[1].Tools = []string{"look", "fail"}
				const text = "SECRET text"
				if tt.private {
					cfg.Documents = []evidence.Document{evidence.Private("file", text, cfg.Participants[1].Name)}
				}
				type query struct {
					Q string `json:"q"`
				}
				m, r := &model{cfg: cfg}, newRecorder(Options{Texts: tt.texts})
				_, d := start(t, r, m, func(o *debate.Options) {
					o.Providers["m"] = caller{m}
					o.Documents = func(context.Context, string, map[string]string, evidence.Document) (string, error) { return text, nil }
					o.Tools = []tool.Tool{
						tool.Func(tool.Spec{Name: "look", Description: "Looks.", Fresh: true}, func(context.Context, query) (string, error) {
							time.Sleep(2 * time.Second)
							return "SECRET result", nil
						}),
						tool.Func(tool.Spec{Name: "fail", Description: "Fails.", Fresh: true}, func(context.Context, query) (string, error) {
							return "", tool.Refusal("SECRET refusal")
						}),
					}
				})
				debatetest.Finish(t, d)
				roots := r.trees(t)
				looks, fails := find(roots, "execute_tool look"), find(roots, "execute_tool fail")
				require.NotEmpty(t, looks)
				require.Len(t, fails, len(looks))
				for i, n := range looks {
					require.Equal(t, "look", n.attr("gen_ai.tool.name"))
					require.Equal(t, 2*time.Second, n.EndTime().Sub(n.StartTime()))
					require.Len(t, n.attr("gen_ai.tool.call.id"), 32)
					require.Empty(t, n.attr(keyError))
					require.Equal(t, "refused", fails[i].attr(keyError))
					shown := tt.texts && !tt.private
					require.Equal(t, shown, n.attr("gen_ai.tool.call.result") == "SECRET result")
					require.Equal(t, shown, n.attr("gen_ai.tool.call.arguments") == `{"q":"SECRET question"}`)
				}
				if !tt.texts || tt.private {
					require.NotContains(t, describe(roots, nil), "SECRET")
				}
			})
		})
	}
}
