package outcome

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// OfDecision returns the outcome of judges who decide on the merits: the choice first, then its reasons, and the scores of the
// arguments.
func OfDecision(a protocol.Answer) (o protocol.Outcome) {
	var j decision.Joint[json.RawMessage]
	if a.Decode(decision.Type, &j) != nil {
		return o
	}
	o.Sentence = j.Sentence()
	o.Choice = j.Choice
	o.Answer = j.Choice
	o.Undecided = j.Choice == ""
	o.Tie = o.Undecided && len(j.Tie) > 0
	o.Option = j.Option
	o.Confidence = j.Confidence
	o.Dissent = j.Dissent
	for name, score := range j.Scores {
		o.SetScore(name, score)
	}
	if j.Option > 0 {
		o.Clauses = append(o.Clauses, fmt.Sprintf("the confidence is %.0f %%", j.Confidence))
	}
	if j.Choice != "" {
		o.Clauses = append(o.Clauses, votesClause(j.Votes)...)
	}
	o.Votes = decisionVotes(j)
	o.Measure = decisionMeasure(j)
	addDecisionReasons(&o, j)
	if o.Text == "" && j.Choice != "" {
		o.Text = a.Text
	}
	o.AddDissent("Dissenting judges", j.Dissent...)
	o.AddDissent("Judges who contradict themselves", j.Disagreement...)
	chart := &protocol.Chart{Title: "Scores of the arguments, which do not decide", Unit: "Score (0–10)", Maximum: 10}
	for _, name := range slices.Sorted(maps.Keys(j.Scores)) {
		chart.Set(name, "Score", j.Scores[name])
	}
	if len(chart.Rows) > 0 {
		o.Chart = chart
	}
	return o
}

// votesClause says how the judges voted.
func votesClause(votes []decision.Votes) []string {
	var list []string
	for _, v := range votes {
		list = append(list, fmt.Sprintf("%d for %s", len(v.Judges), v.Choice))
	}
	switch {
	case len(votes) > 1:
		return []string{"the votes are " + naming.Enumerate(list, 4)}
	case len(votes) == 1 && len(votes[0].Judges) == 1:
		return []string{"the judge is " + votes[0].Judges[0]}
	case len(votes) == 1:
		return []string{All(len(votes[0].Judges), "judges") + " agree"}
	}
	return nil
}

// decisionVotes returns the votes of several judges by what they chose.
func decisionVotes(j decision.Joint[json.RawMessage]) map[string]int {
	if len(j.Opinions) < 2 {
		return nil
	}
	votes := map[string]int{}
	for _, v := range j.Votes {
		votes[v.Choice] = len(v.Judges)
	}
	return votes
}

// decisionMeasure measures by the share of votes. A judge who contradicts itself has voted for nobody.
func decisionMeasure(j decision.Joint[json.RawMessage]) *protocol.Measure {
	asked := map[string]bool{}
	for _, x := range j.Opinions {
		asked[x.Judge] = true
	}
	var choices []string
	for _, v := range j.Votes {
		for range v.Judges {
			choices = append(choices, v.Choice)
		}
	}
	for len(choices) < len(asked) {
		choices = append(choices, "")
	}
	return VotesMeasure(j.Choice, choices)
}

// addDecisionReasons sets the text of the first judge who chose as the jury did, and adds the reasons of all judges.
func addDecisionReasons(o *protocol.Outcome, j decision.Joint[json.RawMessage]) {
	type said struct {
		name   string
		choice decision.Choice
	}
	var all []said
	for _, x := range j.Opinions {
		var c decision.Choice
		if x.Failed || json.Unmarshal(x.Value, &c) != nil {
			continue
		}
		if o.Text == "" && j.Option > 0 && c.Option == j.Option {
			o.Text = c.Summary
		}
		if j.Field != "" || c.Option > 0 {
			all = append(all, said{deciderName(x, c), c})
		}
	}
	for _, x := range all {
		var texts []string
		for _, reason := range x.choice.Reasons {
			texts = append(texts, reason.String())
		}
		o.AddReason("Reasons", x.name, texts...)
	}
	for _, x := range all {
		o.AddReason("Conditions", x.name, x.choice.Conditions...)
		if x.choice.Option == j.Option {
			o.Conditions = append(o.Conditions, x.choice.Conditions...)
		}
	}
	for _, x := range all {
		o.AddReason("What would change it", x.name, x.choice.WouldChange...)
	}
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
