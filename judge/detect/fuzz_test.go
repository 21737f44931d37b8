package detect_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// FuzzText passes arbitrary texts of two speakers, one of whom speaks twice.
func FuzzText(f *testing.F) {
	f.Add("Should cities ban cars?", "Ban cars!", "As Bob says, ban cars.")
	f.Add("", "\xff\u0301日本\u200d", "İıſß"+strings.Repeat("a ", 500))
	f.Fuzz(func(t *testing.T, topic, one, two string) {
		var repetition detect.Repetition
		drift := detect.Drift{Topic: topic}
		unanimity, convergence := detect.Unanimity{Answer: text}, detect.Convergence{Answer: text}
		var last detect.Finding
		for n := 1; n <= 2; n++ {
			said := round(n, "Ann", one, "Bob", two)
			last = repetition.Round(said)
			for _, found := range []detect.Finding{last, drift.Round(said), unanimity.Round(said), convergence.Round(said)} {
				if !(0 <= found.Value && found.Value <= 1) || utf8.RuneCountInString(found.Evidence) > 500 {
					t.Fatalf("%+v", found)
				}
			}
		}
		if last.Value != 0 && last.Value != 1 {
			t.Fatalf("repeated turns overlap by %v", last.Value)
		}
	})
}

// FuzzNumbers passes arbitrary scores and embeddings.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte{}, 1, 5.0, 5.0)
	f.Add([]byte{0, 0, 0x80, 0x7f, 0xff, 0xff, 0xff, 0xff}, math.MaxInt, math.NaN(), math.Inf(1))
	f.Fuzz(func(t *testing.T, raw []byte, number int, quality, novelty float64) {
		var values []float32
		for ; len(raw) >= 4; raw = raw[4:] {
			values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
		var echo detect.Echo
		var drift detect.Drift
		returns := detect.DiminishingReturns{Rounds: number, Repetitive: number}
		for range 3 {
			said := []detect.Vector{{Of: transcript.Key{Actor: "Ann"}, Values: values}}
			for _, found := range []detect.Finding{
				echo.Round(said), drift.ByScores(number, quality, novelty),
				returns.Round(detect.Scores{Round: number, Quality: quality, Novelty: novelty, Repetitive: number%2 == 0}),
			} {
				if !(0 <= found.Value && found.Value <= 1) {
					t.Fatalf("%+v", found)
				}
			}
			number++
		}
	})
}
