package refine

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Outcome returns the solution, what was criticized and what changed.
func (Protocol) Outcome(r *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Critique and refinement"}
	res, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	if res.Solution != nil {
		addSolution(&o, r, *res.Solution)
	}
	addWeaknesses(&o, r)
	addChanges(&o, r)
	roles := protocol.Exhibit{Title: "Roles", Header: []string{"Agent", "Role", "Prompt source"}, Internal: true}
	for _, x := range res.Roles {
		roles.Rows = append(roles.Rows, []string{x.Agent, x.Role, x.Source})
	}
	sizes := protocol.Exhibit{Title: "Summaries", Header: []string{"For", "Round", "Characters before", "Characters after"}}
	for _, s := range res.Summaries {
		name := s.Agent
		if name == "" {
			name = "judge"
		}
		sizes.Rows = append(sizes.Rows, []string{name, fmt.Sprint(s.Round), fmt.Sprint(s.Before), fmt.Sprint(s.After)})
	}
	o.Details = []protocol.Exhibit{roles, sizes}
	return o
}

// addSolution says whose the solution is, how sure the judge is, and what it is.
func addSolution(o *protocol.Outcome, r *protocol.Record, s Solution) {
	by := "the judge"
	for i := range r.Turns {
		if r.Turns[i].Kind == transcript.Conclusion && r.Turns[i].Phase == phaseSynthesize {
			by = r.Turns[i].Actor
		}
	}
	o.DecidedBy = by
	o.Confidence = s.Confidence
	o.Measure = &protocol.Measure{Name: "the judge's confidence", Most: 100, Values: map[string]float64{"": s.Confidence}}
	o.Text = s.Description
	o.Sentence = fmt.Sprintf("The solution is by %s, with a confidence of %s of 100", by, outcome.Number(s.Confidence))
	short := outcome.Short(s.Description)
	if short != "" {
		o.Text = ""
		o.Sentence = fmt.Sprintf("The solution of %s is %s, with a confidence of %s of 100", by, short, outcome.Number(s.Confidence))
	}
	o.AddReason("Implementation", "", s.Implementation...)
	o.AddReason("Trade-offs", "", s.TradeOffs...)
	o.AddReason("Recommendations", "", s.Recommendations...)
}

// addWeaknesses adds what was criticized, and how often in each round.
func addWeaknesses(o *protocol.Outcome, r *protocol.Record) {
	counts := map[int]map[string]int{}
	var rounds []int
	total := 0
	for i := range r.Turns {
		t := &r.Turns[i]
		c, err := transcript.Decode[Critique](*t)
		if err != nil || len(c.Weaknesses) == 0 {
			continue
		}
		if counts[t.Round] == nil {
			counts[t.Round] = map[string]int{}
			rounds = append(rounds, t.Round)
		}
		for _, w := range c.Weaknesses {
			counts[t.Round][w.Severity]++
			total++
			outcome.AddPoints(o, "What was criticized", c.Author,
				fmt.Sprintf("%s, round %d, %s: %s", t.Actor, t.Round, w.Severity, w.Issue))
		}
	}
	if o.Sentence != "" && len(counts) > 0 {
		named := outcome.Count(total, "weakness", "weaknesses")
		o.Clauses = append(o.Clauses, fmt.Sprintf("the agents named %s in %s", named, outcome.Count(len(counts), "round", "rounds")))
	}
	o.Chart = &protocol.Chart{Title: "Weaknesses that the agents named", Unit: "Weaknesses", Counts: true, ByRound: true}
	for _, severity := range []string{"critical", "major", "minor"} {
		for _, round := range rounds {
			o.Chart.SetRound(round, severity, float64(counts[round][severity]))
		}
	}
}

// addChanges adds what each agent proposed first and what it has refined it to.
func addChanges(o *protocol.Outcome, r *protocol.Record) {
	first, last := map[string]int{}, map[string]int{}
	var names []string
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Kind != transcript.Speech || t.Phase != phasePropose && t.Phase != phaseRefine {
			continue
		}
		_, again := first[t.Actor]
		if !again {
			first[t.Actor] = i
			names = append(names, t.Actor)
		}
		last[t.Actor] = i
	}
	for _, name := range names {
		if first[name] == last[name] {
			continue
		}
		o.Reasons = append(o.Reasons, protocol.Reason{Title: "What changed", Name: name, Speeches: []protocol.Speech{
			{Label: "Proposed, in " + words(r.Turns[first[name]].Text), Turn: first[name]},
			{Label: "Refined, in " + words(r.Turns[last[name]].Text), Turn: last[name]},
		}})
	}
}

// words says how many words a text has.
func words(text string) string { return outcome.Count(len(strings.Fields(text)), "word", "words") }
