package window_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/context/window"
)

func ExampleClip() {
	fmt.Println(window.Clip("The quick brown fox jumps over the lazy dog.", 4))
	// Output: The quick brown fo [... 26 more bytes omitted to fit]
}

func TestNothingHasNoTokens(t *testing.T) {
	require.Zero(t, window.Estimate(""))
	for _, text := range []string{" ", "a", "7", ".", "\n", "é", "中", "🙂", "\x00"} {
		require.Positive(t, window.Estimate(text), "%q", text)
	}
}

// The counts on the right were made by hand. They follow byte-pair tokenizers with vocabularies of 50,000 to 200,000
// tokens. Such tokenizers differ by a third or more, so an estimate is plausible if it is at most two thirds off.
func TestEstimatesArePlausible(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		tokens     int
	}{
		{"a short English sentence", "The quick brown fox jumps over the lazy dog.", 10},
		{
			"English prose",
			"All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act " +
				"towards one another in a spirit of brotherhood.",
			34,
		},
		{
			"German prose",
			"Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander " +
				"im Geiste der Brüderlichkeit begegnen.",
			43,
		},
		{"Chinese prose", "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", 42},
		{"Japanese", "お誕生日おめでとう", 9},
		{"Russian prose", "Все люди рождаются свободными и равными в своем достоинстве и правах.", 22},
		{
			"Go",
			"func sum(xs []int) int {\n\ttotal := 0\n\tfor _, x := range xs {\n\t\ttotal += x\n\t}\n\treturn total\n}\n",
			38,
		},
		{"JSON", `{"name":"Alice","score":7.5,"strengths":["clear","brief"]}`, 21},
		{"a long number", "31415926535897932384", 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := float64(window.Estimate(tt.text))
			require.GreaterOrEqual(t, got, float64(tt.tokens)*0.6)
			require.LessOrEqual(t, got, float64(tt.tokens)*1.67)
		})
	}
}

func TestEstimatesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		both, sum := window.Estimate(a+b), window.Estimate(a)+window.Estimate(b)
		require.GreaterOrEqual(t, both, window.Estimate(a), "more text has no fewer tokens")
		require.GreaterOrEqual(t, both, window.Estimate(b))
		require.LessOrEqual(t, both, sum)
		require.GreaterOrEqual(t, both, sum-1, "only the rounding differs")
		require.Equal(t, both, window.Estimate(b+a))
	})
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		tokens     int
		want       string
	}{
		{"what fits stays as it is", "four words of text", 4, "four words of text"},
		{"nothing fits anywhere", "", 0, ""},
		{"nothing fits below nothing", "", -1, ""},
		{"a long text is cut and marked", "aaaaaaaa", 1, "aaaa [... 4 more bytes omitted to fit]"},
		{"a character is cut whole", "aaaé", 1, "aaa [... 2 more bytes omitted to fit]"},
		{"as many characters as fit", "中文字", 2, "中文 [... 3 more bytes omitted to fit]"},
		{"rare characters weigh more", "\uffff\U00010000", 1, "\uffff [... 4 more bytes omitted to fit]"},
		{"the first of the rare ones, too", "\U00010000", 1, " [... 4 more bytes omitted to fit]"},
		{"without room the note remains", "🙂 yes", 0, " [... 8 more bytes omitted to fit]"},
		{"with negative room the note remains", "🙂 yes", -5, " [... 8 more bytes omitted to fit]"},
		{"bytes that are no text are cut too", "aaa\xff\xff", 1, "aaa [... 2 more bytes omitted to fit]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, window.Clip(tt.text, tt.tokens))
		})
	}
}

func TestClipKeepsAsMuchAsFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(-1, window.Estimate(text)+1).Draw(t, "limit")
		clipped := window.Clip(text, limit)
		require.True(t, utf8.ValidString(clipped))
		if text == "" || window.Estimate(text) <= limit {
			require.Equal(t, text, clipped)
			return
		}
		at := strings.LastIndex(clipped, " [... ")
		require.GreaterOrEqual(t, at, 0)
		kept, rest := clipped[:at], text[at:]
		require.True(t, strings.HasPrefix(text, kept))
		require.Equal(t, fmt.Sprintf(" [... %d more bytes omitted to fit]", len(rest)), clipped[at:])
		require.LessOrEqual(t, window.Estimate(kept), max(limit, 0))
		_, size := utf8.DecodeRuneInString(rest)
		require.Greater(t, window.Estimate(kept+rest[:size]), limit, "the next character has no room")
	})
}
