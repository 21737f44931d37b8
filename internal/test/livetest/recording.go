package livetest

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// recording records calls, or replays them, and counts them.
type recording struct {
	*recorder.Recorder
	calls atomic.Int64
}

// newRecording returns a recording in the file with the given path and the ending ".yaml".
func newRecording(t *testing.T, path string, mode recorder.Mode) *recording {
	r, err := recorder.New(recorder.WithCassette(path), recorder.WithMode(mode), recorder.WithMatcher(isSame),
		recorder.WithHook(scrub, recorder.BeforeSaveHook), recorder.WithSkipRequestLatency(true))
	require.NoError(t, err)
	return &recording{Recorder: r}
}

// RoundTrip makes a call.
func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	r.calls.Add(1)
	return r.Recorder.RoundTrip(req)
}

// isSame reports whether a request is the recorded one. It does not compare headers, which are not recorded.
func isSame(r *http.Request, i cassette.Request) bool {
	var body []byte
	if r.Body != nil {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		body = read
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r.Method == i.Method && r.URL.String() == i.URL && string(body) == i.Body
}

// secretHeader matches the names of headers with keys.
var secretHeader = regexp.MustCompile(`(?i)auth|key|token|cookie`)

// scrub removes keys before a call is stored: all headers but the type of the response, and the values of headers with keys
// wherever else they stand.
func scrub(i *cassette.Interaction) error {
	var secrets []string
	for name, values := range i.Request.Headers {
		for _, v := range values {
			if secretHeader.MatchString(name) {
				key := v[strings.LastIndexByte(v, ' ')+1:] // behind "Bearer"
				secrets = append(secrets, key, "SCRUBBED")
			}
		}
	}
	clean := strings.NewReplacer(secrets...)
	i.Request.URL = clean.Replace(i.Request.URL)
	i.Request.Body = clean.Replace(i.Request.Body)
	i.Response.Body = clean.Replace(i.Response.Body)
	i.Request.Headers = nil
	i.Request.Form = nil
	i.Response.Headers = http.Header{"Content-Type": i.Response.Headers["Content-Type"]}
	return nil
}
