// Package servicetest has the errors that services send. testdata/errors.json lists them.
package servicetest

import (
	_ "embed" // errors.json
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// Case is an error as a service sends it.
type Case struct {
	Service    fakellm.Protocol    `json:"service"`
	Status     int                 `json:"status"` // 200 means that the error is an event of a stream
	Kind       providers.ErrorKind `json:"kind"`
	Guess      providers.ErrorKind `json:"guess"`       // the kind if a shorter prompt fails too; empty if the kind is certain
	Sent       int                 `json:"sent"`        // the size of the prompt in bytes; 0 means a short one
	RetryAfter string              `json:"retry_after"` // such as 1m30s
	Says       string              `json:"says"`        // words that the error has
	Partial    *string             `json:"partial"`     // what has arrived of the reply; nil if the test does not look
	Header     map[string]string   `json:"header"`      // of the response
	Source     string              `json:"source"`      // where the error was seen; parts that were not seen are unverified
	Body       json.RawMessage     `json:"body"`        // JSON, or a JSON string with another text
	Lines      []string            `json:"lines"`       // of a stream, instead of Body
}

//go:embed testdata/errors.json
var errorsOfServices []byte

// Load returns all cases.
func Load(t testing.TB) (cases []Case) {
	t.Helper()
	require.NoError(t, json.Unmarshal(errorsOfServices, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// Require requires that a provider of a service that sends c.Reply reports the error.
func (c Case) Require(t *testing.T, p providers.Provider) *providers.Error {
	t.Helper()
	r := calltest.Listen(new([]string))
	r.Messages[0].Text += strings.Repeat("Why? ", c.Sent/5)
	want, err := time.ParseDuration("0" + c.RetryAfter)
	require.NoError(t, err)
	_, err = p.Generate(t.Context(), r)
	e := calltest.RequireKind(t, c.Kind, err)
	require.Equal(t, c.Guess, e.Otherwise)
	require.Equal(t, want, e.RetryAfter)
	require.ErrorContains(t, err, c.Says)
	return e
}

// InStream reports whether the error is an event of a stream.
func (c Case) InStream() bool { return c.Status == http.StatusOK }

// Text returns the body.
func (c Case) Text() string {
	var text string
	if json.Unmarshal(c.Body, &text) == nil {
		return text
	}
	return strings.ReplaceAll(string(c.Body), "\n", " ")
}

// Reply returns the reply with the error.
func (c Case) Reply() fakellm.Reply {
	switch {
	case c.Lines != nil:
		return fakellm.Reply{RawLines: append(slices.Clone(c.Lines), ""), Header: c.Header}
	case !c.InStream():
		return fakellm.Reply{Status: c.Status, Header: c.Header, Body: c.Text()}
	}
	event := c.Text()
	if c.Service != fakellm.Ollama {
		event = "data: " + event + "\n\n"
	}
	return fakellm.Reply{Chunks: []string{"So "}, RawLines: []string{event}, Header: c.Header}
}
