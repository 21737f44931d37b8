package skeptic

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns the answer, and what the skeptic objected to.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Proposer and skeptic"}
	t, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Text = t.Answer
	o.Answer = t.Answer
	last := addCritiques(&o, t)
	if last != nil {
		addState(&o, t, last)
	}
	var settled []string
	for _, x := range t.Rounds {
		if x.Critique == nil || x.Critique == last {
			continue
		}
		for _, issue := range x.Critique.Issues {
			settled = append(settled, fmt.Sprintf("Round %d, %s: %s", x.Round, issue.Severity, issue.Text))
		}
	}
	if t.Plan != nil {
		addPlan(&o, *t.Plan)
	}
	o.AddReason("What the skeptic objected to before", "", settled...)
	o.Details = []protocol.Exhibit{{Title: "Reasoning templates:", List: t.Templates, Internal: true}}
	return o
}

// addPlan adds what was changed in a plan, and which objections it does not meet.
func addPlan(o *protocol.Outcome, plan ImprovedPlan) {
	var changes, unmet []string
	for _, c := range plan.Changes {
		changes = append(changes, c.What+" ("+c.Why+")")
	}
	for _, x := range plan.Unmet() {
		unmet = append(unmet, x.Issue+" ("+x.Reason+")")
	}
	o.AddReason("What changed", "", changes...)
	o.AddDissent("Objections that are not met", unmet...)
}

// addCritiques adds a table and a chart of the critiques, and returns the last one.
func addCritiques(o *protocol.Outcome, t Trace) (last *Critique) {
	o.Chart = &protocol.Chart{Title: "The skeptic's score for the answer", Unit: "Score (0–10)", Maximum: 10, ByRound: true}
	table := protocol.Exhibit{Title: "Critiques", Header: []string{"Round", "Score (0–10)", "Ready", "Issues"}}
	for _, x := range t.Rounds {
		c := x.Critique
		if c == nil {
			continue
		}
		last = c
		score, ready := "none", "no"
		if c.Score != nil {
			score = outcome.Number(*c.Score)
			o.Chart.SetRound(x.Round, "answer", *c.Score)
			o.SetScore("answer", *c.Score)
		}
		if c.Ready {
			ready = "yes"
		}
		table.Rows = append(table.Rows, []string{fmt.Sprint(x.Round), score, ready, fmt.Sprint(len(c.Issues))})
	}
	o.Evidence = []protocol.Exhibit{table}
	return last
}

// addState says whether the skeptic considers the answer ready, and what it still objects to.
func addState(o *protocol.Outcome, t Trace, last *Critique) {
	ready := "does not consider the answer ready"
	if last.Ready {
		ready = "considers the answer ready"
	}
	if last.Score != nil {
		ready += fmt.Sprintf(", with a score of %s of 10", outcome.Number(*last.Score))
	}
	o.Sentence = "The skeptic " + ready
	short := outcome.Short(t.Answer)
	if short != "" {
		o.Sentence = "The answer is " + short
		o.Text = ""
		o.Clauses = []string{"the skeptic " + ready}
	}
	rounds := 0
	for _, x := range t.Rounds {
		if x.Critique != nil {
			rounds++
		}
	}
	o.Clauses = append(o.Clauses, "it took "+outcome.Count(rounds, "round", "rounds"), describeIssues(last))
	var issues []string
	for _, x := range last.Issues {
		issues = append(issues, string(x.Severity)+": "+x.Text)
	}
	o.AddReason("What the skeptic still objects to", "", issues...)
}

// describeIssues counts the open issues of a critique by severity.
func describeIssues(c *Critique) string {
	if len(c.Issues) == 0 {
		return "no issue is open"
	}
	var list []string
	for _, s := range severities {
		n := c.count(s)
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.TrimSuffix(outcome.Count(len(c.Issues), "issue is open: ", "issues are open: ")+naming.Enumerate(list, 3), ": ")
}
