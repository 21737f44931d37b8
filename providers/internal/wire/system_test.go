package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// withSystem returns a request with a system prompt and a number of speeches.
func withSystem(speeches int) providers.Request {
	r := providers.Request{Messages: []providers.Message{{Role: providers.System, Text: "You argue for the edge."}}}
	for i := range speeches {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: fmt.Sprintf("Speech %d of Bo.", i+1)},
			providers.Message{Role: providers.Assistant, Text: fmt.Sprintf("Speech %d of mine.", i+1)})
	}
	r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: "Speak."})
	return r
}

// bodyOf returns the messages of a request to a service as JSON.
func bodyOf(t *testing.T, r fakellm.Request) string {
	t.Helper()
	for _, field := range []string{"messages", "contents", "input"} {
		if r.Body[field] != nil {
			raw, err := json.Marshal(r.Body[field])
			require.NoError(t, err)
			return string(raw)
		}
	}
	return ""
}

func TestModelsWithoutASystemRole(t *testing.T) {
	for words, status := range map[string]int{
		"System role not supported": 400,
		"Unsupported value: 'messages[0].role' does not support 'system' with this model.": 400,
		"jinja2.exceptions.TemplateError: System role not supported":                       500,
		"Conversation roles must alternate user/assistant/user/assistant/...":              500,
		"Only user and assistant roles are supported!":                                     422,
		"Developer instruction is not enabled for models/gemma-3-27b-it":                   400,
		"messages.0.role: Input should be 'user' or 'assistant'":                           422,
		"this model does not accept system prompts":                                        501,
		"Unknown role: system": 400,
		"The first message of a conversation must be from the user": 400,
	} {
		t.Run(words, func(t *testing.T) {
			raw, err := json.Marshal(map[string]any{"error": map[string]any{"message": words}})
			require.NoError(t, err)
			refusal := fakellm.Reply{Status: status, Body: string(raw)}
			each(t, []fakellm.Reply{refusal, {Chunks: []string{"So."}}}, func(t *testing.T, p providers.Provider, s *fakellm.Server) {
				first, err := p.Generate(calltest.Forever(t), withSystem(1))
				require.NoError(t, err)
				require.Equal(t, "So.", first.Text)
				require.Contains(t, strings.Join(first.Warnings, "\n"), "does not support: the role system")
				second, err := p.Generate(calltest.Forever(t), withSystem(2))
				require.NoError(t, err)
				require.Empty(t, second.Warnings)

				sent := s.Requests()
				require.Len(t, sent, 3, "the second call knows")
				require.Contains(t, fmt.Sprint(sent[0].Body), "You argue for the edge.")
				one, two := bodyOf(t, sent[1]), bodyOf(t, sent[2])
				for _, body := range []string{one, two} {
					require.NotContains(t, body, `"system"`)
					require.Contains(t, body, "You argue for the edge.")
					require.Less(t, strings.Index(body, "You argue"), strings.Index(body, "Speech 1 of Bo."))
				}
				for _, field := range []string{"system", "instructions", "systemInstruction"} {
					require.NotContains(t, sent[2].Body, field)
				}
				cached := one[:strings.Index(one, "Speech 1 of mine.")]
				cached = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "", `"cache_control":{"type":"ephemeral"},`, "").Replace(cached)
				two = strings.NewReplacer(`,"cache_control":{"type":"ephemeral"}`, "", `"cache_control":{"type":"ephemeral"},`, "").Replace(two)
				require.True(t, strings.HasPrefix(two, cached), "the beginning stays the same, for the service's cache: %s %s", two, cached)
			})
		})
	}
}

// Another model of the service may have one, and the model may have one later.
func TestWhoHasNoSystemRole(t *testing.T) {
	refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "System role not supported"}}`}
	each(t, []fakellm.Reply{refusal, {Chunks: []string{"So."}}}, func(t *testing.T, p providers.Provider, s *fakellm.Server) {
		has := func(i int) bool {
			body := s.Requests()[i].Body
			return strings.Contains(bodyOf(t, s.Requests()[i]), `"system"`) || body["system"] != nil || body["instructions"] != nil || body["systemInstruction"] != nil
		}
		calltest.Generate(t, p, withSystem(1))
		other := withSystem(1)
		other.Model = "other"
		calltest.Generate(t, p, other)
		time.Sleep(2 * time.Hour)
		calltest.Generate(t, p, withSystem(1))
		require.Equal(t, []bool{true, false, true, true}, []bool{has(0), has(1), has(2), has(3)})
	})
}

// If the system prompt was not the reason, the error is that of the last refusal.
func TestTheSystemRoleWasNotTheReason(t *testing.T) {
	refusal := fakellm.Reply{Status: 400, Body: `{"error": {"message": "System role not supported"}}`}
	long := fakellm.Reply{Status: 400, Body: `{"error": {"message": "This model's maximum context length is 8192 tokens."}}`}
	each(t, []fakellm.Reply{refusal, long}, func(t *testing.T, p providers.Provider, _ *fakellm.Server) {
		_, err := p.Generate(calltest.Forever(t), withSystem(1))
		require.ErrorContains(t, calltest.RequireKind(t, providers.ContextOverflow, err), "maximum context length")
	})
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.Start(t, fakellm.OpenAI, refusal)
		_, err := service(t, fakellm.OpenAI, s.Client(t), nil).Generate(calltest.Forever(t), calltest.Ask())
		require.ErrorContains(t, calltest.RequireKind(t, providers.InvalidRequest, err), "System role not supported")
		require.Len(t, s.Requests(), 1, "there is no system prompt to move")
	})
}
