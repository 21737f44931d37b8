package detect_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// prose returns random words from a vocabulary of 5,000, so that most sequences are new, as in real speeches.
func prose(words int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "word%d ", r.IntN(5000))
	}
	return b.String()
}

// BenchmarkText shows that the cost for each word does not depend on the length of the turn.
func BenchmarkText(b *testing.B) {
	for _, words := range []int{300, 3_000, 30_000, 300_000} {
		said := round(2, "Ann", prose(words, 1))
		per := func(name string, look func()) {
			b.Run(fmt.Sprintf("%s/%d_words", name, words), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					look()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(words), "ns/word")
			})
		}
		per("repetition", func() {
			var d detect.Repetition
			d.Round(said)
		})
		per("drift", func() {
			d := detect.Drift{Topic: "word1 word2 word3 word4"}
			d.Round(said)
		})
	}
}

// BenchmarkRound shows that the cost of a round of two speeches of 300 words does not depend on the number of earlier
// rounds. Run it with -benchtime 100x, because the same rounds repeat after a hundred.
func BenchmarkRound(b *testing.B) {
	for _, before := range []int{10, 100, 1_000} {
		b.Run(fmt.Sprintf("after_%d", before), func(b *testing.B) {
			var repetition detect.Repetition
			seed := uint64(0)
			next := func() []transcript.Turn {
				seed += 2
				return round(int(seed/2), "Ann", prose(300, seed), "Bob", prose(300, seed+1))
			}
			for range before {
				repetition.Round(next())
			}
			var said [][]transcript.Turn
			for range 100 {
				said = append(said, next())
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				repetition.Round(said[n%len(said)])
				n++
			}
		})
	}
}

// BenchmarkEcho measures one more turn with an embedding of 1,536 numbers.
func BenchmarkEcho(b *testing.B) {
	for _, before := range []int{10, 1_000} {
		b.Run(fmt.Sprintf("after_%d", before), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 0))
			values := make([]float32, 1536)
			for i := range values {
				values[i] = r.Float32()
			}
			var d detect.Echo
			for n := range before {
				d.Round(byVectors(n, "Ann", values))
			}
			b.ReportAllocs()
			for b.Loop() {
				d.Round(byVectors(before, "Ann", values))
			}
		})
	}
}
