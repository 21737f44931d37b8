package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
)

// This file has the outcome of debates whose judges decide on the merits.

// jointOutcome returns the outcome of a decision: the choice first, then its reasons, and the scores of the arguments.
func jointOutcome(r *Report, data json.RawMessage) (o outcome) {
	j := decodeOrZero[decision.Joint[json.RawMessage]](data)
	o.decision = j.Sentence()
	if j.Option > 0 {
		o.clauses = append(o.clauses, fmt.Sprintf("the confidence is %.0f %%", j.Confidence))
	}
	var votes []string
	for _, v := range j.Votes {
		votes = append(votes, fmt.Sprintf("%d for %s", len(v.Judges), v.Choice))
	}
	switch {
	case j.Choice == "":
	case len(j.Votes) > 1:
		o.clauses = append(o.clauses, "the votes are "+naming.Enumerate(votes, 4))
	case len(j.Votes) == 1 && len(j.Votes[0].Judges) == 1:
		o.clauses = append(o.clauses, "the judge is "+j.Votes[0].Judges[0])
	case len(j.Votes) == 1:
		o.clauses = append(o.clauses, all(len(j.Votes[0].Judges), "judges")+" agree")
	}
	for _, said := range j.Opinions {
		if c := decodeOrZero[decision.Choice](said.Value); !said.Failed && j.Option > 0 && c.Option == j.Option {
			o.text = c.Summary
			break
		}
	}
	for _, list := range []struct {
		title string
		of    func(decision.Choice) []string
	}{
		{"Reasons", reasonTexts},
		{"Conditions", func(c decision.Choice) []string { return c.Conditions }},
		{"What would change it", func(c decision.Choice) []string { return c.WouldChange }},
	} {
		for _, said := range j.Opinions {
			if c := decodeOrZero[decision.Choice](said.Value); !said.Failed && (j.Field != "" || c.Option > 0) {
				o.reason(list.title, deciderName(said, c), list.of(c)...)
			}
		}
	}
	if o.text == "" && j.Choice != "" {
		o.text = r.Result.Answer.Text
	}
	o.dissent("Dissenting judges", j.Dissent...)
	o.dissent("Judges who contradict themselves", j.Disagreement...)
	bars := barChart{title: "Scores of the arguments, which do not decide", unit: "Score (0–10)", maximum: 10, names: []string{"Score"}}
	for _, name := range slices.Sorted(maps.Keys(j.Scores)) {
		bars.rows = append(bars.rows, barRow{name, []float64{j.Scores[name]}})
	}
	if len(bars.rows) > 0 {
		o.picture = bars.blocks(r.cast())
	}
	return o
}

// reasonTexts returns the reasons of a choice, with their speakers.
func reasonTexts(c decision.Choice) (texts []string) {
	for _, x := range c.Reasons {
		texts = append(texts, x.String())
	}
	return texts
}

// deciderName returns the name of a judge, with the order in which it saw the participants if that was reversed, and what it
// chose.
func deciderName(o judge.Opinion[json.RawMessage], c decision.Choice) string {
	name := o.Judge
	if o.Swapped {
		name += ", in reversed order"
	}
	if c.Option > 0 {
		name += fmt.Sprintf(", for option %d", c.Option)
	}
	return name
}
