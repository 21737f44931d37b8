package mad

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns the answer, and what the moderator preferred after each round.
func (Protocol) Outcome(r *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Debate with a moderator"}
	res, err := DecodeAnswer(a)
	if err == nil {
		o.Notes = res.Notes
		o.Winner = res.Supported
		o.DecidedBy = res.DecidedBy
		o.Answer = res.Answer
		o.Measure = &protocol.Measure{Won: res.Supported}
		addAnswer(&o, res)
		addModeration(&o, res)
	}
	outcome.AddLastStatements(&o, r.Turns)
	o.AddReason("Answers between which the judge decided", "", res.Candidates...)
	return o
}

// addAnswer says what the answer is, who decided, and whose answer it is.
func addAnswer(o *protocol.Outcome, res Result) {
	if res.Answer == "" {
		return
	}
	o.Sentence = fmt.Sprintf("The answer is “%s”, decided by the %s", outcome.Shorten(res.Answer, 120), res.DecidedBy)
	if len(res.Rounds) > 0 {
		o.Sentence += " after " + outcome.Count(len(res.Rounds), "round", "rounds")
	}
	o.Clauses = []string{"it is nobody's last answer"}
	if res.Supported != "" {
		o.Clauses = []string{"it is the answer of " + res.Supported}
	}
	o.Text = res.Reasoning
}

// addModeration adds what the moderator preferred after each round.
func addModeration(o *protocol.Outcome, res Result) {
	preferred := map[string]int{}
	table := protocol.Exhibit{Title: "The moderator after each round", Header: []string{"Round", "Preference", "Reasoning"}}
	for _, x := range res.Rounds {
		supported := x.Supported
		switch {
		case x.Defaulted:
			supported = "no valid decision"
		case !x.Preference:
			supported = "no preference"
		}
		preferred[supported]++
		table.Rows = append(table.Rows, []string{fmt.Sprint(x.Round), supported, x.Reasoning})
	}
	if len(res.Rounds) > 0 && o.Sentence != "" && res.DecidedBy != "moderator" {
		undecided := preferred["no preference"] + preferred["no valid decision"]
		o.Clauses = append(o.Clauses, fmt.Sprintf("the moderator preferred no answer in %d of %s", undecided,
			outcome.Count(len(res.Rounds), "round", "rounds")))
	}
	o.Chart = &protocol.Chart{Title: "What the moderator preferred", Unit: "Rounds", Counts: true, Maximum: float64(len(res.Rounds))}
	for _, name := range slices.Sorted(maps.Keys(preferred)) {
		o.Chart.Set(name, "Rounds", float64(preferred[name]))
	}
	o.Evidence = []protocol.Exhibit{table}
}
