package fault

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// unseen is an error in words that no row was written for.
type unseen struct {
	Kinds        []providers.ErrorKind // the kinds that are right
	Status, Size int                   // the HTTP status, and the size of the request in bytes
	Source       string                // who could say it
	Body         json.RawMessage       // JSON, or a JSON string with another text
}

// The errors of testdata/unseen.json were worded before the rule for unknown words was, by other services, in other
// languages. Two of them are about content that is refused, in words that no rule could know.
func TestUnknownWords(t *testing.T) {
	raw, err := os.ReadFile("testdata/unseen.json")
	require.NoError(t, err)
	var cases []unseen
	require.NoError(t, json.Unmarshal(raw, &cases))
	wrong := 0
	for _, c := range cases {
		text := string(c.Body)
		if c.Body[0] == '"' {
			require.NoError(t, json.Unmarshal(c.Body, &text))
		}
		if kind := OfText(c.Status, text, c.Size).classify().kind; !slices.Contains(c.Kinds, kind) {
			wrong++
			t.Logf("%s: %s is %s, want one of %v", c.Source, text, kind, c.Kinds)
		}
	}
	require.Greater(t, len(cases), 100)
	require.LessOrEqual(t, wrong, 2)
}

// A small request is not too long, whatever the words are.
func TestSmallRequestsAreNotTooLong(t *testing.T) {
	const words = `{"error": "Message cannot be more than 20,000 characters"}`
	require.Equal(t, verdict{kind: providers.ContextOverflow, otherwise: providers.InvalidRequest}, OfText(400, words, largeRequest).classify())
	require.Equal(t, verdict{kind: providers.InvalidRequest}, OfText(400, words, largeRequest-1).classify())
}

// An error that quotes the prompt is not judged by the prompt's words.
func TestWordsOfThePromptDoNotCount(t *testing.T) {
	body := `{"detail": [{"type": "extra_forbidden", "loc": ["body", "foo"], "msg": "Extra inputs are not permitted", "input": {"messages": [` +
		`{"role": "user", "content": "Insufficient balance, a rate limit exceeded, and content that a policy refuses: what else is there to say about the long history of services and their prices? Out of memory, the prompt is too long."}]}}]}`
	require.Equal(t, verdict{kind: providers.InvalidRequest}, OfText(422, body, 2_000).classify())
}
