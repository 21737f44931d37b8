package resent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers/internal/resent"
)

// passed returns what a filter passes on of pieces, and whether it removed anything.
func passed(t testing.TB, pieces ...string) (text string, removed bool) {
	t.Helper()
	var f resent.Filter
	var said strings.Builder
	for _, piece := range pieces {
		fresh, err := f.Add([]byte(piece))
		require.NoError(t, err)
		said.Write(fresh)
	}
	held := f.Held()
	rest := f.End()
	require.True(t, held || len(rest) == 0)
	said.Write(rest)
	return said.String(), f.Removed() > 0
}

// grown returns all beginnings of a text that end after a word.
func grown(text string) (pieces []string) {
	for i := range text {
		if text[i] == ' ' {
			pieces = append(pieces, text[:i])
		}
	}
	return append(pieces, text)
}

var long = strings.Repeat("Caches near the user answer sooner than one far away, and point %d shows it. ", 3)

// Each piece is all text so far.
func TestTextThatGrows(t *testing.T) {
	for name, pieces := range map[string][]string{
		"words":                     {"Edge", "Edge caches", "Edge caches cut", "Edge caches cut the tail."},
		"without spaces":            {"边", "边缘", "边缘缓存", "边缘缓存更快。"},
		"JSON":                      {`{`, `{"winner"`, `{"winner": "Ada"`, `{"winner": "Ada"}`},
		"white space first":         {"\n\n", "\n\nFirst", "\n\nFirst, the", "\n\nFirst, the cost."},
		"pieces that add nothing":   {"No", "No", "No, because", "No, because", "No, because it costs."},
		"a word that is repeated":   {"No. No. We", "No. No. We must", "No. No. We must not."},
		"two pieces":                {"Edge caches win", "Edge caches win because of latency."},
		"an incomplete character":   {"The caf", "The caf\uFFFD", "The café", "The café au lait."},
		"a table":                   {"|", "| a", "| a | b |", "| a | b |\n|---|---|", "| a | b |\n|---|---|\n| 1 | 2 |"},
		"laughter":                  {"ha", "haha", "hahaha", "hahaha, no", "hahaha, no."},
		"white space cut at last":   {"So ", "So it ", "So it is. ", "So it is. "},
		"a shorter piece at last":   {"So ", "So it ", "So it is. ", "So it is."},
		"one piece and all of it":   {"The origin is simpler.", "The origin is simpler."},
		"a long text":               grown(long),
		"one character at a time":   {"W", "Wh", "Why", "Why ", "Why n", "Why no", "Why not", "Why not?"},
		"a bracket":                 {"(", "((", "((a", "((a)", "((a))"},
		"one letter":                {"a", "aa", "aaa", "aaaa", "aaaaa", "aaaaaa"},
		"a sentence and the rest":   {"It costs more.", "It costs more. And it is slower."},
		"the whole text once again": {"We", "We must", "We must act now", "We must act now.", "We must act now."},
	} {
		t.Run(name, func(t *testing.T) {
			text, removed := passed(t, pieces...)
			want := pieces[len(pieces)-1]
			require.Equal(t, strings.TrimRight(want, " "), strings.TrimRight(text, " "))
			require.True(t, removed)
		})
	}
}

// The last piece is the whole text.
func TestTheWholeTextAtTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		pieces []string
		want   string
	}{
		"after pieces":               {[]string{"Edge ", "caches ", "cut the tail.", "Edge caches cut the tail."}, "Edge caches cut the tail."},
		"with more":                  {[]string{"Edge ", "caches ", "cut", "Edge caches cut the tail."}, "Edge caches cut the tail."},
		"a short text":               {[]string{"Yes", ".", "Yes."}, "Yes."},
		"JSON":                       {[]string{`{"winner":`, ` "Ada"`, `}`, `{"winner": "Ada"}`}, `{"winner": "Ada"}`},
		"without spaces":             {[]string{"边缘", "缓存", "更快。", "边缘缓存更快。"}, "边缘缓存更快。"},
		"a long text":                {append(strings.SplitAfter(long, " "), long), long},
		"without white space":        {append(strings.SplitAfter("\n\n"+long, " "), strings.TrimSpace(long)), "\n\n" + long},
		"twice":                      {[]string{"Edge ", "caches ", "win.", "Edge caches win.", "Edge caches win."}, "Edge caches win."},
		"and white space":            {[]string{"Edge ", "caches ", "win.", "Edge caches win.", "\n"}, "Edge caches win."},
		"code":                       {[]string{"```go\n", "x := 1\n", "```", "```go\nx := 1\n```"}, "```go\nx := 1\n```"},
		"a question":                 {[]string{"Why", " not", "?", "Why not?"}, "Why not?"},
		"a long text that goes on":   {[]string{long[:70], long[70:140], long[:140] + "So I say."}, long[:140] + "So I say."},
		"a text that repeats itself": {[]string{"No,", " no,", " and no.", "No, no, and no."}, "No, no, and no."},
	} {
		t.Run(name, func(t *testing.T) {
			text, removed := passed(t, test.pieces...)
			require.True(t, removed)
			require.Equal(t, strings.TrimSpace(test.want), strings.TrimSpace(text))
		})
	}
}

// A model repeats words, lines and marks, in pieces of any size.
func TestWhatASpeakerRepeatsStays(t *testing.T) {
	for name, pieces := range map[string][]string{
		"a word":                          {"na", " na", " na"},
		"a word twice":                    {"go", " go"},
		"digits":                          {"666", "666", "666", "6"},
		"letters":                         {"ab", "ab", "ab", "ab"},
		"without spaces":                  {"哈", "哈", "哈", "哈", "哈"},
		"empty lines":                     {"\n", "\n", "Here is the answer."},
		"a sentence":                      {"No. ", "No. ", "Never."},
		"a sentence, then more":           {"Never again. ", "Never again. ", "I say it twice."},
		"a longer piece":                  {"ha", "haha", " ha"},
		"a rule":                          {"-", "--", "----", "--------", "\n"},
		"brackets":                        {"(", "(", "a", ")", ")"},
		"a name":                          {"Bora", " Bora", " is an island."},
		"more pieces than are held":       strings.SplitAfter(strings.Repeat("a", 20), "a"),
		"growing numbers":                 {"1", "10", "100", "1000"},
		"a number":                        {"18", "33", " and ", "18", "33"},
		"the text so far in the middle":   {"Yes", ".", "Yes.", " And no."},
		"a refrain":                       {"We must act now. ", "We must act now. And then ", "we rest."},
		"a sentence that begins the same": {"The cache", "The cachet", "is high."},
		"a sentence without spaces":       {"不。", "不。"},
		"a sentence in pieces, twice":     {"Never ", "again. ", "Never again. "},
		"an initial":                      {"A.", "A. Milne wrote it."},
		"a list":                          {"- ", "a\n", "- ", "a\n"},
		"one piece":                       {"So it is."},
		"nothing":                         {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, removed := passed(t, pieces...)
			require.Equal(t, strings.Join(pieces, ""), text)
			require.False(t, removed)
		})
	}
}

// What was passed on cannot be taken back.
func TestTextThatChanges(t *testing.T) {
	var f resent.Filter
	var err error
	for _, piece := range []string{"Edge", "Edge caches", "Edge caches cut the", "Edge caches slice the tail."} {
		_, err = f.Add([]byte(piece))
	}
	require.ErrorIs(t, err, resent.ErrChanged)
}

// Nothing gets lost: the result is what the last piece says, or all pieces together.
func FuzzFilter(f *testing.F) {
	f.Add("Edge caches cut the tail.", uint8(4), uint8(7))
	f.Add("ha ha ha", uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, text string, a, b uint8) {
		if text == "" {
			return
		}
		var pieces []string
		for rest, n := text, int(a); rest != ""; n = int(b) {
			n = min(max(n, 1), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		said, removed := passed(t, pieces...)
		require.True(t, removed || said == text)
		require.LessOrEqual(t, len(said), len(text))
	})
}
