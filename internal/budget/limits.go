package budget

import (
	"cmp"
	"time"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// CoverStart returns a problem for each budget that is smaller than the worst case of the setup, the first phase and the
// conclusion. The debate would end before the first speech.
func CoverStart(l *journal.Limits, worst transcript.Usage) (found []protocol.Problem) {
	const text = "too small for the first phase: with the setup and the conclusion, up to"
	if n, need := l.OutputTokens, worst.Output; n > 0 && need > n {
		found = append(
			found,
			protocol.Problemf("limits.output_tokens", "%s %d tokens are needed, but it is %d", text, need, n),
		)
	}
	if n, need := l.Tokens, worst.Input+worst.Output; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.tokens", "%s %d tokens are needed, but it is %d", text, need, n))
	}
	if n, need := l.Cost, worst.Cost; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.cost", "%s %.4f is needed, but it is %v", text, need, n))
	}
	return found
}

// DefaultsOf returns a protocol's defaults, and the library's where the protocol has none.
func DefaultsOf(p protocol.Protocol) (d protocol.Defaults) {
	if own, ok := p.(protocol.Defaulter); ok {
		d = own.Defaults()
	}
	d.MinRounds = cmp.Or(d.MinRounds, 1)
	d.MaxRounds = cmp.Or(d.MaxRounds, 5)
	d.Time = cmp.Or(d.Time, time.Hour)
	d.StepTokens = cmp.Or(d.StepTokens, 4096)
	d.JudgeTokens = cmp.Or(d.JudgeTokens, 4096)
	if len(d.Temperatures) == 0 {
		d.Temperatures = []float64{0.7}
	}
	cool := 0.2
	d.JudgeTemperature = cmp.Or(d.JudgeTemperature, &cool)
	return d
}
