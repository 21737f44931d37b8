package window_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
)

func FuzzClip(f *testing.F) {
	f.Add("The quick brown fox jumps over the lazy dog.", 4)
	f.Add("人人生而自由🙂", 2)
	f.Add("a\xffb\xe4\xb8", 1)
	f.Add("", -1)
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		tokens = min(max(tokens, -1_000_000), 1_000_000)
		clipped := window.Clip(text, tokens)
		if clipped == text {
			return
		}
		require.False(t, utf8.ValidString(text) && !utf8.ValidString(clipped), "a character was cut in two")
		at := strings.LastIndex(clipped, " [... ")
		require.GreaterOrEqual(t, at, 0, "the place is not marked")
		kept := clipped[:at]
		require.True(t, strings.HasPrefix(text, kept))
		require.Less(t, len(kept), len(text))
		require.LessOrEqual(t, window.Estimate(kept), max(tokens, 0))
	})
}

func FuzzEstimate(f *testing.F) {
	f.Add("The quick brown fox", " jumps.")
	f.Add("人人生而", "自由🙂")
	f.Add("\xff", "\x80")
	f.Fuzz(func(t *testing.T, a, b string) {
		both, sum := window.Estimate(a+b), window.Estimate(a)+window.Estimate(b)
		require.LessOrEqual(t, both, sum)
		require.GreaterOrEqual(t, both, sum-1, "only the rounding differs")
		require.LessOrEqual(t, both, 2*len(a+b)+1)
	})
}
