package vertex_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/elenchus-go/debate/providers/clouds/vertex"
)

const (
	project  = "debates-1"
	location = "europe-west4"
	token    = "ya29.c0ASRK0-a-token-that-nobody-sees"
	account  = "debates@debates-1.iam.gserviceaccount.com"
	tokenURL = "https://oauth2.example/token"
)

var accountKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// signInService is Google's token endpoint.
type signInService struct {
	mu      sync.Mutex
	n       int    // the number of requests
	status  int    // of a refusal, if not 0
	body    string // of a refusal
	expires int    // of tokens, in seconds
}

// RoundTrip returns a token if the assertion of a service account is signed and complete.
func (s *signInService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	respond := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if s.status != 0 {
		return respond(s.status, s.body)
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil || r.URL.String() != tokenURL || !assertionIsGood(form.Get("assertion")) {
		return respond(http.StatusBadRequest, `{"error": "invalid_grant"}`)
	}
	return respond(http.StatusOK, fmt.Sprintf(`{"access_token": %q, "token_type": "Bearer", "expires_in": %d}`, token, s.expires))
}

func assertionIsGood(assertion string) bool {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return false
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	signature, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	var c struct{ Iss, Scope, Aud string }
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return err == nil && err2 == nil && json.Unmarshal(claims, &c) == nil && c.Iss == account && c.Scope == vertex.Scope && c.Aud == tokenURL &&
		rsa.VerifyPKCS1v15(&accountKey().PublicKey, crypto.SHA256, sum[:], signature) == nil
}

// signIn returns the token source of a service account.
func signIn(t testing.TB, s *signInService) oauth2.TokenSource {
	t.Helper()
	if s.expires == 0 {
		s.expires = 3600
	}
	der, err := x509.MarshalPKCS8PrivateKey(accountKey())
	require.NoError(t, err)
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": account, "private_key_id": "1", "token_uri": tokenURL,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	c, err := google.JWTConfigFromJSON(file, vertex.Scope)
	require.NoError(t, err)
	return c.TokenSource(context.WithValue(context.WithoutCancel(t.Context()), oauth2.HTTPClient, &http.Client{Transport: s}))
}

// cloud is Vertex AI: it checks the token and the address of a request, and passes it on to a fake of Anthropic or of
// the Gemini API in that service's form.
type cloud struct {
	inner http.RoundTripper
	mu    sync.Mutex
	host  string   // of the last request
	paths []string // of the requests
}

func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	respond := func(status int, message string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"error": {"code": %d, "message": %q}}`, status, message))), Request: r}, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.host, c.paths = r.Host, append(c.paths, r.URL.Path)
	c.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token || r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key") != "" {
		return respond(http.StatusUnauthorized, "Request had invalid authentication credentials.")
	}
	rest, known := strings.CutPrefix(r.URL.Path, "/v1/projects/"+project+"/locations/"+location+"/")
	rest, method, _ := strings.Cut(rest, ":")
	model, isAnthropic := strings.CutPrefix(rest, "publishers/anthropic/models/")
	address := ""
	switch {
	case !known || r.Method != http.MethodPost:
	case isAnthropic && method == "streamRawPredict":
		var fields map[string]any
		if json.Unmarshal(body, &fields) != nil || fields["anthropic_version"] != "vertex-2023-10-16" || fields["model"] != nil || fields["stream"] != true {
			return respond(http.StatusBadRequest, "the body is wrong")
		}
		delete(fields, "anthropic_version")
		fields["model"] = model
		body, err = json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		address = "http://service/v1/messages"
	case method == "streamGenerateContent" && r.URL.RawQuery == "alt=sse":
		address = "http://service/v1beta/models/" + rest[strings.LastIndex(rest, "/")+1:] + ":streamGenerateContent?alt=sse"
	case method == "countTokens" && strings.HasSuffix(rest, "/gemini-2.5-flash"):
		return respond(http.StatusOK, "")
	}
	if address == "" {
		return respond(http.StatusNotFound, "Publisher Model was not found")
	}
	inner, err := http.NewRequestWithContext(r.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	inner.Header = r.Header.Clone()
	return c.inner.RoundTrip(inner)
}
