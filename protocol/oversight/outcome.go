package oversight

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns the more probable answer, and the probabilities that the judges give.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Oversight"}
	x, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Answer = x.Answer
	o.Undecided = x.Answer == ""
	o.Tie = o.Undecided
	p, decided := x.Of(x.Answer)
	switch {
	case decided && x.Answer != "":
		o.Choice = x.Answer
		o.Confidence = 100 * p
		o.Sentence = fmt.Sprintf("The answer is %s, with a probability of %s %%", quoted(x.Answer), outcome.Number(100*p))
	case len(x.Judgments) > 0:
		o.Sentence = "Both answers are equally probable"
	}
	o.SetScore(x.A, x.Probability)
	o.SetScore(x.B, 1-x.Probability)
	o.Measure = &protocol.Measure{Name: "the probability", Most: 1, Values: o.Scores, Won: x.Answer}
	addJudgments(&o, x)
	for _, side := range []struct{ letter, answer string }{{"A", x.A}, {"B", x.B}} {
		var names []string
		for who, defends := range x.Defended {
			if defends == side.letter {
				names = append(names, who)
			}
		}
		slices.Sort(names)
		if len(names) > 0 && o.Sentence != "" {
			o.Clauses = append(o.Clauses, fmt.Sprintf("%s argued for %s", naming.Enumerate(names, 4), quoted(side.answer)))
		}
	}
	return o
}

// addJudgments adds the probabilities and the reasons of each judge.
func addJudgments(o *protocol.Outcome, x Result) {
	const a, b = "Answer A", "Answer B"
	o.Chart = &protocol.Chart{
		Title: "The probabilities that the judges give", Unit: "Probability (0–1)", Maximum: 1,
		Series: []string{a, b},
	}
	table := protocol.Exhibit{
		Title:  "Judgments",
		Header: []string{"Judge", "Answer shown first", "Probability of A (%)", "Probability of B (%)"},
	}
	for _, j := range x.Judgments {
		if j.Failed {
			o.Notes = append(o.Notes, "A judgment of "+j.Judge+" could not be read and does not count.")
			continue
		}
		name := fmt.Sprintf("%s, %s first", j.Judge, j.First)
		o.Chart.Rows = append(o.Chart.Rows,
			protocol.ChartRow{Name: name, Values: map[string]float64{a: j.Probability, b: 1 - j.Probability}})
		table.Rows = append(table.Rows, []string{
			j.Judge, j.First, outcome.Number(100 * j.Probability),
			outcome.Number(100 * (1 - j.Probability)),
		})
		o.AddReason("Why the judges decided so", fmt.Sprintf("%s, who saw answer %s first", j.Judge, j.First), j.Reason)
	}
	answers := protocol.Exhibit{Title: "Answers", Header: []string{"Letter", "Answer"}, Rows: [][]string{{"A", x.A}, {"B", x.B}}}
	o.Details = []protocol.Exhibit{answers, table}
}

// quoted returns an answer in quotation marks, on one line.
func quoted(answer string) string {
	short := outcome.Short(answer)
	if short != "" {
		return short
	}
	return "“" + outcome.Shorten(answer, 240) + "”"
}
