package debateadk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate/providers/tool"
)

// function is what a tool of ADK has if a program can call it.
type function interface {
	adktool.Tool
	Declaration() *genai.FunctionDeclaration
	Run(ctx agent.Context, args any) (map[string]any, error)
}

// FromTool returns a tool of ADK as one for debate.Options.Tools. Name and Description of s default to those of t, and Schema is
// always that of t. Each call has a session of its own in memory. The model reads an error of t only if it is or wraps a
// [tool.Refusal]. A tool that requires a confirmation needs Approval, which confirms each call that a person approves.
//
// FromTool refuses tools that run for a long time and tools that run inside the service of a model.
func FromTool(t adktool.Tool, s tool.Spec) (tool.Tool, error) {
	f, ok := t.(function)
	if !ok {
		return nil, fmt.Errorf("read tool %q of ADK: it is no function that a program can call", t.Name())
	}
	if t.IsLongRunning() {
		return nil, fmt.Errorf("read tool %q of ADK: it runs for a long time, use one that returns its result", t.Name())
	}
	d := f.Declaration()
	s.Name = cmp.Or(s.Name, d.Name)
	s.Description = cmp.Or(s.Description, d.Description)
	s.Schema = json.RawMessage(`{"type":"object"}`)
	var err error
	if d.ParametersJsonSchema != nil {
		s.Schema, err = json.Marshal(d.ParametersJsonSchema)
	} else if d.Parameters != nil {
		s.Schema, err = json.Marshal(schemaOf(d.Parameters))
	}
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("read tool %q of ADK: %w", t.Name(), err)
	}
	return &called{f, s}, nil
}

// schemaOf returns a schema of Gemini as a JSON Schema.
func schemaOf(s *genai.Schema) map[string]any {
	raw, _ := json.Marshal(s) // plain data
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	for _, own := range []string{"example", "nullable", "propertyOrdering", "featureSelectionPreference"} {
		delete(out, own)
	}
	out["type"] = strings.ToLower(string(s.Type))
	if s.Nullable != nil && *s.Nullable {
		out["type"] = []any{out["type"], "null"}
	}
	if s.Type == genai.TypeUnspecified || s.Type == "" {
		delete(out, "type")
	}
	if s.Items != nil {
		out["items"] = schemaOf(s.Items)
	}
	for i, x := range s.AnyOf {
		out["anyOf"].([]any)[i] = schemaOf(x)
	}
	for name, x := range s.Properties {
		out["properties"].(map[string]any)[name] = schemaOf(x)
	}
	return out
}

// called is a tool of ADK.
type called struct {
	function

	spec tool.Spec
}

// Spec implements tool.Tool.
func (t *called) Spec() tool.Spec { return t.spec }

// Call implements tool.Tool.
func (t *called) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in map[string]any
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return tool.Result{}, tool.Refusal("The arguments are not a JSON object.")
	}
	var confirmed *toolconfirmation.ToolConfirmation
	if t.spec.Approval {
		confirmed = &toolconfirmation.ToolConfirmation{Confirmed: true}
	}
	var out map[string]any
	err := within(ctx, func(ic agent.InvocationContext) (err error) {
		out, err = t.Run(agent.NewToolContext(ic, c.ID, nil, confirmed), in)
		return err
	})
	if errors.Is(err, adktool.ErrConfirmationRequired) {
		err = fmt.Errorf("%w: set Approval in its Spec", err)
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("call tool %q of ADK: %w", t.Name(), err)
	}
	if text, ok := out["result"].(string); ok && len(out) == 1 { // ADK has no results but objects
		return tool.Result{Text: text}, nil
	}
	text, err := json.Marshal(out)
	return tool.Result{Text: string(text)}, err
}

// within calls f in an invocation of an agent, which tools of ADK need.
func within(ctx context.Context, f func(agent.InvocationContext) error) (failed error) {
	a, err := agent.New(agent.Config{Name: "debate", Run: func(ic agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(func(*session.Event, error) bool) { failed = f(ic) }
	}})
	if err != nil {
		return err
	}
	run, err := runner.New(runner.Config{
		AppName: "debate", Agent: a, AutoCreateSession: true,
		SessionService: session.InMemoryService(), ArtifactService: artifact.InMemoryService(), MemoryService: memory.InMemoryService(),
	})
	if err != nil {
		return err
	}
	failed = errors.New("ADK did not call it")
	for _, err := range run.Run(ctx, "debate", "debate", genai.NewContentFromText("call", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return failed
}
