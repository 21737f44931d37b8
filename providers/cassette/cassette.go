// Package cassette records HTTP calls once and replays them offline, for tests of code that calls models.
//
//	c, err := cassette.Open("testdata/chat.json", cassette.Options{})
//	require.NoError(t, err)
//	t.Cleanup(func() { require.NoError(t, c.Close()) })
//	client := &http.Client{Transport: c}
//
// Run the test once with DEBATE_CASSETTE=record and a real key, read the file, and commit it. After that, the test runs
// without a network. With DEBATE_CASSETTE=once, a cassette records only if the file does not exist yet.
//
// # Recording
//
// A recording cassette forwards each request and stores its method, URL and body. Of the response, it stores the
// status, the body, and the headers for content type, retry delay and rate limits. It stores the body of a stream as
// the chunks in which it arrived, up to the point where the client stopped reading. For a failed call, it stores the
// text of the error.
//
// # Secrets
//
// A cassette never stores request headers or cookies. It replaces the following values with SCRUBBED wherever else they
// occur, if they have at least 8 bytes: the values of all headers that are not known to be harmless, such as Content-Type,
// the values of cookies, a password in the URL, and query parameters such as key. It also replaces each of
// [Options.Secrets], regardless of length. It finds secrets in plain form and in their JSON, HTML and URL encodings. It does
// not find a secret that is split across several events of a stream, or part of a key that an error quotes. Read the
// file before you commit it.
//
// # Replaying
//
// A replaying cassette answers a request with the first recorded response that was not replayed yet and whose request
// has the same method, path, query and body. Hosts and secrets are not compared. JSON bodies are compared as values:
// the order of fields and white space do not matter. If nothing matches, the request fails with an error that shows the
// nearest recorded request and the first difference. Clients often hide such errors, so [Cassette.Close] returns them
// again. Close also lists the recorded requests that were not made.
//
// Replayed chunks arrive without the recorded delays.
package cassette

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
)

// Mode selects whether a cassette records or replays.
type Mode string

// The modes.
const (
	Replay     Mode = "replay" // answer requests from the file
	Record     Mode = "record" // forward requests, and replace the file
	RecordOnce Mode = "once"   // Record if there is no file, Replay otherwise
)

// EnvVar names the environment variable with the mode of cassettes whose options have no mode.
const EnvVar = "DEBATE_CASSETTE"

// Options configure a cassette.
type Options struct {
	// Mode defaults to the value of the environment variable EnvVar, and to Replay if that is not set.
	Mode Mode
	// Transport sends the requests while the cassette records. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Secrets lists values that are never written, in addition to the values that the package comment names. Empty
	// strings are ignored.
	Secrets []string
}

// Cassette is an http.RoundTripper that records or replays. It is safe for concurrent use.
type Cassette struct {
	path      string
	replaying bool
	transport http.RoundTripper

	mu           sync.Mutex
	scrubber     scrubber
	interactions []*interaction
	problems     []error // the errors that Close returns
	closed       bool
}

// Open returns a cassette for the file at path. A replaying cassette reads the file now; a recording one writes it in
// Close.
func Open(path string, o Options) (*Cassette, error) {
	mode := cmp.Or(o.Mode, Mode(os.Getenv(EnvVar)), Replay)
	if mode == RecordOnce {
		mode = Replay
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			mode = Record
		}
	}
	c := &Cassette{path: path, replaying: mode == Replay, transport: o.Transport}
	if c.transport == nil {
		c.transport = http.DefaultTransport
	}
	c.scrubber.addSecrets(1, o.Secrets...)
	switch mode {
	case Record:
		return c, nil
	case Replay:
		if err := c.load(); err != nil {
			return nil, fmt.Errorf("open cassette %s: %w", path, err)
		}
		return c, nil
	default:
		return nil, fmt.Errorf("open cassette %s: unknown mode %q, want %s, %s or %s", path, mode, Replay, Record, RecordOnce)
	}
}

func (c *Cassette) load() error {
	data, err := read(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no recording, run once with %s=%s: %w", EnvVar, Record, err)
	}
	if err == nil {
		c.interactions, err = parse(data)
	}
	return err
}
