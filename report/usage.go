package report

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/transcript"
)

var usageHeader = []string{"Turns", "Input tokens", "Cached input", "Output tokens", "Reasoning tokens", "Duration", "Cost"}

// usage returns tokens, time and cost in total, by side, by actor and by round.
func (r *Report) usage() []block {
	res, s := &r.Result, r.shownConfig()
	if res.Total == (debate.Totals{}) {
		return nil
	}
	sides := [][]string{}
	for _, name := range r.sides() {
		label := name
		if name == "" {
			label = "judges and system actors"
		}
		sides = append(sides, s.usageRow(label, res.Sides[name]))
	}
	sides = append(sides, s.usageRow("Total", res.Total))
	var rounds [][]string
	for i, t := range res.Rounds {
		label := fmt.Sprint(i)
		if i == 0 {
			label = "before round 1"
		}
		if t != (debate.Totals{}) {
			rounds = append(rounds, s.usageRow(label, t))
		}
	}
	head := func(first string) []string { return append([]string{first}, usageHeader...) }
	return slices.Concat(
		tableBlock("Usage by side, or by participant if there is no side, including failed steps", head("Side"), sides),
		tableBlock("Usage by actor, without failed steps", head("Actor"), r.speakerRows(s)),
		tableBlock("Usage by round, including failed steps", head("Round"), rounds),
		[]block{{Note: "Token counts are those that the services report; ≈ marks counts that are estimated, or partly estimated. " +
			"Costs are in the currency of the debate's prices."}},
	)
}

// sides returns the names of the sides: first those of the participants in order, then all others, and the empty name
// last. Judges and system actors have the empty name.
func (r *Report) sides() (names []string) {
	add := func(name string) {
		if _, ok := r.Result.Sides[name]; ok && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range r.shownConfig().Participants {
		add(p.Side)
		add(p.Name)
	}
	for _, name := range sorted(r.Result.Sides) {
		add(name)
	}
	if _, ok := r.Result.Sides[""]; ok {
		names = append(names, "")
	}
	return names
}

// speakerRows returns a row for each actor that has turns, in the order of their first turns.
func (r *Report) speakerRows(s shownConfig) (list [][]string) {
	var names []string
	totals := map[string]debate.Totals{}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind == transcript.Remark {
			continue
		}
		if !slices.Contains(names, t.Actor) {
			names = append(names, t.Actor)
		}
		sum := totals[t.Actor]
		sum.Turns++
		sum.Usage = sum.Usage.Add(t.Usage)
		sum.Duration += t.Ended.Sub(t.Started)
		totals[t.Actor] = sum
	}
	for _, name := range names {
		list = append(list, s.usageRow(name, totals[name]))
	}
	return list
}

func (s shownConfig) usageRow(label string, t debate.Totals) []string {
	u := t.Usage
	return []string{
		label, outcome.Thousands(t.Turns), formatTokens(u, u.Input), formatCached(u), formatTokens(u, u.Output),
		formatTokens(u, u.Reasoning), formatDuration(t.Duration), s.formatCost(u),
	}
}
