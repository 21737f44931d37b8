package cassette

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileThatIsWrongNamesWhatIs(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty":                         {``, "unexpected end of JSON input"},
		"not JSON":                      {`cassette`, "invalid character"},
		"trailing data":                 {`{"cassette": 2} 2`, "after top-level value"},
		"no version":                    {`{"interactions": []}`, `unsupported format 0 in field "cassette", want 2`},
		"later version":                 {`{"cassette": 3, "new": true}`, `unsupported format 3 in field "cassette", want 2`},
		"unknown key":                   {`{"cassette": 2, "tracks": []}`, `unknown field "tracks"`},
		"unknown key in an interaction": {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200}, {"verb": "GET"}]}`, `interaction 2: json: unknown field "verb"`},
		"null interaction":              {`{"cassette": 2, "interactions": [null]}`, "interaction 1: method is missing"},
		"invalid URL":                   {`{"cassette": 2, "interactions": [{"method": "GET", "url": "http://[", "status": 200}]}`, "missing ']' in host"},
		"two bodies":                    {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "request_json": 1, "request_raw": "x"}]}`, "both request_json and request_raw are set"},
		"neither status nor error":      {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/"}]}`, "neither status nor error is set"},
		"invalid status":                {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 99}]}`, "invalid status 99, want 200 to 599"},
		"chunk of another type":         {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "response_chunks": [1]}]}`, `invalid body, want a string or {"base64": "..."}`},
		"invalid base64":                {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "response_chunks": [{"base64": "?"}]}]}`, "illegal base64"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(test.text))
			require.ErrorContains(t, err, test.want)
			path := filepath.Join(t.TempDir(), "tape.json")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err = Open(path, Options{Mode: Replay})
			require.ErrorContains(t, err, "open cassette "+path+": ")
		})
	}
}

func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.json")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(maxFileSize+1))
	require.NoError(t, f.Close())
	_, err = Open(path, Options{Mode: Replay})
	require.ErrorContains(t, err, "size exceeds 67108864 bytes")
}

func TestAFileMayBeWrittenByHand(t *testing.T) {
	got, err := parse([]byte(`{"cassette": 2, "interactions": [{"method": "POST", "url": "/chat?b=1&a=2", "request_json": {"b": 1e0, "a": null},
		"status": 200, "response_header": {"content-type": ["text/plain"], "Content-Type": ["x"]}, "response_chunks": ["x", {"base64": "/w=="}]}]}`))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "/chat?a=2&b=1", got[0].URL)
	require.JSONEq(t, `{"a": null, "b": 1e0}`, string(got[0].RequestJSON))
	require.Equal(t, []string{"x", "text/plain"}, got[0].ResponseHeader.Values("Content-Type"))
	require.Equal(t, []chunk{chunk("x"), {0xff}}, got[0].ResponseChunks)
}

func TestSecretsAreReplacedAcrossPieces(t *testing.T) {
	var s scrubber
	s.addSecrets(1, "abcd", "cdef", "x")
	for name, test := range map[string]struct{ pieces, want []string }{
		"none":                    {[]string{"12", "34"}, []string{"12", "34"}},
		"within one":              {[]string{"1abcd2", "3"}, []string{"1SCRUBBED2", "3"}},
		"across two":              {[]string{"1ab", "cd2"}, []string{"1SCRUBBED", "2"}},
		"across many":             {[]string{"1a", "b", "", "c", "d2"}, []string{"1SCRUBBED", "2"}},
		"whole text":              {[]string{"ab", "cd"}, []string{"SCRUBBED"}},
		"several in one":          {[]string{"xabcdx"}, []string{"SCRUBBEDSCRUBBEDSCRUBBED"}},
		"overlapping":             {[]string{"1abcdef2"}, []string{"1SCRUBBED2"}},
		"overlapping, across two": {[]string{"1abc", "def2"}, []string{"1SCRUBBED", "2"}},
		"at the end of a piece":   {[]string{"1abcd", "2"}, []string{"1SCRUBBED", "2"}},
		"at a piece's beginning":  {[]string{"1", "abcd2"}, []string{"1", "SCRUBBED2"}},
		"incomplete":              {[]string{"1abc", "2"}, []string{"1abc", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			var pieces [][]byte
			for _, p := range test.pieces {
				pieces = append(pieces, []byte(p))
			}
			var got []string
			for _, p := range s.chunks(pieces) {
				got = append(got, string(p))
			}
			require.Equal(t, test.want, got)
		})
	}
}

// FuzzParse checks that every valid file has one canonical form, which parses to the same interactions.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cassette": 2, "interactions": []}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "POST", "url": "http://h:1/chat?b=1&a=%2f#x", "request_json": {"b": 1e0, "a": null},
		"status": 200, "response_header": {"content-type": ["text/plain"]}, "response_chunks": ["x", {"base64": "/w=="}], "error": "cut"}]}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "GET", "url": "a:b", "request_raw": "x", "error": "refused"}]}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "GET", "url": "a:b", "request_raw": "", "error": "refused"}]}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "GET", "url": "a:b", "request_raw": {"base64": ""}, "error": "refused"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := parse(data)
		if err != nil {
			return
		}
		text, err := encode(first)
		require.NoError(t, err)
		second, err := parse(text)
		require.NoError(t, err)
		again, err := encode(second)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		for n := range first {
			require.True(t, first[n].matches(second[n]))
			require.Zero(t, first[n].differences(second[n]).count)
		}
	})
}

// FuzzScrub checks that chunks removes the secret and keeps the rest, whatever the sizes of the pieces.
func FuzzScrub(f *testing.F) {
	f.Add([]byte("say abcd, abcd"), []byte("abcd"), byte(3))
	f.Add([]byte("aaaaa"), []byte("aa"), byte(1))
	f.Fuzz(func(t *testing.T, text, secret []byte, size byte) {
		if len(secret) == 0 || bytes.Contains([]byte(scrubbed+scrubbed), secret) || bytes.ContainsAny(secret, scrubbed) {
			return // the replacement itself may produce the secret
		}
		var s scrubber
		s.addSecrets(1, string(secret))
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		clean := bytes.Join(s.chunks(pieces), nil)
		require.NotContains(t, string(clean), string(secret))
		require.Equal(t, string(s.bytes(text)), string(clean), "the sizes of the pieces do not matter")
		if len(s.find(text)) == 0 {
			require.Equal(t, string(text), string(clean))
		}
	})
}
