package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`:                  "plain",
		`"\"\\\/\b\f\n\r\t\u0041"`: "\"\\/\b\f\n\r\tA",
		`"\ud83e\udd89 owl"`:       "🦉 owl",
		`"\ud83e alone"`:           "\uFFFD alone",
		`"\udd89 alone"`:           "\uFFFD alone",
		"\"a\xff\"":                "a\uFFFD",
		`null`:                     "",
		`7`:                        "",
		`{"a": 1}`:                 "",
	} {
		var v struct{ T wire.Text }
		require.NoError(t, json.Unmarshal([]byte(`{"T": `+raw+`}`), &v), raw)
		require.Equal(t, want, v.T.String(), raw)
	}
}

// add adds texts to a reply, each as an event has it, and returns what reached the callback.
func add(t *testing.T, raw ...string) (chunks []string, text string) {
	t.Helper()
	r := wire.NewReply(providers.Request{OnChunk: func(chunk string) error { chunks = append(chunks, chunk); return nil }})
	for _, piece := range raw {
		var text wire.Text
		require.NoError(t, json.Unmarshal([]byte(`"`+piece+`"`), &text))
		require.NoError(t, r.Add(text))
	}
	r.Finish(providers.Stop)
	res, err := r.End()
	require.NoError(t, err)
	return chunks, res.Text
}

func TestCharactersInSeveralEvents(t *testing.T) {
	for name, test := range map[string]struct{ pieces, chunks []string }{
		"bytes":                     {[]string{"x\xe2", "\x82", "\xacb"}, []string{"x", "€b"}},
		"a surrogate pair":          {[]string{`x\ud83e`, `\udd89b`}, []string{"x", "🦉b"}},
		"half a pair, then text":    {[]string{`x\ud83e`, `b`}, []string{"x", "\uFFFDb"}},
		"half a pair at the end":    {[]string{`x\ud83e`}, []string{"x", "\uFFFD"}},
		"bytes at the end":          {[]string{"x\xe2\x82"}, []string{"x", "\uFFFD\uFFFD"}},
		"a byte order mark is text": {[]string{"\xef", "\xbb\xbf", "x"}, []string{"\uFEFF", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			chunks, text := add(t, test.pieces...)
			require.Equal(t, test.chunks, chunks)
			require.Equal(t, strings.Join(test.chunks, ""), text)
		})
	}
}

// hasSurrogate reports whether raw has bytes that UTF-8 would use for half of a surrogate pair. They are one invalid
// character for Text, and three for encoding/json.
func hasSurrogate(raw []byte) bool {
	for i := range raw {
		if i+1 < len(raw) && raw[i] == 0xED && raw[i+1] >= 0xA0 && raw[i+1] < 0xC0 {
			return true
		}
	}
	return false
}

// FuzzText compares Text with encoding/json, which reads every complete text in the same way.
func FuzzText(f *testing.F) {
	for _, seed := range []string{`"\ud83dM3ee"`, "\"\xed\xffA\"", `"a"`, `"\ud83e\udd89"`, `"\ud83e"`, "\"\xff\"", `"\u00e9\n"`, `7`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if json.Unmarshal(raw, &want) != nil || hasSurrogate(raw) {
			return
		}
		var got wire.Text
		require.NoError(t, json.Unmarshal(raw, &got))
		require.Equal(t, want, got.String())
		require.True(t, utf8.ValidString(got.String()))
	})
}
