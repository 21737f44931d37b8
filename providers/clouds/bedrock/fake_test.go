package bedrock_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers/clouds/bedrock"
)

const (
	region  = "eu-central-1"
	model   = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	profile = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3d4e5f6"
)

var keys = aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", SessionToken: "IQoJb3JpZ2luX2VjEOr+session/token=="}

func signer() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return keys, nil })
}

// cloud is Amazon Bedrock: it checks the signature of a request, passes it on to a fake of Anthropic in that service's
// form, and returns the reply as an event stream of AWS.
type cloud struct {
	anthropic http.RoundTripper
	key       string            // a Bedrock API key that is accepted instead of a signature
	header    map[string]string // of a refusal
	exception map[string]string // the payloads of exceptions that end a stream, by type
	mu        sync.Mutex
	models    []string // of the requests
}

func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if problem := c.refuse(r, body); problem != "" {
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"X-Amzn-Errortype": {"InvalidSignatureException"}}, Body: io.NopCloser(strings.NewReader(`{"message": "` + problem + `"}`))}, nil
	}
	rest, streams := strings.CutSuffix(r.URL.EscapedPath(), "/invoke-with-response-stream")
	escaped, known := strings.CutPrefix(rest, "/model/")
	name, err := url.PathUnescape(escaped)
	var fields map[string]any
	if !streams || !known || err != nil || strings.ContainsAny(escaped, ":/+") || json.Unmarshal(body, &fields) != nil || fields["anthropic_version"] != "bedrock-2023-05-31" || fields["model"] != nil || fields["stream"] != nil {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"message": "Malformed input request"}`))}, nil
	}
	c.mu.Lock()
	c.models = append(c.models, name)
	c.mu.Unlock()
	delete(fields, "anthropic_version")
	fields["model"], fields["stream"] = name, true
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	inner, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://service/v1/messages", bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	inner.Header = r.Header.Clone()
	resp, err := c.anthropic.RoundTrip(inner)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		for name, value := range c.header {
			resp.Header.Set(name, value)
		}
		return resp, nil
	}
	lines := resp.Body
	read, write := io.Pipe()
	resp.Header.Set("Content-Type", "application/vnd.amazon.eventstream")
	resp.Body = struct {
		io.Reader
		io.Closer
	}{read, closers{read, lines}}
	go c.stream(lines, write)
	return resp, nil
}

// closers closes several readers.
type closers []io.Closer

func (c closers) Close() error {
	for _, one := range c {
		_ = one.Close()
	}
	return nil
}

// stream writes the events of Anthropic as messages.
func (c *cloud) stream(from io.Reader, to *io.PipeWriter) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "data:"); ok {
			payload, _ := json.Marshal(map[string]any{"bytes": []byte(strings.TrimSpace(data)), "p": "abcdefgh"}) // always encodes
			if send(to, payload, ":message-type", "event", ":event-type", "chunk", ":content-type", "application/json") != nil {
				return
			}
		}
		if err != nil && len(c.exception) > 0 {
			err = io.EOF
		}
		if err != nil {
			for name, payload := range c.exception {
				_ = send(to, []byte(payload), ":message-type", "exception", ":exception-type", name)
			}
			_ = to.CloseWithError(err) // io.EOF is the normal end
			return
		}
	}
}

// send writes a message in pieces.
func send(to io.Writer, payload []byte, headers ...string) error {
	m := eventstream.Message{Payload: payload}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var raw bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&raw, m); err != nil {
		return err
	}
	for raw.Len() > 0 {
		if _, err := to.Write(raw.Next(max(7, len(payload)/50))); err != nil {
			return err
		}
	}
	return nil
}

// refuse returns what is wrong with the signature of a request, or "". It computes the signature from the request as it
// arrived. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (c *cloud) refuse(r *http.Request, body []byte) string {
	given := r.Header.Get("Authorization")
	if c.key != "" {
		if given != "Bearer "+c.key {
			return "the key is wrong"
		}
		return ""
	}
	var scope, names, signature string
	for part := range strings.SplitSeq(strings.TrimPrefix(given, "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "Credential":
			scope = value
		case "SignedHeaders":
			names = value
		case "Signature":
			signature = value
		}
	}
	date := r.Header.Get("X-Amz-Date")
	if len(date) < 8 {
		return "there is no date"
	}
	day := date[:8]
	scope, ok := strings.CutPrefix(scope, keys.AccessKeyID+"/")
	switch {
	case !ok || scope != day+"/"+region+"/bedrock/aws4_request":
		return "the scope is wrong"
	case r.Header.Get("X-Amz-Security-Token") != keys.SessionToken:
		return "the token is wrong"
	case !strings.Contains(";"+names+";", ";host;") || !strings.Contains(names, "x-amz-date") || !strings.Contains(names, "x-amz-security-token"):
		return "headers are not signed: " + names
	case r.Header.Get("X-Api-Key") != "":
		return "there is a key of Anthropic"
	}
	var headers strings.Builder
	for name := range strings.SplitSeq(names, ";") {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	canonical := strings.Join([]string{r.Method, strings.Join(segments, "/"), r.URL.RawQuery, headers.String(), names, digest(body)}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, digest([]byte(canonical))}, "\n")
	key := []byte("AWS4" + keys.SecretAccessKey)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	if want := hex.EncodeToString(mac(key, toSign)); signature != want {
		return "The request signature we calculated does not match the signature you provided: " + given
	}
	return ""
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text)
	return h.Sum(nil)
}

// start returns a provider of a fake service that sends the replies.
func start(t *testing.T, c bedrock.Config, replies ...fakellm.Reply) (*bedrock.Provider, *cloud, *fakellm.Server) {
	t.Helper()
	s := fakellm.Start(t, fakellm.Anthropic, replies...)
	service := &cloud{anthropic: s.Client(t).Transport, key: c.Key}
	if c.Key == "" && c.Credentials == nil {
		c.Credentials = signer()
	}
	if c.Model == "" {
		c.Model = model
	}
	c.Region, c.HTTPClient = region, &http.Client{Transport: service}
	p, err := bedrock.New(c)
	require.NoError(t, err)
	return p, service, s
}
