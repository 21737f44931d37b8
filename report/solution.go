package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/transcript"
)

// This file has the outcomes of protocols that work out one answer.

// skepticOutcome returns the outcome of a proposer and a skeptic.
func skepticOutcome(r *Report, data json.RawMessage) (o outcome) {
	t := decodeOrZero[skeptic.Trace](data)
	chart := &lineChart{title: "The skeptic's score for the answer", unit: "Score (0–10)", maximum: 10}
	var rounds [][]string
	var last *skeptic.Critique
	for _, x := range t.Rounds {
		c := x.Critique
		if c == nil {
			continue
		}
		last = c
		score := "none"
		if c.Score != nil {
			score = formatScore(*c.Score)
			chart.set("answer", x.Round, *c.Score)
		}
		rounds = append(rounds, []string{fmt.Sprint(x.Round), score, map[bool]string{true: "yes", false: "no"}[c.Ready], fmt.Sprint(len(c.Issues))})
	}
	o.picture = chart.blocks(nil)
	o.text = t.Answer
	if last != nil {
		ready := "does not consider the answer ready"
		if last.Ready {
			ready = "considers the answer ready"
		}
		if last.Score != nil {
			ready += fmt.Sprintf(", with a score of %s of 10", formatScore(*last.Score))
		}
		o.decision = "The skeptic " + ready
		if short := shortAnswer(t.Answer); short != "" {
			o.decision, o.text, o.clauses = "The answer is "+short, "", []string{"the skeptic " + ready}
		}
		o.clauses = append(o.clauses, fmt.Sprintf("it took %s", plural(len(rounds), "round", "rounds")), openIssues(last))
		var issues []string
		for _, x := range last.Issues {
			issues = append(issues, string(x.Severity)+": "+x.Text)
		}
		o.reason("What the skeptic still objects to", "", issues...)
	}
	var settled []string
	for i := range t.Rounds {
		if c := t.Rounds[i].Critique; c != nil && c != last {
			for _, x := range c.Issues {
				settled = append(settled, fmt.Sprintf("Round %d, %s: %s", t.Rounds[i].Round, x.Severity, x.Text))
			}
		}
	}
	o.reason("What the skeptic objected to before", "", settled...)
	o.evidence = tableBlock("Critiques", []string{"Round", "Score (0–10)", "Ready", "Issues"}, rounds)
	o.standings = listBlock("Reasoning templates:", t.Templates)
	return o
}

// openIssues counts the open issues of a critique by severity.
func openIssues(c *skeptic.Critique) string {
	if len(c.Issues) == 0 {
		return "no issue is open"
	}
	var list []string
	for _, s := range []skeptic.Severity{skeptic.Critical, skeptic.Major, skeptic.Minor} {
		n := 0
		for _, x := range c.Issues {
			if x.Severity == s {
				n++
			}
		}
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.TrimSuffix(plural(len(c.Issues), "issue is open: ", "issues are open: ")+naming.Enumerate(list, 3), ": ")
}

// refineOutcome returns the outcome of critiques and refinements.
func refineOutcome(r *Report, data json.RawMessage) (o outcome) {
	res := decodeOrZero[refine.Result](data)
	if s := res.Solution; s != nil {
		o.text = s.Description
		o.reason("Implementation", "", s.Implementation...)
		o.reason("Trade-offs", "", s.TradeOffs...)
		o.reason("Recommendations", "", s.Recommendations...)
		by := "the judge"
		if v := r.Result.Verdict; v != nil {
			by = v.Actor
		}
		o.decision = fmt.Sprintf("The solution is by %s, with a confidence of %s of 100", by, formatScore(s.Confidence))
		if short := shortAnswer(s.Description); short != "" {
			o.decision, o.text = fmt.Sprintf("The solution of %s is %s, with a confidence of %s of 100", by, short, formatScore(s.Confidence)), ""
		}
	}
	counts, total := map[int]map[string]int{}, 0
	var criticized pointsByName
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		c, err := transcript.Decode[refine.Critique](*t)
		if err != nil || len(c.Weaknesses) == 0 {
			continue
		}
		if counts[t.Round] == nil {
			counts[t.Round] = map[string]int{}
		}
		for _, w := range c.Weaknesses {
			counts[t.Round][w.Severity]++
			total++
			criticized.add(c.Author, fmt.Sprintf("%s, round %d, %s: %s", t.Actor, t.Round, w.Severity, w.Issue))
		}
	}
	o.reasonsByName("What was criticized", criticized)
	if o.decision != "" && len(counts) > 0 {
		o.clauses = append(o.clauses, fmt.Sprintf("the agents named %s in %s", plural(total, "weakness", "weaknesses"), plural(len(counts), "round", "rounds")))
	}
	o.picture = weaknessChart(counts).blocks(nil)
	o.changes(r)
	var roles, sizes [][]string
	for _, a := range res.Roles {
		roles = append(roles, []string{a.Agent, a.Role, a.Source})
	}
	for _, s := range res.Summaries {
		name := s.Agent
		if name == "" {
			name = "judge"
		}
		sizes = append(sizes, []string{name, fmt.Sprint(s.Round), formatCount(s.Before), formatCount(s.After)})
	}
	o.standings = slices.Concat(
		tableBlock("Roles", []string{"Agent", "Role", "Prompt source"}, roles),
		tableBlock("Summaries", []string{"For", "Round", "Characters before", "Characters after"}, sizes),
	)
	return o
}

// weaknessChart returns the number of weaknesses that the agents found, by severity and round.
func weaknessChart(counts map[int]map[string]int) *lineChart {
	c := &lineChart{title: "Weaknesses that the agents named", unit: "Weaknesses", counts: true}
	for _, severity := range []string{"critical", "major", "minor"} {
		for _, round := range sorted(counts) {
			c.set(severity, round, float64(counts[round][severity]))
			c.maximum = max(c.maximum, float64(counts[round][severity]))
		}
	}
	return c
}

// changes adds what each agent proposed first and what it has refined it to.
func (o *outcome) changes(r *Report) {
	first, last := map[string]*transcript.Turn{}, map[string]*transcript.Turn{}
	var names []string
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind != transcript.Speech || t.Phase != "propose" && t.Phase != "refine" {
			continue
		}
		if first[t.Actor] == nil {
			first[t.Actor], names = t, append(names, t.Actor)
		}
		last[t.Actor] = t
	}
	for _, name := range names {
		if first[name] != last[name] {
			o.reason("What changed", name,
				fmt.Sprintf("Proposed, in %s: %s", plural(len(strings.Fields(first[name].Text)), "word", "words"), beginning(readable(r, first[name].Text))),
				fmt.Sprintf("Refined, in %s: %s", plural(len(strings.Fields(last[name].Text)), "word", "words"), beginning(readable(r, last[name].Text))))
		}
	}
}

// councilOutcome returns the outcome of a council.
func councilOutcome(r *Report, data json.RawMessage) (o outcome) {
	res := decodeOrZero[council.Result](data)
	bars := barChart{title: "Standings of the answers", unit: "Score (0–1)", maximum: 1, names: []string{"Score"}}
	best := 0
	for _, s := range res.Standings {
		bars.rows = append(bars.rows, barRow{s.Member, []float64{s.Score}})
		if s.Place == 1 {
			best++
		}
	}
	o.picture, o.notes = bars.blocks(r.cast()), res.Notes
	o.text = res.Answer
	if res.By != "" {
		o.decision = "The answer is by the chair, " + res.By
		if res.StandIn {
			o.decision = "The answer is by " + res.By + ", because the chair gave none"
		}
		if short := shortAnswer(res.Answer); short != "" {
			o.decision, o.text, o.clauses = "The answer is "+short, "", []string{strings.Replace(o.decision, "The answer", "it", 1)}
		}
	}
	if best > 0 && o.decision != "" {
		var names []string
		for _, s := range res.Standings[:best] {
			names = append(names, s.Member)
		}
		o.clauses = append(o.clauses, fmt.Sprintf("the members ranked the answer of %s first, with a score of %s of 1 from %s",
			naming.Enumerate(names, 3), formatScore(res.Standings[0].Score), plural(len(res.Rankings), "ranking", "rankings")))
		o.clauses = append(o.clauses, otherFavorites(res, names))
	}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if k, err := transcript.Decode[council.Ranking](*t); err == nil {
			var list []string
			for n, x := range k.Ranking {
				list = append(list, fmt.Sprintf("Place %d, %s: %s", n+1, x.Name, x.Reason))
			}
			o.reason("How they ranked", t.Actor, append(list, k.Comparison)...)
		}
	}
	o.reason("Where the answers differ", "", res.Disagreements...)
	return o
}

// otherFavorites says which members ranked another answer first than the one with the best standing.
func otherFavorites(res council.Result, best []string) string {
	var list []string
	for _, k := range res.Rankings {
		if len(k.Best) > 0 && !slices.Contains(best, k.Best[0]) && !slices.Contains(best, k.Member) {
			list = append(list, k.Member+" prefers that of "+k.Best[0])
		}
	}
	return naming.Enumerate(list, 3)
}

// madOutcome returns the outcome of a debate with a moderator.
func madOutcome(r *Report, data json.RawMessage) (o outcome) {
	res := decodeOrZero[mad.Result](data)
	o.notes = res.Notes
	if res.Answer != "" {
		o.decision = fmt.Sprintf("The answer is “%s”, decided by the %s", truncateText(res.Answer, 120), res.DecidedBy)
		if len(res.Rounds) > 0 {
			o.decision += " after " + plural(len(res.Rounds), "round", "rounds")
		}
		if res.Supported != "" {
			o.clauses = append(o.clauses, "it is the answer of "+res.Supported)
		} else {
			o.clauses = append(o.clauses, "it is nobody's last answer")
		}
		o.text = res.Reasoning
	}
	preferred := map[string]int{}
	var rounds [][]string
	for _, x := range res.Rounds {
		supported := x.Supported
		switch {
		case x.Defaulted:
			supported = "no valid decision"
		case !x.Preference:
			supported = "no preference"
		}
		preferred[supported]++
		rounds = append(rounds, []string{fmt.Sprint(x.Round), supported, x.Reasoning})
	}
	if len(res.Rounds) > 0 && o.decision != "" && res.DecidedBy != "moderator" {
		o.clauses = append(o.clauses, fmt.Sprintf("the moderator preferred no answer in %d of %s", preferred["no preference"]+preferred["no valid decision"], plural(len(rounds), "round", "rounds")))
	}
	bars := barChart{title: "What the moderator preferred", unit: "Rounds", counts: true, maximum: float64(len(rounds)), names: []string{"Rounds"}}
	for _, name := range sorted(preferred) {
		bars.rows = append(bars.rows, barRow{name, []float64{float64(preferred[name])}})
	}
	o.picture = bars.blocks(r.cast())
	o.lastStatements(r)
	o.reason("Answers between which the judge decided", "", res.Candidates...)
	o.evidence = tableBlock("The moderator after each round", []string{"Round", "Preference", "Reasoning"}, rounds)
	return o
}
