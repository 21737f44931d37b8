package vote_test

import (
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol/vote"
)

func TestAnswersAreRead(t *testing.T) {
	for _, tt := range []struct{ extract, answer, want string }{
		{"text", "", ""},
		{"text", " \n ", ""},
		{"text", "Paris", "paris"},
		{"text", "  \"PARIS,\n  France\". ", "paris france"},
		{"text", "**Yes!**", "yes"},
		{"text", "«Jā», ¿qué?", "jā qué"},
		{"text", "...", ""},
		{"text", "-5", "-5"},
		{"text", ".5", ".5"},
		{"text", "x >= 3", "x >= 3"},
		{"text", "C++", "c++"},
		{"text", "50%", "50%"},
		{"text", "don't", "don't"},

		{"number", "", ""},
		{"number", "none", ""},
		{"number", "42", "42"},
		{"number", "042", "42"},
		{"number", "42.", "42"},
		{"number", "42.0", "42"},
		{"number", "42.50", "42.5"},
		{"number", ".5", "0.5"},
		{"number", "1/2", "0.5"},
		{"number", "010/020", "0.5"},
		{"number", "-1/3", "-1/3"},
		{"number", "2/6", "1/3"},
		{"number", "1/0", ""},
		{"number", "3, or 1/0", "3"},
		{"number", "$1,250.00", "1250"},
		{"number", "-$5", "-5"},
		{"number", "€ 7", "7"},
		{"number", "−5", "-5"},
		{"number", "minus -5 degrees", "-5"},
		{"number", "5%", "5"},
		{"number", "x=-5", "-5"},
		{"number", "10-3", "3"},
		{"number", "10–3", "3"},
		{"number", "(10)-3", "3"},
		{"number", "10 - 3 = 7", "7"},
		{"number", "It is 6 * 7 = 42 apples", "42"},
		{"number", "-0", "0"},
		{"number", "1.5e3", "1500"},
		{"number", "1e-3", "0.001"},
		{"number", "1e99999999", "99999999"},
		{"number", "0x1F", "1"},
		{"number", strings.Repeat("9", 101), ""},
		{"number", "4 and " + strings.Repeat("9", 101), "4"},

		{"letter", "", ""},
		{"letter", "b", "B"},
		{"letter", "(b)", "B"},
		{"letter", "**B**.", "B"},
		{"letter", "B) Paris", "B"},
		{"letter", "b. paris", "B"},
		{"letter", "C: because A and B fail", "C"},
		{"letter", "(B) Paris is A city", "B"},
		{"letter", "Not (A), it is (C)", "C"},
		{"letter", "[D]", "D"},
		{"letter", "The answer is B", "B"},
		{"letter", "The answer is A.", "A"},
		{"letter", "Option C, I think", "C"},
		{"letter", "A city in France", ""},
		{"letter", "I don't know", ""},
		{"letter", "Plan B’s flaw", ""},
		{"letter", "42", ""},
		{"letter", "The answer is A because it fits", "A"},
		{"letter", "the answer is A because B is wrong", "A"},
		{"letter", "The answer is I, because it fits", "I"},
		{"letter", "My answer is option A since C has no capital", "A"},
		{"letter", "The correct answer would be **A**, not B", "A"},
		{"letter", "The answer is (B), because (A) is a town", "B"},
		{"letter", "Answer: A, as B is a town", "A"},
		{"letter", "Answer: b", "B"},
		{"letter", "I choose A because B and C are towns", "A"},
		{"letter", "I would go with option C because B is a town", "C"},
		{"letter", "A is the correct answer because B is a town", "A"},
		{"letter", "A is correct, B is not", "A"},
		{"letter", "B is right. A is wrong", "B"},
		{"letter", "At first I thought the answer is A, but the answer is C because of the river", "C"},
		{"letter", "The answer is not A but B", "B"},
		{"letter", "A is not correct, C is the answer", "C"},
		{"letter", "A is the wrong answer, so D", "D"},
		{"letter", "Answer B is wrong, so it is C", "C"},
		{"letter", "My answer is I think B", "B"},
		{"letter", "the answer is a bit unclear", ""},
		{"letter", "The answer is Canberra", ""},

		{"boxed", "", ""},
		{"boxed", "42", ""},
		{"boxed", `\boxed{42}`, "42"},
		{"boxed", `so \boxed{ 1,250.0 }.`, "1250"},
		{"boxed", `\boxed{1} then \boxed{2}`, "2"},
		{"boxed", `\boxed{\frac{1}{2}}`, `\frac{1}{2}`},
		{"boxed", `\boxed {x + y}`, "x+y"},
		{"boxed", `\fbox{7}`, "7"},
		{"boxed", "\boxed{7}", "7"},
		{"boxed", "\fbox{7}", "7"},
		{"boxed", `\boxed{}`, ""},
		{"boxed", `\boxed{7`, ""},
		{"boxed", `\boxed{1} \boxed{7`, ""},
		{"boxed", `\boxed{1e999999999}`, "1e999999999"},
		{"boxed", `\boxed{1e991}`, "1e991"},
		{"number", "7, not 1e991", "7"},
	} {
		require.Equal(t, tt.want, vote.Extractors[tt.extract](tt.answer), "%s of %q", tt.extract, tt.answer)
	}
}

// Extractors are idempotent for any answer.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{"", "Paris.", "$-1,250.50", "1/3", "1e9", "1e991", "1e-100", "(B)", "A", `\boxed{\frac{1}{2}}`, "\boxed{7}", "“Ja”…", "−5", "٣", "ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for name, extract := range vote.Extractors {
			got := extract(answer)
			require.Equal(t, got, extract(answer), name)
			if got == "" {
				continue
			}
			switch name {
			case "number":
				_, ok := new(big.Rat).SetString(got)
				require.True(t, ok, got)
				require.Equal(t, got, extract(got), "%q", answer)
			case "letter":
				require.Equal(t, 1, utf8.RuneCountInString(strings.ToUpper(got)), got)
			case "boxed":
				require.Equal(t, got, extract(`\boxed{`+got+`}`), "%q", answer)
			default:
				require.Equal(t, got, strings.Join(strings.Fields(got), " "))
			}
		}
	})
}
