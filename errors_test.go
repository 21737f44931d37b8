package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers/tool"
)

// People read the arguments of a call whole, without the escapes that protect HTML.
func TestQuestionsShowTheWholeArguments(t *testing.T) {
	for _, tt := range []struct{ arguments, want string }{
		{`{"a":"x \u003c \u0026 \u003E y","b":[1,"\n\u00e9"]}`, "A calls send with these arguments:\n{\n  \"a\": \"x < & > y\",\n  \"b\": [\n    1,\n    \"\\n\\u00e9\"\n  ]\n}"},
		{"no JSON", "A calls send with these arguments:\nno JSON"},
	} {
		q := debate.Question{Cause: "A calls send", Call: &tool.Record{Arguments: []byte(tt.arguments)}}
		require.Equal(t, tt.want, q.String())
	}
	require.Equal(t, "a gate", (&debate.Question{Cause: "a gate"}).String())
}
