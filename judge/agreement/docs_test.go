package agreement_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge/agreement"
)

// The section of docs/measured/juries.md has the figures that this package gives on the recorded decisions.
func TestWhatAJuryIsWorth(t *testing.T) {
	all := load(t, "llmbar-decisions.jsonl")
	var b strings.Builder
	b.WriteString(juryIntroduction)
	for _, set := range []string{"ordinary", "adversarial", "MT-Bench", "FairEval", "LLMEval2"} {
		items := pick(all, set)
		s := agreement.Summarize(items, weak...)
		calibration := "refused"
		c, err := agreement.Calibrate(items, .8, weak...)
		if err == nil {
			calibration = fmt.Sprintf("from %d of %d decisions", c.Margin, c.Decisions)
		} else {
			require.ErrorIs(t, err, agreement.ErrRefused)
		}
		alone := 0.0
		for _, i := range items {
			alone += i.Score(strongest[0]) / float64(len(items))
		}
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f | %d of %d | %.3f | %s | %.3f | %.3f | %s |\n", set, s.Items, alone, s.Majority.Value,
			s.Unanimous.N, s.Items, s.Unanimous.Value, fmt.Sprintf("%.2f [%.2f, %.2f]", s.Effective.Value, s.Effective.Low, s.Effective.High),
			s.AlphaDecisions.Value, s.AlphaVotes.Value, calibration)
	}
	b.WriteString(juryConclusion)
	golden.Section(t, "../../docs/measured/juries.md", "juries", b.String())
}

const juryIntroduction = `## What a jury is worth

Package [` + "`judge/agreement`" + `](../../judge/agreement) measures how far judges agree, how far they err together, and when a jury
may decide alone. ` + "`go test ./judge/agreement -update`" + ` measures these figures and writes this section. The recordings are
LLMBar's pairs of answers with a gold label (princeton-nlp/LLMBar, MIT, © 2023 Princeton Natural Language Processing). Each
judge saw each pair in both orders. *Strongest* is GPT-4. The jury has three weaker judges: ChatGPT, PaLM2 and LLaMA2. In the
adversarial pairs, the worse answer looks better. A tie of the majority counts ½.

| pairs | n | strongest | majority of the jury | unanimous | right of these | effective number of judges | alpha of decisions | alpha of votes | calibration for 80 % |
|---|---|---|---|---|---|---|---|---|---|
`

const juryConclusion = `
- **Unanimity is no evidence without gold labels.** On ordinary pairs, a unanimous jury was always right. On adversarial pairs,
  the same jury was right in fewer than one case in five.
- **Judges err together.** Three judges are worth fewer than two with independent errors. The effective number is Kish's:
  k judges whose errors have the mean correlation r are worth k/(1+(k−1)r). Brackets contain 95 % confidence intervals.
- **Read both alphas.** A judge that prefers the answer shown first contradicts itself and abstains, so the votes of biased
  judges can agree perfectly. Their decisions do not.
- **A jury may decide alone only where gold labels say so.** ` + "`agreement.Calibrate`" + ` takes pairs with gold labels and a target, and
  returns the least margin of decisions at which the jury is right that often, with 95 % confidence, or refuses. It uses one pair
  of each question. A calibration holds for the same judges, models and prompts, and for questions like those it was made with.

A result with several judges has their agreement on the scores, in ` + "`Result.Agreement`" + `, in reports and in the inspector: how often
two scores of the same participant and round differ by at most one point, and Krippendorff's alpha. Below 30 rounds, alpha has
no interval.
`
