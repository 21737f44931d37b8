package lines_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/lines"
)

func TestNumber(t *testing.T) {
	require.Equal(t, "1| a\n2| \n3| \tb", lines.Number("a\n\n\tb", 1))
	require.Equal(t, "99| a\r\n100| b\n", lines.Number("a\r\nb\n", 99))
	require.Empty(t, lines.Number("", 1))
}

func TestStrip(t *testing.T) {
	for _, text := range []string{"a", "a\n\n\tb", "1| a\n", "if a | b {\n}\n", "\n\n"} {
		require.Equal(t, text, lines.Strip(lines.Number(text, 7)))
	}
	require.Equal(t, "x := 1\ny := 2", lines.Strip("  12| x := 1\n 13|y := 2"))
	for _, text := range []string{"x := 1\n13| y := 2", "12 | 13", "| a", "12: a"} {
		require.Equal(t, text, lines.Strip(text), "not each line has a number")
	}
}

func TestRange(t *testing.T) {
	const text = "one\ntwo\r\nthree\n"
	for part, want := range map[string][2]int{
		"one": {1, 1}, "one\n": {1, 1}, "e\nt": {1, 2}, "two\r\nthree": {2, 3}, "three\n": {3, 3},
		text: {1, 3},
	} {
		start := strings.Index(text, part)
		first, last := lines.Range(text, start, start+len(part))
		require.Equal(t, want, [2]int{first, last}, "%q", part)
	}
}
