package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/internal/loop"
)

// found returns the loop that a detector finds in a text in pieces of a size, and the bytes that it had read then.
func found(text string, size int) (l loop.Loop, read int) {
	var d loop.Detector
	for read < len(text) && l.Piece == 0 {
		n := min(size, len(text)-read)
		l = d.Add(text[read : read+n])
		read += n
	}
	return l, read
}

func TestLoops(t *testing.T) {
	const speech = "Edge caches cut the tail of latency, because most requests never reach the origin. "
	for name, piece := range map[string]string{
		"two words":        "the cache ",
		"a letter":         "a",
		"a line break":     "\n",
		"spaces":           " ",
		"a sentence":       "I must say that it costs more than it gives. ",
		"a list":           "- The cost\n- The time\n",
		"without spaces":   "缓存更快，",
		"a paragraph":      strings.Repeat("Word by word it says the same, ", 9) + "and so on.\n\n",
		"JSON":             `{"name": "", "score": 0}, `,
		"a rule":           "-=",
		"a mark":           "<pad>",
		"an answer to two": "Ada: yes. Bo: no. ",
		"a long piece":     numbered(1_500),
	} {
		t.Run(name, func(t *testing.T) {
			text := speech + strings.Repeat(piece, 30_000/len(piece))
			for _, size := range []int{1, 7, 100, 1_000, len(text)} {
				l, read := found(text, size)
				require.Positive(t, l.Piece)
				require.Zero(t, len(piece)%l.Piece, "the piece, or a part of it that is repeated")
				if size < len(text) {
					require.LessOrEqual(t, read, len(speech)+max(1_000, 4*len(piece))+256+size+len(piece))
				}
				require.LessOrEqual(t, l.Length, read-len(speech)+len(piece))
			}
		})
	}
}

// numbered returns a text that does not repeat itself.
func numbered(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "Point %d stands, and %d more. ", i, i*i)
	}
	return b.String()[:size]
}

func TestWhatIsNoLoop(t *testing.T) {
	for name, text := range map[string]string{
		"a long text":         numbered(100_000),
		"a refrain":           strings.Repeat(numbered(500)+"We must act now. ", 1) + strings.Repeat("We must act now. ", 20) + numbered(500),
		"a rule":              numbered(900) + strings.Repeat("-", 200) + numbered(900),
		"a table":             strings.Repeat("| yes | no | yes |\n", 40) + numbered(900),
		"laughter":            strings.Repeat("ha", 300) + numbered(2_000),
		"indentation":         strings.Repeat(strings.Repeat(" ", 40)+"x := 1\n", 20) + numbered(900),
		"the same twice":      strings.Repeat(numbered(4_000), 2),
		"the same three":      strings.Repeat(numbered(1_900), 3),
		"a list with numbers": numbered(30_000),
		"a short loop":        strings.Repeat("no ", 300),
		"nothing":             "",
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 9, 1_000} {
				l, _ := found(text, size)
				require.Zero(t, l)
			}
		})
	}
}

func BenchmarkDetector(b *testing.B) {
	text := numbered(12_000)
	for b.Loop() {
		_, _ = found(text, 5)
	}
	b.SetBytes(int64(len(text)))
}
