package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers/langchain"
	"github.com/elenchus-go/debate/providers/tool"
)

// encyclopedia has the methods of a tools.Tool of langchaingo. A test of examples/integrations/langchaingo uses a tool of langchaingo itself.
type encyclopedia struct{}

func (encyclopedia) Name() string        { return "encyclopedia" }
func (encyclopedia) Description() string { return "Explains a word." }

func (encyclopedia) Call(_ context.Context, input string) (string, error) {
	switch input {
	case "":
		return "", tool.Refusal("Give a word.")
	case "?":
		return "", errors.New("offline")
	}
	return input + " is a word.", nil
}

func TestTool(t *testing.T) {
	made := langchain.Tool(encyclopedia{}, tool.Spec{Once: true})
	s := made.Spec()
	require.Equal(t, tool.Spec{Name: "encyclopedia", Description: "Explains a word.", Once: true, Schema: s.Schema}, s)
	require.JSONEq(t, `{"type":"object","properties":{"input":{"type":"string","description":"the input of the tool as one text"}},"required":["input"],"additionalProperties":false}`, string(s.Schema))
	_, err := debate.NewEngine(debate.Options{Tools: []tool.Tool{made}})
	require.NoError(t, err)
	r, err := made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"input":"rain"}`)})
	require.NoError(t, err)
	require.Equal(t, tool.Result{Text: "rain is a word."}, r)
	_, err = made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"input":""}`)})
	require.Equal(t, tool.Refusal("Give a word."), err)
	_, err = made.Call(t.Context(), tool.Call{Arguments: json.RawMessage(`{"input":"?"}`)})
	require.EqualError(t, err, "offline")
	s = langchain.Tool(encyclopedia{}, tool.Spec{Name: "words", Description: "Explains."}).Spec()
	require.Equal(t, "words", s.Name)
	require.Equal(t, "Explains.", s.Description)
}
