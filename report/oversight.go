package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/protocol/oversight"
)

// oversightOutcome returns the outcome of judges who have not read a text.
func oversightOutcome(r *Report, data json.RawMessage) (o outcome) {
	x := decodeOrZero[oversight.Result](data)
	p, decided := x.Of(x.Answer)
	switch {
	case decided && x.Answer != "":
		o.decision = fmt.Sprintf("The answer is %s, with a probability of %s %%", quoted(x.Answer), formatScore(100*p))
	case len(x.Judgments) > 0:
		o.decision = "Both answers are equally probable"
	}
	chart := barChart{title: "The probabilities that the judges give", unit: "Probability (0–1)", maximum: 1, names: []string{"Answer A", "Answer B"}}
	var rows [][]string
	for _, j := range x.Judgments {
		if j.Failed {
			o.notes = append(o.notes, "A judgment of "+j.Judge+" could not be read and does not count.")
			continue
		}
		chart.rows = append(chart.rows, barRow{fmt.Sprintf("%s, %s first", j.Judge, j.First), []float64{j.Probability, 1 - j.Probability}})
		rows = append(rows, []string{j.Judge, j.First, formatScore(100 * j.Probability), formatScore(100 * (1 - j.Probability))})
		o.reason("Why the judges decided so", fmt.Sprintf("%s, who saw answer %s first", j.Judge, j.First), j.Reason)
	}
	o.picture = chart.blocks(r.cast())
	for _, letter := range []string{"A", "B"} {
		var names []string
		for who, defends := range x.Defended {
			if defends == letter {
				names = append(names, who)
			}
		}
		slices.Sort(names)
		if len(names) > 0 && o.decision != "" {
			o.clauses = append(o.clauses, fmt.Sprintf("%s argued for %s", naming.Enumerate(names, 4), quoted(map[string]string{"A": x.A, "B": x.B}[letter])))
		}
	}
	o.standings = slices.Concat(
		tableBlock("Answers", []string{"Letter", "Answer"}, [][]string{{"A", x.A}, {"B", x.B}}),
		tableBlock("Judgments", []string{"Judge", "Answer shown first", "Probability of A (%)", "Probability of B (%)"}, rows),
	)
	return o
}

// quoted returns an answer in quotation marks, on one line.
func quoted(answer string) string {
	if short := shortAnswer(answer); short != "" {
		return short
	}
	return "“" + beginning(strings.Join(strings.Fields(answer), " ")) + "”"
}
