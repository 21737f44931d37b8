package fault

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const secret = "0f1e/d3c4+b5a6 8779<&>=tail-of-the-key"

// Keys are found in each form in which a text may quote them, and before the text is cut.
func TestKeysAreReplaced(t *testing.T) {
	inJSON, err := json.Marshal(secret)
	require.NoError(t, err)
	twice, err := json.Marshal(string(inJSON))
	require.NoError(t, err)
	for name, form := range map[string]string{
		"plain": secret, "in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret),
		"in lower case": strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3C", "%3c", "%3E", "%3e", "%3D", "%3d").Replace(url.QueryEscape(secret)),
		"in JSON":       string(inJSON), "in JSON in JSON": string(twice),
		"in JSON of other languages": strings.ReplaceAll(secret, "/", `\/`),
		"in HTML":                    "0f1e/d3c4+b5a6 8779&lt;&amp;&gt;=tail-of-the-key",
	} {
		for padding := range 120 {
			text := strings.Repeat("x", padding) + " token " + form + " is refused"
			quiet := Excerpt(text, []string{secret})
			require.NotContains(t, quiet, "0f1e", name)
			require.NotContains(t, quiet, "tail", name)
		}
	}
}

func TestLongMessagesAreCutAfterKeysAreReplaced(t *testing.T) {
	key := strings.Repeat("9f8e7d6c", 8)
	for padding := maxMessage - 100; padding < maxMessage+20; padding++ {
		f := OfText(400, `{"error": {"message": "`+strings.Repeat("x", padding)+" "+key+`"}}`, 0)
		require.NotContains(t, f.Error([]string{key}).Error(), key[:8])
	}
}

// If the keys are unknown, what looks random is replaced.
func TestUnknownKeysAreReplaced(t *testing.T) {
	for text, want := range map[string]string{
		"status code 401: token sk-proj-abcdefgh12345 was refused":                           "status code 401: token [key] was refused",
		"no lease for 9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c here": "no lease for [key] here",
		"ghp_abcdefghijklmnop and eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl":                        "[key] and [key]",
		"request 0199-7f8e-4d6c of model llama-3.3-70b-versatile":                            "request 0199-7f8e-4d6c of model llama-3.3-70b-versatile",
		"model_max_prompt_tokens_exceeded_by_the_request is a code":                          "model_max_prompt_tokens_exceeded_by_the_request is a code",
		"AKIAIOSFODNN7EXAMPLE is disabled":                                                   "[key] is disabled",
	} {
		require.EqualError(t, RedactError(errors.New(text), nil), want)
	}
	const id = "9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c9f8e7d6c"
	require.EqualError(t, RedactError(errors.New(id), []string{}), id, "where the keys are known, the names of requests stay")
}

func TestSecretsOfARequest(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://user:password-1@host/v1?key=key-of-query&alt=sse&Subscription-Key=sub-1", nil)
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Authorization": "Bearer key-1", "Ocp-Apim-Subscription-Key": "key-2", "Cf-Aig-Authorization": "key-3", "X-Portkey-Api-Key": "key-4",
		"Helicone-Auth": "Bearer key-5", "X-Auth-Token": "key-6", "Cookie": "a=cookie-7",
		"Proxy-Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:password-8")),
		"Content-Type":        "application/json", "User-Agent": "x", "Anthropic-Version": "2023-06-01",
	} {
		r.Header.Set(name, value)
	}
	found := Secrets(r)
	require.Subset(t, found, []string{"key-of-query", "sub-1", "password-1", "key-1", "key-2", "key-3", "key-4", "key-5", "key-6", "cookie-7", "password-8"})
	for _, harmless := range []string{"sse", "application/json", "x", "2023-06-01"} {
		require.NotContains(t, found, harmless)
	}
}
