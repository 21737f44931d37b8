package canonical_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/canonical"
)

func TestChoicesAreRead(t *testing.T) {
	cities := []string{"Sydney", "Canberra", "Perth"}
	for question, want := range map[string][]string{
		"Which is the capital?\n\nA. Sydney\nB. Canberra\nC. Perth":                      cities,
		"Which is the capital?\nA) Sydney\nB) Canberra\nC) Perth\nAnswer with a letter.": cities,
		"Which?\n(A) Sydney\n (B) Canberra\n\t(C) Perth":                                 cities,
		"Which?\n[A] Sydney\n[B] Canberra\n[C] Perth\n":                                  cities,
		"Which?\nA: Sydney\n\nB: Canberra\n\nC: Perth":                                   cities,
		"Which? A) Sydney, B) Canberra, C) Perth":                                        cities,
		"Which? (A) Sydney; (B) Canberra; or (C) Perth":                                  cities,
		"As in A) x B) y.\nA. Sydney\nB. Canberra\nC. Perth":                             cities,
		"A. old\nB. list\n\nA. Sydney\nB. Canberra\nC. Perth":                            cities,
		"Which is the capital?":                                                          nil,
		"A. One point only.":                                                             nil,
		"B. Two\nC. Three":                                                               nil,
		"Should plan A or plan B be preferred?":                                          nil,
		"":                                                                               nil,
	} {
		require.Equal(t, want, canonical.Choices(question), question)
	}
}

// A ballot names a choice by its letter or by its text. Texts that look like a letter are texts.
func TestABallotNamesAChoice(t *testing.T) {
	cities := []string{"Sydney", "Canberra", "New York City", "Vitamin C", "None of the above", "42"}
	for letter, answers := range map[string][]string{
		"A": {
			"A", "a.", "(A)", "A) Sydney", "Sydney", "sydney", "SYDNEY.", "**Sydney**", `"Sydney"`, "The answer is Sydney",
			"The answer is A because B is wrong", "Option A", "answer: Sydney",
		},
		"B": {
			"B", "Canberra", " canberra ", "The correct answer is Canberra.", "My answer is Canberra", "My final answer: Canberra",
			"I choose Canberra", "I would go with Canberra", "So the answer is **Canberra**", "b) Canberra", "Not (A), it is (B)",
		},
		"C": {"C", "New York City", "new york  city", "The best choice is New York City", "C: New York City"},
		"D": {"D", "Vitamin C", "vitamin c", "The answer is Vitamin C", "the right option is vitamin C."},
		"E": {"E", "None of the above", "none of the above."},
		"F": {"F", "42", "The answer is 42"},
		"": {
			"", "Melbourne", "I don't know", "Sydney or Canberra", "not Sydney", "The answer is not Sydney", "41", "none", "York",
			"Is it Canberra?",
		},
	} {
		for _, answer := range answers {
			require.Equal(t, letter, canonical.Choice(answer, cities), answer)
		}
	}
	require.Empty(t, canonical.Choice("yes", []string{"Yes", "no", "YES"}), "two choices differ only in case")
	require.Equal(t, "A", canonical.Choice("Yes", []string{"Yes", "no", "YES"}))
	require.Equal(t, "B", canonical.Choice("B", []string{"B", "C"}), "a letter alone is the letter")
	for _, answer := range []string{"B", "B) x", "The answer is B", "none", "Plan B’s flaw"} {
		require.Equal(t, canonical.Letter(answer), canonical.Choice(answer, nil), answer)
	}
}
