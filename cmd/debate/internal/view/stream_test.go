package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

func TestAReplyShowsWhatArrives(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kind   transcript.Kind
		hidden bool
		pieces []string
		want   string
		about  string
	}{
		{"prose", transcript.Speech, false, []string{"Space ", "is scarce."}, "Space is scarce.", ""},
		{"blank lines before prose", transcript.Speech, false, []string{"\n\n", " Space"}, "Space", ""},
		{"a participant's JSON", transcript.Speech, false, []string{`{"answer": "Can`, `berra", "confi`, `dence": 9, "why": "It \u00`, `e9s\"t"}`}, "Canberra\nIt és\"t", ""},
		{"a participant's JSON in a fence", transcript.Speech, false, []string{"```json\n{\"a\": [\"x\", \"y\"]}\n```"}, "x\ny", ""},
		{"a judge's JSON, which has pseudonyms", transcript.Assessment, false, []string{`{"winner": `, `"P1"}`}, "", "writing, 16 bytes"},
		{"a judge's prose", transcript.Conclusion, false, []string{"Ada won."}, "Ada won.", ""},
		{"hidden", transcript.Speech, true, []string{"Space"}, "", "writing, 5 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, n := newStream(&debate.Attempt{Kind: tt.kind}, 40, tt.hidden), 0
			for _, p := range tt.pieces {
				s.add(n, p)
				n += len(p)
			}
			require.Equal(t, tt.want, strings.Join(s.tail(10), "\n"))
			require.Equal(t, tt.about, s.progress())
			s.rewrap(40)
			require.Equal(t, tt.want, strings.Join(s.tail(10), "\n"), "after a resize")
		})
	}
}

func TestAPieceCanReplaceText(t *testing.T) {
	s := newStream(&debate.Attempt{Kind: transcript.Speech, Number: 2}, 40, false)
	s.add(0, "Space is scarce")
	s.add(9, "rare.")
	require.Equal(t, []string{"Space is rare."}, s.tail(5))
	require.Equal(t, "attempt 2", s.progress())
	s.rewrap(8)
	require.Equal(t, []string{"Space is", "rare."}, s.tail(5))
}

// The texts found in valid JSON are its string values, in order. It does not matter how the JSON is cut into pieces.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{
		`{"a": "b", "c": [1, "d", {"e": "f\n\"g\" \\ \ud83d\ude00"}], "h": {}}`, `["x", ["y"]]`, `{"a": "\ud83d"}`, "```json\n{}", `"\`, `}}]]"`, `{"a":"\u12`,
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		var whole, inPieces jsonText
		want, got := whole.write(text), ""
		size = 1 + max(size, -size)%20
		if size < 1 {
			return
		}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			got += inPieces.write(rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, want, got)
		if values, ok := stringsIn(text); ok {
			require.Equal(t, strings.Join(values, "\n"), want)
		}
	})
}

// stringsIn returns the string values in a JSON object or array. It returns false if the text is not one, or if a value
// has a character that a view changes.
func stringsIn(text string) (values []string, ok bool) {
	if start := strings.TrimLeft(text, " \n\t\r"); start == "" || !strings.Contains("{[", start[:1]) || !json.Valid([]byte(text)) {
		return nil, false
	}
	dec, ok := json.NewDecoder(strings.NewReader(text)), true
	var read func()
	read = func() {
		token, err := dec.Token()
		ok = ok && err == nil
		switch token := token.(type) {
		case string:
			values = append(values, token)
			ok = ok && !strings.ContainsAny(token, "\b\f\r\ufffd")
		case json.Delim:
			for ok && dec.More() {
				if token == '{' {
					_, _ = dec.Token() // the name of a field
				}
				read()
			}
			_, _ = dec.Token()
		}
	}
	read()
	return values, ok
}

// The time per piece does not depend on the length of the reply.
func BenchmarkStream(b *testing.B) {
	const piece = "Space is scarce. 空间 "
	for _, pieces := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(pieces), func(b *testing.B) {
			for b.Loop() {
				s := newStream(&debate.Attempt{Kind: transcript.Speech}, 77, false)
				for i := range pieces {
					s.add(i*len(piece), piece)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pieces), "ns/piece")
		})
	}
}
