package view

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

func TestTextsAreCleaned(t *testing.T) {
	for text, want := range map[string]string{
		"plain, naïve 文字":                         "plain, naïve 文字",
		"\x1b[2J\x1b]0;title\x07gone\u009b31m":    "[2J]0;titlegone31m",
		"a\u202eb\u2066c\u200fd":                  "abcd",
		"tab\tand\r\nline\u2028separator\x00\x7f": "tab    and\nline\nseparator",
		"soft\u00adhyphen\ufeff\U000e0041":        "softhyphen",
		"👩\u200d👩\u200d👧":                         "👩\u200d👩\u200d👧",
		"\xff\xfe":                                "��",
		"a" + strings.Repeat("\u0301", 100):       "a" + strings.Repeat("\u0301", maxMarks),
	} {
		require.Equal(t, want, (&cleaner{}).clean(text), "%q", text)
	}
	require.Equal(t, "two words", cleanLine(" two\n\twords\x1b "))
}

func TestTextIsTruncated(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		right   string
		left    string
	}{
		{"short", 5, "short", "short"},
		{"longer", 5, "long…", "…nger"},
		{"文字文字", 5, "文字…", "…文字"},
		{"文字文字", 4, "文…", "…字"},
		{"文字", 1, "…", "…"},
		{"long", 0, "", ""},
		{"", 0, "", ""},
	} {
		require.Equal(t, tt.right, truncate(tt.text, tt.columns), "%q at %d", tt.text, tt.columns)
		require.Equal(t, tt.left, truncateLeft(tt.text, tt.columns), "%q at %d", tt.text, tt.columns)
	}
}

func TestLinesBreakAtSpaces(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two   \nthree", 7, []string{"one two", "three"}},
		{"one two\n\nthree", 7, []string{"one two", "", "three"}},
		{"    indented code", 12, []string{"    indented", "code"}},
		{"    indented", 6, []string{"    in", "dented"}},
		{"a_very_long_word here", 6, []string{"a_very", "_long_", "word", "here"}},
		{"停车的汽车", 4, []string{"停车", "的汽", "车"}},
		{"go 停车的汽车 on", 7, []string{"go 停车", "的汽车", "on"}},
		{"文", 1, []string{"文", ""}}, // no terminal is that narrow
		{"naïve cafe\u0301s", 5, []string{"naïve", "cafe\u0301s"}},
		{"", 5, []string{""}},
	} {
		require.Equal(t, tt.want, wrap(tt.text, tt.columns), "%q at %d", tt.text, tt.columns)
	}
}

// A text that arrives in pieces is wrapped like the whole text.
func TestPiecesWrapLikeTheWhole(t *testing.T) {
	text := strings.Repeat("A parked car takes 12 m² all day  long. 停车的汽车整天占用街道。\n\n  - a list, and a_word_that_is_longer_than_the_line_of_text\n", 5)
	for columns := 2; columns < 90; columns += 7 {
		want := wrap(strings.TrimSuffix(text, "\n"), columns)
		for size := 1; size < 40; size += 6 {
			w := wrapper{columns: columns}
			runes := []rune(text)
			for i := 0; i < len(runes); i += size {
				w.write(string(runes[i:min(i+size, len(runes))]))
			}
			require.Equal(t, want, w.tail(1000), "%d columns, pieces of %d", columns, size)
		}
	}
}

func TestOnlyTheTailIsKept(t *testing.T) {
	w := wrapper{columns: 10, keep: 3}
	for range 1000 {
		w.write("line\n")
		require.Less(t, len(w.lines), 2*3)
	}
	w.write("end")
	require.Equal(t, []string{"line", "line", "end"}, w.tail(3))
	require.Equal(t, []string{"end"}, w.tail(1))
	require.Empty(t, w.tail(0))
}

// Whatever a model writes, no line is too wide, no character is lost, and none can control the terminal. What is left
// over for the next piece is bounded, so that the work for a piece is too.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"plain text that is wrapped", "\x1b[31mred\x1b[0m \u202eesrever", "👩\u200d👩\u200d👧 🇫🇷🇩🇪 ❤️ 1️⃣", "文字 zalgo a\u0301\u0302\u0303\u0304",
		strings.Repeat(" ", 300), strings.Repeat("\u0301", 300), strings.Repeat("👩\u200d", 100), "กำ ᄒ\u1161\u11ab", "\t\tcode\n\n\n",
	} {
		f.Add(s, 20, 3)
	}
	f.Fuzz(func(t *testing.T, text string, columns, size int) {
		columns, size = 8+max(columns, -columns)%100, 1+max(size, -size)%50
		if columns < 0 || size < 0 { // the smallest int
			return
		}
		whole := (&cleaner{}).clean(text)
		for _, r := range whole {
			require.False(t, unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r), "%q", r)
		}
		s := wrapper{columns: columns}
		var c cleaner
		for runes := []rune(text); len(runes) > 0; {
			n := min(size, len(runes))
			s.write(c.clean(string(runes[:n])))
			runes = runes[n:]
			require.LessOrEqual(t, len(s.rest), 2*(columns+1)*(maxMarks+2)*4)
		}
		for _, lines := range [][]string{wrap(whole, columns), s.tail(len(s.lines) + 1)} {
			for _, l := range lines {
				require.LessOrEqual(t, max(textWidth(l), ansi.StringWidth(l), ansi.StringWidthWc(l)), columns, "%q", l)
			}
			require.Equal(t, strings.Join(strings.Fields(whole), ""), strings.Join(strings.Fields(strings.Join(lines, "\n")), ""))
		}
		line := cleanLine(text)
		require.LessOrEqual(t, textWidth(truncate(line, columns)), columns)
		require.LessOrEqual(t, textWidth(truncateLeft(line, columns)), columns)
	})
}

// A text fits into a terminal, and stays as it is elsewhere.
func TestATextFitsIntoATerminal(t *testing.T) {
	text := strings.Repeat("Trams are quieter. ", 10) + "\n\n  - \x1b[31mred\n"
	var lines []string
	for line := range strings.SplitSeq(Wrap(&fakeTerminal{}, text), "\n") {
		require.LessOrEqual(t, textWidth(line), 79)
		lines = append(lines, line)
	}
	require.Len(t, lines, 5)
	require.Equal(t, []string{"", "  - [31mred"}, lines[3:])
	require.Equal(t, text, Wrap(&bytes.Buffer{}, text))
}
