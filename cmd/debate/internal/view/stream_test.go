package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
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
		{"a judge's JSON, which has pseudonyms", transcript.Assessment, false, []string{`{"winner": `, `"P1"}`}, "", "writing, 16 bytes, 0s"},
		{"a judge's prose", transcript.Conclusion, false, []string{"Ada won."}, "Ada won.", ""},
		{"hidden", transcript.Speech, true, []string{"Space"}, "", "writing, 5 bytes, 0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

// Whoever thinks for long is not stuck: the frame says since when, and what arrives.
func TestTheFrameShowsHowLongAReplyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s story
		var b board
		b.resize(79)
		frame := func() string { return ansi.Strip(strings.Join(b.frame(12, status{}), "\n")) }
		judge := key(1, "assess", "Jo", "")
		b.record(s.started(judge, transcript.Assessment))
		time.Sleep(75*time.Second + 900*time.Millisecond)
		require.Contains(t, frame(), "Jo · assess · thinking, 1m15s")
		b.record(s.chunk(judge, 0, `{"scores": `))
		require.Contains(t, frame(), "Jo · assess · writing, 11 bytes, 1m15s")
		b.resize(60)
		time.Sleep(time.Second)
		require.Contains(t, frame(), "writing, 11 bytes, 1m16s", "after a resize")
		b.record(s.failed(judge, "busy", time.Minute))
		require.Contains(t, frame(), "Jo · assess · waiting to try again")
		b.record(debate.TurnStarted{EventMeta: s.live(), Attempt: &debate.Attempt{Key: judge, Kind: transcript.Assessment, Number: 2}})
		require.Contains(t, frame(), "thinking, 0s, attempt 2")
	})
}

// The errors of an outage are complete once, however narrow the terminal is, and short when they are repeated.
func TestAdviceInErrorsIsNotCut(t *testing.T) {
	const message = "network: call model: dial tcp 127.0.0.1:11434: connect: connection refused: start the server with `ollama serve`, or correct its address, http://127.0.0.1:11434"
	var s story
	var b board
	ada, bo := key(1, "argue", "Ada", ""), key(1, "argue", "Bo", "")
	for _, columns := range []int{79, 40} {
		b.resize(columns)
		lines := func(ev debate.Event) string { return ansi.Strip(strings.Join(b.lines(ev), " ")) }
		require.Equal(t, "argue: Ada failed, retrying in 1s: "+message, lines(s.failed(ada, message, time.Second)))
		require.Equal(t, "argue: Bo failed in the same way, retrying in 2s", lines(s.failed(bo, message, 2*time.Second)))
		require.Equal(t, "argue: Ada failed, retrying in 4s: busy", lines(s.failed(ada, "busy", 4*time.Second)))
		require.Equal(t, "argue: Ada failed, retrying in 1m0s: "+message, lines(s.failed(ada, message, time.Minute)))
		require.Equal(t, "argue: Ada failed: "+message, lines(s.failed(ada, message, -1)))
		doubtful := debate.TurnFailed{EventMeta: s.live(), Attempt: &debate.Attempt{Key: ada}, Message: "the reply is doubtful: so; asked once more", Doubtful: true}
		require.Equal(t, "argue: Ada: the reply is doubtful: so; asked once more", lines(doubtful))
		require.Len(t, b.lines(s.failed(ada, strings.Repeat("The score is 11, use 1 to 10. ", 9), 0)), 1, "what is asked again takes a line")
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
