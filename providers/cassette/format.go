package cassette

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// formatVersion is the version of files that is read and written.
const formatVersion = 2

// The largest body and the largest file, in bytes.
const (
	maxBodySize = 16 << 20
	maxFileSize = 64 << 20
)

// interaction is a request with its response.
type interaction struct {
	Method         string          `json:"method"`
	URL            string          `json:"url"`
	RequestJSON    json.RawMessage `json:"request_json,omitempty"` // its body, in JSON
	RequestRaw     chunk           `json:"request_raw,omitempty"`  // its body, if that is not JSON
	Status         int             `json:"status,omitempty"`       // 0: the call failed before there was a response
	ResponseHeader http.Header     `json:"response_header,omitempty"`
	ResponseChunks []chunk         `json:"response_chunks,omitempty"`
	Error          string          `json:"error,omitempty"` // that ended the call or the body; empty: the body is whole

	replayed bool
}

// setRequestBody takes a scrubbed body as that of the request.
func (i *interaction) setRequestBody(b []byte) {
	i.RequestRaw, i.RequestJSON = nil, nil
	if len(b) == 0 {
		return
	}
	text, err := canonicalJSON(b)
	if err != nil {
		i.RequestRaw = b
		return
	}
	i.RequestJSON = text
}

// chunk is some bytes, in JSON a string, or {"base64": "..."} where they are no UTF-8.
type chunk []byte

type binary struct {
	Base64 string `json:"base64"`
}

func (p chunk) MarshalJSON() ([]byte, error) {
	if utf8.Valid(p) {
		return marshal(string(p))
	}
	return marshal(binary{base64.StdEncoding.EncodeToString(p)})
}

func (p *chunk) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = chunk(text)
		return nil
	}
	var b binary
	if err := decodeStrict(data, &b); err != nil {
		return errors.New(`a body is a string, or {"base64": "..."}`)
	}
	decoded, err := base64.StdEncoding.DecodeString(b.Base64)
	*p = decoded
	return err
}

// marshal is the JSON of v that is best to read: '<', '>' and '&' as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// decodeStrict decodes one JSON value that has nothing unknown in it and nothing behind it.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end")
	}
	return nil
}

// read is the content of a file of bearable size.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.Size() > maxFileSize {
		return nil, tooLarge(maxFileSize)
	}
	return readLimited(f, maxFileSize)
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

// readLimited reads up to so many bytes, of which there must not be more.
func readLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, tooLarge(most)
	}
	return data, err
}

func tooLarge(most int64) error { return fmt.Errorf("it has more than %d bytes", most) }

func encode(interactions []*interaction) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Cassette     int            `json:"cassette"`
		Interactions []*interaction `json:"interactions"`
	}{formatVersion, interactions})
	if b.Len() > maxFileSize {
		return nil, tooLarge(maxFileSize)
	}
	return b.Bytes(), err
}

// parse reads the content of a file.
func parse(data []byte) ([]*interaction, error) {
	var version struct{ Cassette int }
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Cassette != formatVersion {
		return nil, fmt.Errorf(`format %d ("cassette"), want %d`, version.Cassette, formatVersion)
	}
	var file struct {
		Cassette     int
		Interactions []json.RawMessage
	}
	if err := decodeStrict(data, &file); err != nil {
		return nil, err
	}
	interactions := make([]*interaction, len(file.Interactions))
	for n, text := range file.Interactions {
		i := &interaction{}
		err := decodeStrict(text, i)
		if err == nil {
			err = i.check()
		}
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", n+1, err)
		}
		interactions[n] = i
	}
	return interactions, nil
}

// check says what is wrong with an interaction, and brings it into the form that requests are compared in.
func (i *interaction) check() error {
	u, err := url.Parse(i.URL)
	switch {
	case err != nil:
		return err
	case i.Method == "":
		return errors.New("it has no method")
	case i.RequestJSON != nil && i.RequestRaw != nil:
		return errors.New("it has both request_json and request_raw")
	case i.Status == 0 && i.Error == "":
		return errors.New("it has neither status nor error")
	case i.Status != 0 && (i.Status < 200 || i.Status > 599):
		return fmt.Errorf("status %d, want one from 200 to 599", i.Status)
	}
	i.URL = canonicalURL(u)
	if i.RequestJSON != nil {
		i.RequestJSON, err = canonicalJSON(i.RequestJSON)
	}
	header := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(i.ResponseHeader)) {
		for _, v := range i.ResponseHeader[name] {
			header.Add(name, v)
		}
	}
	i.ResponseHeader = header
	return err
}

// canonicalURL is a URL with its query in order.
func canonicalURL(u *url.URL) string {
	t := *u
	t.RawQuery, t.Fragment, t.RawFragment, t.ForceQuery = t.Query().Encode(), "", "", false
	return t.String()
}

// pathAndQuery is what counts of a tidy URL.
func pathAndQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimSuffix(u.EscapedPath()+"?"+u.RawQuery, "?")
}

// canonicalJSON is the one form of a JSON value: keys in order, without blanks, numbers as they were written.
func canonicalJSON(text []byte) (json.RawMessage, error) {
	v, err := decodeValue(text)
	if err != nil {
		return nil, err
	}
	return marshal(v)
}

func decodeValue(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the end")
	}
	return v, nil
}

// matches says whether two requests are the matches.
func (i *interaction) matches(j *interaction) bool {
	return i.Method == j.Method && pathAndQuery(i.URL) == pathAndQuery(j.URL) &&
		bytes.Equal(i.RequestJSON, j.RequestJSON) && bytes.Equal(i.RequestRaw, j.RequestRaw)
}

// streams says whether the pieces of the response's body matter.
func (i *interaction) streams() bool {
	kind := i.ResponseHeader.Get("Content-Type")
	return slices.ContainsFunc([]string{"event-stream", "ndjson", "json-seq", "jsonl"}, func(s string) bool {
		return strings.Contains(kind, s)
	})
}
