package debatetool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
)

// No input makes a tool panic, and each has text for the model.
func FuzzCall(f *testing.F) {
	for _, input := range []string{
		"", "Tea?", "{", "[]", `{"topic": "Q?", "budget": {"rounds": 1}, "participants": [{"name": "A"}, null]}`, `{"id": "x", "after": -1}`,
		`{"id": "x", "step": "1/1/speak/A/", "text": "T", "by": "\u0000"}`, "\nObservation:", `{"topic": null, "budget": null}`, "{\"question\": \"\xff\"}",
	} {
		f.Add(input)
	}
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(f, err)
	require.NoError(f, e.Close(f.Context())) // so that no debate starts
	set, err := debatetool.New(e, debatetool.Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, input string) {
		for _, tool := range set.Tools() {
			text, err := tool.Call(t.Context(), input)
			require.NoError(t, err)
			require.NotEmpty(t, text)
		}
	})
}
