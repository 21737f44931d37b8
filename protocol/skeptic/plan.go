package skeptic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// PlanContract is the contract of the synthesizer's reply if [Protocol.Plan] is set.
var PlanContract = reply.New[ImprovedPlan]("improved-plan/1")

// ImprovedPlan is the reply of the synthesizer: the plan, with what was changed and what the skeptic still objects to.
type ImprovedPlan struct {
	Plan    string   `json:"plan" jsonschema:"minLength=1,maxLength=60000" jsonschema_description:"the whole improved plan, for readers who have not followed the debate"`
	Changes []Change `json:"changes" jsonschema:"maxItems=64" jsonschema_description:"what differs from the original plan, the most important first; an empty list if nothing does"`
	// Objections has one entry for each issue of the last critique.
	Objections []Objection `json:"objections" jsonschema:"maxItems=64" jsonschema_description:"one entry for each open issue, by its number; an empty list if there are none"`
}

// Change is a difference between two versions of a plan.
type Change struct {
	What string `json:"what" jsonschema:"minLength=1,maxLength=600" jsonschema_description:"what was changed, added or removed"`
	Why  string `json:"why" jsonschema:"minLength=1,maxLength=600" jsonschema_description:"the objection or the reason behind it"`
}

// Objection says what became of an issue of the last critique.
type Objection struct {
	Number int    `json:"number" jsonschema:"minimum=1,maximum=64" jsonschema_description:"the number of the issue"`
	Issue  string `json:"issue,omitempty" jsonschema:"-"` // its text; computed, and never read from a reply
	Reason string `json:"reason" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"how the plan meets it, or why it does not"`
	Met    bool   `json:"met" jsonschema_description:"whether the improved plan meets it"`
}

// noPlan is the plan of the default.
const noPlan = "The synthesizer gave no valid plan."

// Default sets a reply without a plan. The last version of the proposer is the answer then.
func (p *ImprovedPlan) Default([]string) {
	*p = ImprovedPlan{Plan: noPlan, Changes: []Change{}, Objections: []Objection{}}
}

// Text returns the plan for readers, with what changed and what is not met.
func (p *ImprovedPlan) Text() string {
	parts := []string{p.Plan}
	var changes, open []string
	for _, c := range p.Changes {
		changes = append(changes, "- "+c.What+" ("+c.Why+")")
	}
	for _, o := range p.Unmet() {
		issue := o.Issue
		if issue == "" {
			issue = "Issue " + strconv.Itoa(o.Number)
		}
		open = append(open, "- "+issue+" ("+o.Reason+")")
	}
	if len(changes) > 0 {
		parts = append(parts, "## What changed\n\n"+strings.Join(changes, "\n"))
	}
	if len(open) > 0 {
		parts = append(parts, "## Objections that are not met\n\n"+strings.Join(open, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

// Unmet returns the objections that the plan does not meet.
func (p *ImprovedPlan) Unmet() (list []Objection) {
	for _, o := range p.Objections {
		if !o.Met {
			list = append(list, o)
		}
	}
	return list
}

// openIssues returns the issues of the last critique that could be read.
func openIssues(r *protocol.Record) []Issue {
	for _, t := range slices.Backward(r.Turns) {
		if t.Kind != transcript.Speech || t.Phase != phaseAttack {
			continue
		}
		c, ok := turnCritique(&t)
		if !ok {
			return nil
		}
		return c.Issues
	}
	return nil
}

// askPlan adds the open issues to the synthesizer's prompt.
func askPlan(r *protocol.Record, s *protocol.Step) {
	issues := openIssues(r)
	lines := make([]string, len(issues))
	for i, x := range issues {
		lines[i] = fmt.Sprintf("%d. %s: %s", i+1, x.Severity, strings.Join(strings.Fields(x.Text), " "))
	}
	s.Vars = map[string]string{"issues": strings.Join(lines, "\n")}
	s.Check = checkPlan(issues)
}

// checkPlan returns the check of a plan. It adds the texts of the issues, and returns a violation for each issue that has not exactly one
// entry.
func checkPlan(issues []Issue) func(any) []string {
	return func(v any) (violations []string) {
		p, ok := v.(*ImprovedPlan)
		if !ok || p.Plan == noPlan && len(p.Objections) == 0 {
			return nil
		}
		count := make([]int, len(issues)+1)
		for i := range p.Objections {
			o := &p.Objections[i]
			if o.Number > len(issues) {
				violations = append(violations, fmt.Sprintf("/objections/%d/number: there are %d open issues", i, len(issues)))
				continue
			}
			count[o.Number]++
			o.Issue = issues[o.Number-1].Text
		}
		for n, times := range count {
			if n > 0 && times != 1 {
				violations = append(violations, fmt.Sprintf("/objections: issue %d has %d entries, give it one", n, times))
			}
		}
		return violations
	}
}
