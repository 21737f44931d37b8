// Package cassette records HTTP calls once and replays them offline, for tests of code that calls models.
//
//	c, err := cassette.Open("testdata/chat.json", cassette.Options{})
//	require.NoError(t, err)
//	t.Cleanup(func() { require.NoError(t, c.Close()) })
//	client := &http.Client{Transport: c}
//
// Run the test once with DEBATE_CASSETTE=record and a real key, read the file, and commit it. After that the test runs
// without a network. DEBATE_CASSETTE=once records only if the file does not exist yet.
//
// # Recording
//
// While it records, a cassette passes requests on and stores what goes over the wire: method, URL and body of the
// request; status, body and some headers of the response, which are the content type, the retry delay and the rate
// limits. It stores the body of a stream in the chunks in which it arrived, as far as it was read. For a failed call it
// stores the text of the error.
//
// # Secrets
//
// A cassette never stores request headers or cookies. It replaces the following values by SCRUBBED wherever else they
// occur, if they have at least 8 bytes: the values of Authorization, Proxy-Authorization, X-Api-Key, Api-Key,
// X-Goog-Api-Key and cookies, a password in the URL, and query parameters such as key. It also replaces each of
// [Options.Secrets], of any length. It finds secrets as they are and as they are written in JSON and URLs. It does not
// find a secret that a model spells out over several events of a stream, or a part of a key that an error quotes. So
// read the file before you commit it.
//
// # Replaying
//
// A request is answered by the first recorded request with the same method, path, query and body that was not replayed
// yet. Hosts and secrets are not compared. JSON bodies are compared as values, so that order and white space do not
// matter. A request that nothing answers is an error that shows the nearest recorded request and the first difference.
// Clients often hide such errors, so [Cassette.Close] returns them again, and lists what was recorded but not
// requested.
//
// Replayed chunks arrive without the delays between them.
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

// Mode is what a cassette does.
type Mode string

// The modes.
const (
	Replay     Mode = "replay" // answer from the file
	Record     Mode = "record" // pass on, and write the file anew
	RecordOnce Mode = "once"   // Record where there is no file, else Replay
)

// EnvVar is the environment variable that holds the mode of cassettes that are given none.
const EnvVar = "DEBATE_CASSETTE"

// Options are how a cassette is opened.
type Options struct {
	// Mode defaults to what Variable says, else to Replay.
	Mode Mode
	// Transport makes the calls that are recorded. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Secrets are never written, besides those that the package comment names. Empty ones are ignored.
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
	problems     []error // what Close reports
	closed       bool
}

// Open is the cassette that is kept in a file. Where it replays the file is read now; where it records the file is
// written by Close.
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
		return nil, fmt.Errorf("open cassette %s: mode %q is unknown, use %s, %s or %s", path, mode, Replay, Record, RecordOnce)
	}
}

func (c *Cassette) load() error {
	data, err := read(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it is not recorded yet, run once with %s=%s: %w", EnvVar, Record, err)
	}
	if err == nil {
		c.interactions, err = parse(data)
	}
	return err
}
