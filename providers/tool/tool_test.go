package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/tool"
)

func TestResultsOfFunctions(t *testing.T) {
	call := tool.Call{ID: "1", Arguments: []byte(`{}`)}
	failed := errors.New("it failed")
	for name, tt := range map[string]struct {
		tool tool.Tool
		want tool.Result
		err  string
	}{
		"text":    {tool.Func(tool.Spec{}, func(context.Context, struct{}) (string, error) { return "a", nil }), tool.Result{Text: "a"}, ""},
		"value":   {tool.Func(tool.Spec{}, func(context.Context, struct{}) ([]int, error) { return []int{1, 2}, nil }), tool.Result{Text: "[1,2]"}, ""},
		"result":  {tool.Func(tool.Spec{}, func(context.Context, struct{}) (tool.Result, error) { return tool.Result{Text: "b"}, nil }), tool.Result{Text: "b"}, ""},
		"error":   {tool.Func(tool.Spec{}, func(context.Context, struct{}) (string, error) { return "a", failed }), tool.Result{}, "it failed"},
		"no JSON": {tool.Func(tool.Spec{}, func(context.Context, struct{}) (func(), error) { return nil, nil }), tool.Result{}, "encode result"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.tool.Call(t.Context(), call)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	_, err := tool.Func(tool.Spec{}, func(context.Context, struct{ N int8 }) (string, error) { return "", nil }).Call(t.Context(), tool.Call{Arguments: []byte(`{"N": 300}`)})
	require.ErrorAs(t, err, new(tool.Refusal), "the model can act on it")
	_, ok := tool.CallFrom(t.Context())
	require.False(t, ok)
}

func TestTheTextOfSources(t *testing.T) {
	r := tool.Result{Sources: []tool.Source{{Title: "A", URI: "u", Text: "one"}, {Text: "two"}}}
	require.Equal(t, "A\nu\none\n\ntwo", r.String())
	r.Text = "found"
	require.Equal(t, "found", r.String())
	require.Empty(t, tool.Result{}.String())
}

// A call in one line has its name, the arguments and what it came to, whatever their size.
func TestCallsInOneLine(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for want, r := range map[string]tool.Record{
		`look {"q":1}`:                           {Name: "look", Arguments: []byte(`{"q":1}`)},
		`look {"q":1}: It rains. It pours.`:      {Name: "look", Arguments: []byte("{\"q\":1}"), Done: true, Text: "It rains.\n\n It pours.\n"},
		`look {} failed (refused): Give a word.`: {Name: "look", Arguments: []byte("{}"), Done: true, Error: tool.Refused, Text: "Give a word."},
		`buy {} waits for a person`:              {Name: "buy", Arguments: []byte("{}"), Waits: true},
		`order {} runs`:                          {Name: "order", Arguments: []byte("{}"), Begun: true, Waits: false},
		`look: 40 bytes`:                         {Name: "look", Done: true, Size: 40},
		`look "` + strings.Repeat("é", 98) + "…: " + strings.Repeat("é", 98) + "…": {Name: "look", Arguments: []byte(`"` + long + `"`), Done: true, Text: long, Size: len(long)},
	} {
		require.Equal(t, want, r.String())
	}
}
