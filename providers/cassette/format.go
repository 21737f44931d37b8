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

// formatVersion is the version of the file format. Files of other versions are refused.
const formatVersion = 2

// The size limits of a body and of a file, in bytes.
const (
	maxBodySize = 16 << 20
	maxFileSize = 64 << 20
)

// interaction is a request with its response.
type interaction struct {
	Method         string          `json:"method"`
	URL            string          `json:"url"`
	RequestJSON    json.RawMessage `json:"request_json,omitempty"` // the request's body, if it is JSON
	RequestRaw     chunk           `json:"request_raw,omitempty"`  // the request's body, if it is not JSON
	Status         int             `json:"status,omitempty"`       // 0 if the call failed before a response arrived
	ResponseHeader http.Header     `json:"response_header,omitempty"`
	ResponseChunks []chunk         `json:"response_chunks,omitempty"`
	Error          string          `json:"error,omitempty"` // the error of the call or body; empty if the body is complete

	replayed bool
}

// setRequestBody sets the request's body to b, which must be scrubbed already.
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

// chunk is a sequence of bytes, nil if there are none. In JSON it is a string, or {"base64": "..."} if the bytes are not
// valid UTF-8.
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
	*p = nil
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = append(*p, text...)
		return nil
	}
	var b binary
	if err := decodeStrict(data, &b); err != nil {
		return errors.New(`invalid body, want a string or {"base64": "..."}`)
	}
	decoded, err := base64.StdEncoding.DecodeString(b.Base64)
	*p = append(*p, decoded...)
	return err
}

// marshal encodes v as JSON. For readability, it does not escape '<', '>' and '&'.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// decodeStrict decodes one JSON value. It refuses unknown fields and trailing data.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the JSON value")
	}
	return nil
}

// read returns the content of a file. It refuses files larger than maxFileSize.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if info, err := f.Stat(); err == nil && info.Size() > maxFileSize {
		return nil, tooLarge(maxFileSize)
	}
	return readLimited(f, maxFileSize)
}

// write replaces a file atomically.
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

// readLimited reads r to its end. It returns an error if r has more than most bytes.
func readLimited(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, tooLarge(most)
	}
	return data, err
}

func tooLarge(most int64) error { return fmt.Errorf("size exceeds %d bytes", most) }

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
		return nil, fmt.Errorf(`unsupported format %d in field "cassette", want %d`, version.Cassette, formatVersion)
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

// check validates an interaction and normalizes its URL, body and headers for comparison.
func (i *interaction) check() error {
	u, err := url.Parse(i.URL)
	switch {
	case err != nil:
		return err
	case i.Method == "":
		return errors.New("method is missing")
	case i.RequestJSON != nil && i.RequestRaw != nil:
		return errors.New("both request_json and request_raw are set")
	case i.Status == 0 && i.Error == "":
		return errors.New("neither status nor error is set")
	case i.Status != 0 && (i.Status < 200 || i.Status > 599):
		return fmt.Errorf("invalid status %d, want 200 to 599", i.Status)
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

// canonicalURL returns u as text with a sorted query and without the fragment.
func canonicalURL(u *url.URL) string {
	t := *u
	t.RawQuery, t.Fragment, t.RawFragment, t.ForceQuery = t.Query().Encode(), "", "", false
	return t.String()
}

// pathAndQuery returns the part of a canonical URL that requests are compared by.
func pathAndQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimSuffix(u.EscapedPath()+"?"+u.RawQuery, "?")
}

// canonicalJSON returns a JSON value with sorted keys and without white space. Numbers stay as they were written.
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
		return nil, errors.New("unexpected data after the JSON value")
	}
	return v, nil
}

// matches reports whether two requests have the same method, path, query and body.
func (i *interaction) matches(j *interaction) bool {
	return i.Method == j.Method && pathAndQuery(i.URL) == pathAndQuery(j.URL) &&
		bytes.Equal(i.RequestJSON, j.RequestJSON) && bytes.Equal(i.RequestRaw, j.RequestRaw)
}

// streams reports whether the response is a stream, so that its chunks are kept apart.
func (i *interaction) streams() bool {
	kind := i.ResponseHeader.Get("Content-Type")
	return slices.ContainsFunc([]string{"event-stream", "ndjson", "json-seq", "jsonl"}, func(s string) bool {
		return strings.Contains(kind, s)
	})
}
