package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/cloud"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// transport changes requests of package anthropic to Bedrock's form, and Bedrock's responses to Anthropic's form.
type transport struct {
	next        http.RoundTripper
	region      string
	credentials aws.CredentialsProvider // nil if requests have a key
	signer      *v4.Signer
}

const (
	keyHeader = "X-Api-Key"
	service   = "bedrock" // in signatures
)

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := cloud.Read(r)
	if err != nil {
		return nil, err
	}
	base, _ := cloud.Below(r, "/messages")
	sent, err := cloud.Request(r, base+"/model/"+escape(body.Take("model"))+"/invoke-with-response-stream", body)
	if err != nil {
		return nil, err
	}
	if err := t.signIn(sent); err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	resp.Request = sent // so that errors do not show its keys
	translate(resp)
	return resp, nil
}

// escape escapes a model in a path, as the AWS SDKs do: all characters but letters, digits, hyphens, dots, underscores and tildes.
func escape(model string) string { return strings.ReplaceAll(url.QueryEscape(model), "+", "%20") }

// signIn signs a request, or sends its key as Bedrock wants it.
func (t *transport) signIn(r *http.Request) error {
	key := r.Header.Get(keyHeader)
	r.Header.Del(keyHeader)
	r.Header.Del("Anthropic-Version") // in the body
	r.Header.Set("Accept", "application/vnd.amazon.eventstream")
	if t.credentials == nil {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	c, err := t.credentials.Retrieve(r.Context())
	if err != nil {
		return &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("get credentials: %w", fault.RedactError(err, nil))}
	}
	raw, err := r.GetBody()
	if err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, raw); err != nil {
		return err
	}
	if err := t.signer.SignHTTP(r.Context(), c, r, hex.EncodeToString(hash.Sum(nil)), service, t.region, time.Now()); err != nil {
		return &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("sign request: %w", fault.RedactError(err, nil))}
	}
	return nil
}

// translate changes a response to Anthropic's form.
func translate(resp *http.Response) {
	kind, _, _ := strings.Cut(resp.Header.Get("X-Amzn-Errortype"), ":") // a URL may follow
	switch {
	case resp.StatusCode >= http.StatusBadRequest && kind != "":
		resp.Body = &failure{body: resp.Body, kind: kind}
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "application/vnd.amazon.eventstream"):
		resp.Header.Set("Content-Type", "text/event-stream")
		resp.Body = newEvents(resp.Body)
	default:
		return
	}
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
}
