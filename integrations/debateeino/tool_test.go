package debateeino_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	einotool "github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/providers/tool"
)

type words struct {
	Words string `json:"words" jsonschema:"required,description=what to look for"`
}

type finding struct {
	Count int `json:"count"`
}

// minutes is a tool that Eino has made of a function.
func minutes(t *testing.T) einotool.InvokableTool {
	made, err := utils.InferTool("search", "Searches the minutes.", func(_ context.Context, q words) (finding, error) {
		if q.Words == "" {
			return finding{}, fmt.Errorf("search: %w", tool.Refusal("Give at least one word."))
		}
		return finding{len(q.Words)}, nil
	})
	require.NoError(t, err)
	return made
}

func TestFromTool(t *testing.T) {
	made, err := debateeino.FromTool(t.Context(), minutes(t), tool.Spec{Once: true})
	require.NoError(t, err)
	s := made.Spec()
	require.Equal(t, tool.Spec{Name: "search", Description: "Searches the minutes.", Once: true, Schema: s.Schema}, s)
	require.JSONEq(t, `{"type":"object","properties":{"words":{"type":"string","description":"what to look for"}},"required":["words"],"additionalProperties":false}`, string(s.Schema))
	_, err = debate.NewEngine(debate.Options{Tools: []tool.Tool{made}})
	require.NoError(t, err)

	got, err := made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"words":"rain"}`)})
	require.NoError(t, err)
	require.Equal(t, tool.Result{Text: `{"count":4}`}, got)
	_, err = made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"words":""}`)})
	refusal, ok := errors.AsType[tool.Refusal](err)
	require.True(t, ok, "Eino keeps the chain of the error: %v", err)
	require.Equal(t, tool.Refusal("Give at least one word."), refusal)

	made, err = debateeino.FromTool(t.Context(), minutes(t), tool.Spec{Name: "minutes", Description: "Finds."})
	require.NoError(t, err)
	require.Equal(t, "minutes", made.Spec().Name)
	require.Equal(t, "Finds.", made.Spec().Description)
}

// described is a tool with any description.
type described struct {
	info *schema.ToolInfo
	err  error
}

func (d described) Info(context.Context) (*schema.ToolInfo, error) { return d.info, d.err }

func (d described) InvokableRun(ctx context.Context, arguments string, _ ...einotool.Option) (string, error) {
	return arguments, einotool.Interrupt(ctx, "who are you?")
}

func TestFromToolOfOtherDescriptions(t *testing.T) {
	for name, tt := range map[string]struct {
		tool described
		want string // the schema, or the error
	}{
		"no parameters": {described{info: &schema.ToolInfo{Name: "now"}}, `{"type":"object"}`},
		"parameters": {described{info: &schema.ToolInfo{Name: "now", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"zone": {Type: schema.String, Required: true},
		})}}, `{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}`},
		"a name":   {described{info: &schema.ToolInfo{Name: "what time is it?"}}, `read tool "what time is it?" of Eino: the name "what time is it?" is not valid`},
		"no info":  {described{err: errors.New("offline")}, "describe tool of Eino: offline"},
		"no names": {described{info: &schema.ToolInfo{}}, `read tool "" of Eino: the name "" is not valid`},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := debateeino.FromTool(t.Context(), tt.tool, tool.Spec{})
			if err != nil {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.JSONEq(t, tt.want, string(made.Spec().Schema))
			_, err = made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
			require.Error(t, err, "it asks for a person")
		})
	}
}
