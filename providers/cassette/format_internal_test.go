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
		"empty":               {``, "unexpected end of JSON input"},
		"no JSON":             {`cassette`, "invalid character"},
		"something behind":    {`{"cassette": 2} 2`, "after top-level value"},
		"no version":          {`{"interactions": []}`, `format 0 ("cassette"), want 2`},
		"a later version":     {`{"cassette": 3, "new": true}`, `format 3 ("cassette"), want 2`},
		"an unknown key":      {`{"cassette": 2, "tracks": []}`, `unknown field "tracks"`},
		"an unknown key in":   {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200}, {"verb": "GET"}]}`, `interaction 2: json: unknown field "verb"`},
		"no interaction":      {`{"cassette": 2, "interactions": [null]}`, "interaction 1: it has no method"},
		"a bad URL":           {`{"cassette": 2, "interactions": [{"method": "GET", "url": "http://[", "status": 200}]}`, "missing ']' in host"},
		"two bodies":          {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "request_json": 1, "request_raw": "x"}]}`, "it has both request_json and request_raw"},
		"no outcome":          {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/"}]}`, "it has neither status nor error"},
		"no possible outcome": {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 99}]}`, "status 99, want one from 200 to 599"},
		"a piece of no kind":  {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "response_chunks": [1]}]}`, `a body is a string, or {"base64": "..."}`},
		"a piece of no code":  {`{"cassette": 2, "interactions": [{"method": "GET", "url": "/", "status": 200, "response_chunks": [{"base64": "?"}]}]}`, "illegal base64"},
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
	require.ErrorContains(t, err, "it has more than 67108864 bytes")
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
		"none":                   {[]string{"12", "34"}, []string{"12", "34"}},
		"within one":             {[]string{"1abcd2", "3"}, []string{"1SCRUBBED2", "3"}},
		"over two":               {[]string{"1ab", "cd2"}, []string{"1SCRUBBED", "2"}},
		"over many, some whole":  {[]string{"1a", "b", "", "c", "d2"}, []string{"1SCRUBBED", "2"}},
		"all of it":              {[]string{"ab", "cd"}, []string{"SCRUBBED"}},
		"several in one":         {[]string{"xabcdx"}, []string{"SCRUBBEDSCRUBBEDSCRUBBED"}},
		"overlapping":            {[]string{"1abcdef2"}, []string{"1SCRUBBED2"}},
		"overlapping, over two":  {[]string{"1abc", "def2"}, []string{"1SCRUBBED", "2"}},
		"at the end of a piece":  {[]string{"1abcd", "2"}, []string{"1SCRUBBED", "2"}},
		"at a piece's beginning": {[]string{"1", "abcd2"}, []string{"1", "SCRUBBED2"}},
		"one begun only":         {[]string{"1abc", "2"}, []string{"1abc", "2"}},
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

// A file that can be read is written in one form, which is read as the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"cassette": 2, "interactions": []}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "POST", "url": "http://h:1/chat?b=1&a=%2f#x", "request_json": {"b": 1e0, "a": null},
		"status": 200, "response_header": {"content-type": ["text/plain"]}, "response_chunks": ["x", {"base64": "/w=="}], "error": "cut"}]}`))
	f.Add([]byte(`{"cassette": 2, "interactions": [{"method": "GET", "url": "a:b", "request_raw": "x", "error": "refused"}]}`))
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

// Whatever the pieces and the secret are, the secret is in none of them afterwards, and the rest is.
func FuzzScrub(f *testing.F) {
	f.Add([]byte("say abcd, abcd"), []byte("abcd"), byte(3))
	f.Add([]byte("aaaaa"), []byte("aa"), byte(1))
	f.Fuzz(func(t *testing.T, text, secret []byte, size byte) {
		if len(secret) == 0 || bytes.Contains([]byte(scrubbed+scrubbed), secret) || bytes.ContainsAny(secret, scrubbed) {
			return // it may come about by the replacement itself
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
		require.Equal(t, string(s.bytes(text)), string(clean), "where it is cut does not matter")
		if len(s.find(text)) == 0 {
			require.Equal(t, string(text), string(clean))
		}
	})
}
