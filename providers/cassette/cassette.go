// Package cassette records HTTP once and replays it offline, for tests of what calls models.
//
//	c, err := cassette.Open("testdata/chat.json", cassette.Options{})
//	...
//	t.Cleanup(func() { require.NoError(t, c.Close()) })
//	client := &http.Client{Transport: c}
//
// Run the test once with DEBATE_CASSETTE=record and a real key, read the file, and commit it. From then on the test
// runs without a network. DEBATE_CASSETTE=missing records only where there is no file yet.
//
// # Recording
//
// A cassette that records passes requests on and keeps what goes over the wire: method, URL and body of the request;
// status, body and some headers of the response: its type, how long to wait, the rate limits. The body of a stream is
// kept in the pieces in which it came, for as far as it was read. A call that failed is kept with the text of its error.
//
// # Secrets
//
// Headers of requests and cookies are never written. The values of Authorization, Proxy-Authorization, X-Api-Key,
// Api-Key, X-Goog-Api-Key and cookies, of a password in the URL and of query parameters such as key are replaced by
// SCRUBBED wherever else they occur, if they have at least 8 bytes; so is each of Options.Secrets, of whatever length.
// They are found as they are, and as JSON and URLs write them; not where a model spells them out over several events
// of a stream, and not where an error quotes a part of a key. So read the file before you commit it.
//
// # Replaying
//
// A request is answered by the first recorded one of the same method, path, query and body that was not replayed yet.
// The host does not count, nor do secrets. Bodies in JSON are compared as values: order and blanks do not count. What
// nothing answers is an error that shows the nearest recorded request and the first difference. Since clients like to
// hide such errors, Close returns them again, and says what was never asked for.
//
// Pieces come without the time that passed between them.
package cassette

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// Mode is what a cassette does.
type Mode string

// The modes.
const (
	Replay  Mode = "replay"  // answer from the file
	Record  Mode = "record"  // pass on, and write the file anew
	Missing Mode = "missing" // Record where there is no file, else Replay
)

// Variable is the environment variable that holds the mode of cassettes that are given none.
const Variable = "DEBATE_CASSETTE"

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
	replays   bool
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
	mode := cmp.Or(o.Mode, Mode(os.Getenv(Variable)), Replay)
	if mode == Missing {
		mode = Replay
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			mode = Record
		}
	}
	c := &Cassette{path: path, replays: mode == Replay, transport: o.Transport}
	if c.transport == nil {
		c.transport = http.DefaultTransport
	}
	c.scrubber.learn(1, o.Secrets...)
	switch mode {
	case Record:
		return c, nil
	case Replay:
		if err := c.load(); err != nil {
			return nil, fmt.Errorf("open cassette %s: %w", path, err)
		}
		return c, nil
	default:
		return nil, fmt.Errorf("open cassette %s: mode %q is unknown, use %s, %s or %s", path, mode, Replay, Record, Missing)
	}
}

func (c *Cassette) load() error {
	data, err := read(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it is not recorded yet, run once with %s=%s: %w", Variable, Record, err)
	}
	if err == nil {
		c.interactions, err = parse(data)
	}
	return err
}

// RoundTrip makes and records a call, or answers from what was recorded.
func (c *Cassette) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := send(req)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("call service: cassette %s is closed", c.path)
	case c.replays:
		return c.replay(req, sent)
	}
	return c.record(req, sent)
}

// Close writes what was recorded, whole or not at all. Where the cassette replays, it returns an error for each request
// that nothing answered, and one for all that was recorded but not asked for. Bodies of responses should be closed
// before. Only the first call of Close does anything.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.replays {
		return errors.Join(append(c.problems, c.unused())...)
	}
	if err := errors.Join(append(c.problems, c.save())...); err != nil {
		return fmt.Errorf("record cassette %s: %w", c.path, err)
	}
	return nil
}

// save writes the file.
func (c *Cassette) save() error {
	switch {
	case len(c.problems) > 0:
		return errors.New("nothing is written")
	case len(c.interactions) == 0:
		return errors.New("no call was made, nothing is written")
	}
	for _, i := range c.interactions {
		i.scrub(&c.scrubber)
	}
	data, err := encode(c.interactions)
	if err != nil {
		return err
	}
	if len(c.scrubber.find(data)) > 0 {
		return errors.New("a secret would stand in the file, nothing is written: is one an everyday word?")
	}
	return write(c.path, data)
}

// write replaces a file at once.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
