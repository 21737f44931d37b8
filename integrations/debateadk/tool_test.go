package debateadk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/agenttool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/geminitool"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers/tool"
)

type words struct {
	Words string `json:"words" jsonschema:"what to look for"`
}

// minutes is a tool that ADK has made of a function.
func minutes(t *testing.T, c functiontool.Config) adktool.Tool {
	c.Name, c.Description = "search", "Searches the minutes."
	made, err := functiontool.New(c, func(ctx agent.Context, in words) (map[string]any, error) {
		switch in.Words {
		case "":
			return nil, fmt.Errorf("search: %w", tool.Refusal("Give at least one word."))
		case "panic":
			panic("SECRET")
		case "keep": // tools of ADK may use all services of a session
			if err := ctx.State().Set("kept", "yes"); err != nil {
				return nil, err
			}
			kept, err := ctx.State().Get("kept")
			_, failed := ctx.Artifacts().Save(ctx, "a.txt", genai.NewPartFromText("a"))
			_, lost := ctx.SearchMemory(ctx, "a")
			return map[string]any{"result": kept}, errors.Join(err, failed, lost)
		}
		return map[string]any{"count": len(in.Words), "id": ctx.FunctionCallID()}, nil
	})
	require.NoError(t, err)
	return made
}

func TestFromTool(t *testing.T) {
	made, err := debateadk.FromTool(minutes(t, functiontool.Config{}), tool.Spec{Fresh: true})
	require.NoError(t, err)
	s := made.Spec()
	require.Equal(t, tool.Spec{Name: "search", Description: "Searches the minutes.", Fresh: true, Schema: s.Schema}, s)
	require.JSONEq(t, `{"type":"object","properties":{"words":{"type":"string","description":"what to look for"}},"required":["words"],"additionalProperties":false}`, string(s.Schema))
	debatetest.Engine(t, debate.Options{Tools: []tool.Tool{made}})

	call := func(arguments string) (string, error) {
		r, err := made.Call(t.Context(), tool.Call{ID: "7f3a", Arguments: json.RawMessage(arguments)})
		return r.Text, err
	}
	text, err := call(`{"words":"rain"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"count":4,"id":"7f3a"}`, text)
	text, err = call(`{"words":"keep"}`)
	require.NoError(t, err)
	require.Equal(t, "yes", text)
	_, err = call(`{"words":""}`)
	refusal, ok := errors.AsType[tool.Refusal](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, tool.Refusal("Give at least one word."), refusal)
	_, err = call(`{"words":"panic"}`)
	require.ErrorContains(t, err, `call tool "search" of ADK: panic`)
	_, err = call(`[]`)
	require.ErrorAs(t, err, &refusal)
}

// ADK asks for a confirmation inside the call. Here a person has approved the call before it runs.
func TestFromToolWithConfirmation(t *testing.T) {
	asking := minutes(t, functiontool.Config{RequireConfirmation: true})
	for approval, want := range map[bool]string{true: "", false: "set Approval in its Spec"} {
		made, err := debateadk.FromTool(asking, tool.Spec{Approval: approval})
		require.NoError(t, err)
		_, err = made.Call(t.Context(), tool.Call{ID: "7f3a", Arguments: json.RawMessage(`{"words":"rain"}`)})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, adktool.ErrConfirmationRequired)
		require.ErrorContains(t, err, want)
	}
}

func TestFromToolRefuses(t *testing.T) {
	for want, x := range map[string]adktool.Tool{
		`read tool "search" of ADK: it runs for a long time`:                   minutes(t, functiontool.Config{IsLongRunning: true}),
		`read tool "google" of ADK: it is no function that a program can call`: geminitool.New("google", "Searches.", &genai.Tool{}),
	} {
		_, err := debateadk.FromTool(x, tool.Spec{})
		require.ErrorContains(t, err, want)
	}
	_, err := debateadk.FromTool(minutes(t, functiontool.Config{}), tool.Spec{Name: "a b"})
	require.ErrorContains(t, err, `read tool "search" of ADK: the name "a b" is not valid`)
}

// An agent as a tool has a schema in Gemini's form.
func TestFromToolOfAnAgent(t *testing.T) {
	a, err := agent.New(agent.Config{Name: "clerk", Description: "Knows the minutes.", Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			e := session.NewEvent(ctx, ctx.InvocationID())
			e.Author, e.Content = "clerk", genai.NewContentFromText("heard: "+ctx.UserContent().Parts[0].Text, genai.RoleModel)
			yield(e, nil)
		}
	}})
	require.NoError(t, err)
	made, err := debateadk.FromTool(agenttool.New(a, nil), tool.Spec{})
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"request":{"type":"string"}},"required":["request"]}`, string(made.Spec().Schema))
	r, err := made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"request":"rain"}`)})
	require.NoError(t, err)
	require.Equal(t, "heard: rain", r.Text)
}

// declared is a tool with any declaration.
type declared struct {
	adktool.Tool
	declaration *genai.FunctionDeclaration
}

func (d declared) Declaration() *genai.FunctionDeclaration { return d.declaration }

func (declared) Run(_ agent.Context, args any) (map[string]any, error) {
	return args.(map[string]any), nil
}

func TestSchemasOfGemini(t *testing.T) {
	for want, s := range map[string]*genai.Schema{
		`{"type":"object"}`: nil,
		`{"type":"object","properties":{"n":{"type":["integer","null"],"minimum":1},"list":{"type":"array","minItems":1,"items":{"type":"string","enum":["a"]}},"any":{"anyOf":[{"type":"number"},{"type":"boolean"}]}}}`: {
			Type: genai.TypeObject, PropertyOrdering: []string{"n"}, Properties: map[string]*genai.Schema{
				"n":    {Type: genai.TypeInteger, Nullable: new(true), Minimum: new(1.0), Example: 3},
				"list": {Type: genai.TypeArray, MinItems: new(int64(1)), Items: &genai.Schema{Type: genai.TypeString, Enum: []string{"a"}}},
				"any":  {AnyOf: []*genai.Schema{{Type: genai.TypeNumber}, {Type: genai.TypeBoolean}}},
			},
		},
	} {
		x := declared{minutes(t, functiontool.Config{}), &genai.FunctionDeclaration{Name: "find", Parameters: s}}
		made, err := debateadk.FromTool(x, tool.Spec{})
		require.NoError(t, err)
		require.Equal(t, "find", made.Spec().Name)
		require.JSONEq(t, want, string(made.Spec().Schema))
		debatetest.Engine(t, debate.Options{Tools: []tool.Tool{made}})
	}
}
