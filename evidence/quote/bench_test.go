package quote

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkNew and BenchmarkCheck show that the time grows with the length of the text only. The texts repeat, which is
// the worst case of a search.
func BenchmarkNew(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000, 10_000_000} {
		text := strings.Repeat(study, size/len(study))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				New(text)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	quotes := map[string]string{
		"absent":   "words that stand nowhere in this text",
		"pieces":   strings.Repeat("found that well-known cities ... being Łódź and Kraków ... ", 4),
		"repeated": strings.Repeat("a", 10_000) + " a a",
	}
	for _, size := range []int{100_000, 1_000_000, 10_000_000} {
		texts := map[string]*Text{"pieces": New(strings.Repeat(study, size/len(study))), "repeated": New(strings.Repeat("a", size))}
		texts["absent"] = texts["pieces"]
		for name, quote := range quotes {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				for b.Loop() {
					texts[name].Check(quote)
				}
			})
		}
	}
}
