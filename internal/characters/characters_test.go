package characters

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":                   0,
		"Ada":                3,
		"größe":              5,
		"gro\u0308\u00dfe":   5, // with a combining mark
		"日本":                 4,
		"ｱﾄﾞ":                3, // half-width forms
		"Ａ":                  2, // a full-width form
		"한국":                 4,
		"\u1112\u1161\u11ab": 2, // the same syllable in letters
		"🌳":                  2,
		"👍🏽":                 2, // with the tone of a skin
		"👩‍⚖️":               2, // joined
		"👨‍👩‍👧":              2,
		"❤️":                 2,
		"❤":                  1,
		"🇩🇪🇫🇷":               4,
		"a\u200bb":           2,
		"नमस्ते":             4,
	} {
		require.Equal(t, want, Width(text), "%q", text)
	}
}
