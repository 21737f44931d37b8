package langchain

import (
	"cmp"
	"context"

	"github.com/elenchus-go/debate/providers/tool"
)

// Tool returns a tool of langchaingo as one for debate.Options.Tools. A [tools.Tool] takes one text, so the only argument is
// input. Description of s defaults to that of t, and so does Name if it is a valid one; Schema is set. The model reads an error of
// t only if it is or wraps a [tool.Refusal].
//
// [tools.Tool]: https://pkg.go.dev/github.com/tmc/langchaingo/tools#Tool
func Tool(t interface { // tools.Tool, whose package links an interpreter
	Name() string
	Description() string
	Call(ctx context.Context, input string) (string, error)
}, s tool.Spec,
) tool.Tool {
	s.Name, s.Description = cmp.Or(s.Name, t.Name()), cmp.Or(s.Description, t.Description())
	type text struct {
		Input string `json:"input" jsonschema:"description=the input of the tool as one text"`
	}
	return tool.Func(s, func(ctx context.Context, in text) (string, error) { return t.Call(ctx, in.Input) })
}
