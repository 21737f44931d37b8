package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
)

// A key that a transport adds is kept out of errors, too, whatever the header is.
func TestKeysOfATransport(t *testing.T) {
	const added = "4b3a-key/of+the-gateway"
	for name, text := range map[string]string{
		"plain": added, "in a query": "4b3a-key%2Fof%2Bthe-gateway", "in JSON": `4b3a-key\/of+the-gateway`,
	} {
		for _, reply := range []fakellm.Reply{
			{Status: 401, Body: `{"error": {"message": "the header Api-Key is ` + text + `"}}`},
			{Chunks: []string{"So "}, RawLines: []string{`data: {"error": "` + text + `"}`, ""}},
			{Chunks: []string{"So "}, RawLines: []string{`data: {"choices": [ "` + text + `"`, ""}},
		} {
			t.Run(name, func(t *testing.T) {
				s := fakellm.Start(t, fakellm.OpenAI, reply)
				inner := s.Client(t).Transport
				client := &http.Client{Transport: calltest.RoundTrip(func(r *http.Request) (*http.Response, error) {
					r = r.Clone(r.Context())
					r.Header.Set("Api-Key", added)
					return inner.RoundTrip(r)
				})}
				p, err := openai.New(openai.Config{Model: "m", BaseURL: "http://service/v1", HTTPClient: client})
				require.NoError(t, err)
				_, err = p.Generate(t.Context(), calltest.Ask())
				require.Error(t, err)
				require.NotContains(t, err.Error(), "4b3a")
				require.Contains(t, err.Error(), "[key]")
			})
		}
	}
}

// A key is replaced before a message is cut, so that no part of it is left.
func TestKeysAtTheEndOfALongMessage(t *testing.T) {
	key := strings.Repeat("9f8e7d6c", 8)
	for _, padding := range []int{420, 450, 480, 495} {
		s := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: `{"error": {"message": "` + strings.Repeat("x", padding) + ` token ` + key + `"}}`})
		p, err := openai.New(openai.Config{Key: key, Model: "m", BaseURL: "http://service/v1", HTTPClient: s.Client(t)})
		require.NoError(t, err)
		_, err = p.Generate(t.Context(), calltest.Ask())
		require.NotContains(t, calltest.RequireKind(t, providers.InvalidRequest, err).Error(), "9f8e")
	}
}
