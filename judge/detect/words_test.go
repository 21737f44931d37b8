package detect

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func wordsOf(text string) []string {
	var words []string
	eachWord(text, func(word []byte) { words = append(words, string(word)) })
	return words
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no words", " …\n—!? 🙂 ", ""},
		{"punctuation and case", "**Well**, 3,000 CARS: (no)!", "well|3|000|cars|no"},
		{"apostrophes", "Ann's isn’t", "ann|s|isn|t"},
		{"other scripts", "Über Ёлка ΣΊΣΥΦΟΣ σίσυφος", "über|ёлка|σίσυφοσ|σίσυφοσ"},
		{"marks stay with their letter", "cafe\u0301 हिन्दी", "cafe\u0301|हिन्दी"},
		{"a mark without a letter", "\u0301a", "a"},
		{"soft hyphens and joiners", "co\u00adop می\u200cروم", "coop|میروم"},
		{"no spaces between words", "日本go語 ไทย", "日|本|go|語|ไ|ท|ย"},
		{"digits of other scripts", "٣٤ m²", "٣٤|m²"},
		{"broken text", "a\xffb", "a|b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, strings.Join(wordsOf(tt.text), "|"))
		})
	}
}

func TestWordsDoNotDependOnCase(t *testing.T) {
	texts := rapid.StringOf(rapid.RuneFrom([]rune("abzAZ09 ,.'éÉßσςΣжЖ한日ไ")))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		require.Equal(t, wordsOf(text), wordsOf(strings.ToUpper(text)))
		require.Equal(t, wordsOf(text), wordsOf(strings.Join(wordsOf(text), " ")), "words are words")
	})
}

func TestNumbersAreEqualWhereWordsAre(t *testing.T) {
	words := rapid.SliceOf(rapid.StringMatching(`[a-c]{1,2}`))
	rapid.Check(t, func(t *rapid.T) {
		a := words.Draw(t, "words")
		var v wordIDs
		v.read("b c cc")
		numbers := slices.Clone(v.read(strings.Join(a, " ")))
		require.Len(t, numbers, len(a))
		for i := range a {
			require.NotZero(t, numbers[i])
			for j := range a {
				require.Equal(t, a[i] == a[j], numbers[i] == numbers[j])
			}
		}
	})
}
