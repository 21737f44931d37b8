package reply_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
)

// secretive is a reply of which no rule may show a value, whatever its checks quote and how.
type secretive struct {
	Winner string   `json:"winner" jsonschema:"minLength=3,enum=Ada,enum=Bo,enum=Hemlock9"`
	Reason string   `json:"reason,omitempty" jsonschema:"maxLength=20"`
	Score  float64  `json:"score" jsonschema:"maximum=10"`
	List   []string `json:"list,omitempty" jsonschema:"maxItems=1"`
}

func (s *secretive) Check([]string) []string {
	if s.Winner != "Hemlock9" {
		return nil
	}
	return []string{
		fmt.Sprintf("/winner: %q is not a participant", s.Winner), fmt.Sprintf("/winner: %s was not there", s.Winner),
		fmt.Sprintf("/winner: %v of 10 is too low", s.Score), strings.ToUpper(s.Winner) + " is nobody", "/winner: Hemlo... is cut", "/reason: 'don't " + s.Reason,
		"/score: it must not be lower than that of another participant",
	}
}

// What is said about an invalid reply without its texts: each path, and each rule that quotes nothing.
func TestRulesQuoteNothing(t *testing.T) {
	contract := reply.New[secretive]("secretive/1")
	for text, want := range map[string][]string{
		`{"winner": "Hemlock9", "reason": "banana plum", "score": 7.25}`: {
			"/reason: the value is not valid", "/score: it must not be lower than that of another participant", "/winner: the value is not valid",
			"/winner: the value is not valid", "/winner: the value is not valid", "/winner: … is not a participant", "the value is not valid",
		},
		`{"winner": "Hemlock9", "score": "SECRET"}`: {"/score: expected number, but got string"},
		`{"winner": 5}`:                    {"/winner: expected string, but got number", "the reply: missing properties: …"},
		`{"winner": "Ada", "score": 8374}`: {"/score: the value is not valid"},
		`{"winner": "Ada", "score": 1, "reason": "SECRET SECRET SECRET SECRET"}`:   {"/reason: length must be <= 20, but got 27"},
		`{"winner": "Ada", "Score": 1, "SECRET": 2}`:                               {"the reply: missing properties: …", "the reply: property … must be spelled …"},
		`{"winner": "Ada", "score": 1, "list": [{"SECRET": 1, "SECRET": 2}]}`:      {"/list/0: property … appears twice with different values"},
		`{"winner": "Ada", "score": 1, "SECRET": {"a": {"k": 1, "k": 2}, "b": 0}}`: {"/*/*: property … appears twice with different values"},
		`SECRET`:                 {"the reply holds no JSON object: answer with one JSON object and nothing else"},
		`{"winner": "SECRET" 5}`: {"the JSON object has a syntax error after …: invalid character … after object key:value pair"},
		`{"winner": "SECRET`:     {"the JSON object is not closed: close every string, list and object, and be brief"},
	} {
		_, err := contract.Parse(text, []string{"Ada", "Bo"})
		var invalid *reply.Invalid
		require.True(t, errors.As(err, &invalid), text)
		require.ElementsMatch(t, want, invalid.Rules, "%s\n%q", text, invalid.Violations)
		require.NotContains(t, fmt.Sprint(invalid.Rules), "SECRET", text)
	}
}

// The rules of the library's own contracts remain readable, also for a reply that has their words.
func TestRulesOfAVerdict(t *testing.T) {
	contract := judge.VerdictContract
	_, err := contract.Parse(`{"summary": "is not a participant of this", "winner": "Zoe Zola", "quality": 5}`, []string{"Ada"})
	var invalid *reply.Invalid
	require.True(t, errors.As(err, &invalid))
	require.Equal(t, []string{"/winner: … is not a participant; the participants are […]"}, invalid.Rules)
}
