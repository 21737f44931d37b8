package googleai_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/googleai"
)

func TestWhatIsMissingOrWrongIsNamed(t *testing.T) {
	for want, c := range map[string]googleai.Config{
		"Config.Key is empty: set the API key, or Config.KeyFunc":                                                     {Model: "m"},
		"Config.Model is empty: name a model, such as gemini-2.5-flash":                                               {Key: key},
		"Config.BaseURL is not a valid http or https URL, want one such as https://generativelanguage.googleapis.com": {Key: key, Model: "m", BaseURL: "x"},
	} {
		_, err := googleai.New(c)
		require.EqualError(t, err, "create googleai provider: "+want)
	}
}

// provider returns a provider of a fake service that sends the replies.
func provider(t *testing.T, c googleai.Config, replies ...fakellm.Reply) (*googleai.Provider, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.Google, replies...)
	c.Key = key
	c.Model = "m"
	c.BaseURL = s.URL
	c.HTTPClient = s.Client(t)
	p, err := googleai.New(c)
	require.NoError(t, err)
	return p, s
}

var ask = providers.Request{Messages: []providers.Message{{Role: providers.User, Text: "Why?"}}, MaxTokens: 600}

func TestNothingIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "another-key")
	_, err := googleai.New(googleai.Config{Model: "m"})
	require.Error(t, err)
	p, s := provider(t, googleai.Config{}, fakellm.Reply{Chunks: []string{"So."}})
	calltest.Generate(t, p, ask)
	require.Equal(t, []string{key}, s.Requests()[0].Header.Values("X-Goog-Api-Key"))
}

func TestWhatIsConfiguredIsSent(t *testing.T) {
	p, s := provider(t, googleai.Config{Extra: map[string]any{"generationConfig": map[string]any{"seed": 7, "thinkingConfig": map[string]any{"thinkingBudget": 100}}}}, fakellm.Reply{Chunks: []string{"So."}})
	r := ask
	r.Schema, r.Model = json.RawMessage(`{"type": "object"}`), "n"
	res := calltest.Generate(t, p, r)
	require.Equal(t, "m-1", res.Model)
	got := s.Requests()[0]
	require.Equal(t, "/v1beta/models/n:streamGenerateContent", got.Path)
	require.Equal(t, map[string]any{
		"maxOutputTokens": 600.0, "seed": 7.0, "thinkingConfig": map[string]any{"thinkingBudget": 100.0},
		"responseMimeType": "application/json", "responseJsonSchema": map[string]any{"type": "object"},
	}, got.Body["generationConfig"])
}

// The signature of a text is opaque reasoning. It comes with the text or after it, and goes back with the text.
func TestSignaturesOfTextsAreSentBack(t *testing.T) {
	event := func(parts string) string {
		return `data: {"candidates": [{"index": 0, "content": {"role": "model", "parts": [` + parts + `]}}]}` + "\n\n"
	}
	const end = `data: {"candidates": [{"index": 0, "finishReason": "STOP"}]}` + "\n\n"
	for name, events := range map[string][]string{
		"with the text":     {event(`{"text": "So.", "thoughtSignature": "c2VhbGVk"}`)},
		"after it":          {event(`{"text": "So."}`), event(`{"text": "", "thoughtSignature": "c2VhbGVk"}`)},
		"with the thoughts": {event(`{"text": "Hm.", "thought": true, "thoughtSignature": "c2VhbGVk"}`), event(`{"text": "So."}`)},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := provider(t, googleai.Config{}, fakellm.Reply{RawLines: append(events, end)}, fakellm.Reply{Chunks: []string{"So."}})
			res := calltest.Generate(t, p, ask)
			require.Equal(t, "So.", res.Text)
			r := ask
			r.Messages = append(slices.Clone(ask.Messages), providers.Message{Role: providers.Assistant, Parts: res.Parts}, providers.Message{Role: providers.User, Text: "Go on."})
			calltest.Generate(t, p, r)
			require.Equal(t, map[string]any{"role": "model", "parts": []any{map[string]any{"text": "So.", "thoughtSignature": "c2VhbGVk"}}}, s.Requests()[1].Body["contents"].([]any)[1])
		})
	}
}

func TestFilteredReplies(t *testing.T) {
	for event, want := range map[string]string{
		`{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}`: "the service refused the prompt: PROHIBITED_CONTENT",
		`{"candidates": [{"finishReason": "RECITATION"}]}`:          "the service filtered the reply",
		`{"candidates": [{"finishReason": "LANGUAGE"}]}`:            "the service filtered the reply",
		`{"candidates": [{"finishReason": "BLOCKLIST"}]}`:           "the service filtered the reply",
		`{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}`:  "the service filtered the reply",
		`{"candidates": [{"finishReason": "SPII"}]}`:                "the service filtered the reply",
		`{"candidates": [{"finishReason": "IMAGE_SAFETY"}]}`:        "the service filtered the reply",
	} {
		t.Run(event, func(t *testing.T) {
			p, _ := provider(t, googleai.Config{}, fakellm.Reply{RawLines: []string{"data: " + event + "\n\n"}})
			_, err := p.Generate(t.Context(), ask)
			require.EqualError(t, calltest.RequireKind(t, providers.ContentFiltered, err), "content_filtered: read reply: "+want)
		})
	}
}

func TestAFailureIsNotRepeated(t *testing.T) {
	p, s := provider(t, googleai.Config{}, fakellm.Reply{Status: 503, Body: "overloaded"})
	_, err := p.Generate(t.Context(), ask)
	require.Equal(t, providers.ServerError, providers.AsError(err).Kind)
	require.Len(t, s.Requests(), 1)
}

func TestModelsAtATime(t *testing.T) {
	p, _ := provider(t, googleai.Config{}, fakellm.Reply{Chunks: []string{"So."}})
	var group sync.WaitGroup
	for _, model := range []string{"a", "b", "c", "", "a"} {
		group.Go(func() {
			r := ask
			r.Model = model
			_, err := p.Generate(t.Context(), r)
			assert.NoError(t, err)
		})
	}
	group.Wait()
}
