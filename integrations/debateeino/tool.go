package debateeino

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	einotool "github.com/cloudwego/eino/components/tool"

	"github.com/elenchus-go/debate/providers/tool"
)

// FromTool returns a tool of Eino as one for debate.Options.Tools. Name and Description of s default to those of t, and Schema is
// always that of t. The model reads an error of t only if it is or wraps a [tool.Refusal]. A tool that interrupts its run to ask
// somebody fails: set Approval instead.
func FromTool(ctx context.Context, t einotool.InvokableTool, s tool.Spec) (tool.Tool, error) {
	info, err := t.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("describe tool of Eino: %w", err)
	}
	s.Name = cmp.Or(s.Name, info.Name)
	s.Description = cmp.Or(s.Description, info.Desc)
	s.Schema = json.RawMessage(`{"type":"object"}`)
	schema, err := info.ToJSONSchema()
	if err == nil && schema != nil {
		schema.Version = "" // some services refuse it
		s.Schema, err = json.Marshal(schema)
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("read tool %q of Eino: %w", info.Name, err)
	}
	return invokable{t, s}, nil
}

// invokable is a tool of Eino.
type invokable struct {
	einotool.InvokableTool

	spec tool.Spec
}

// Spec implements tool.Tool.
func (t invokable) Spec() tool.Spec { return t.spec }

// Call implements tool.Tool.
func (t invokable) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	text, err := t.InvokableRun(ctx, string(c.Arguments))
	return tool.Result{Text: text}, err
}
