// Package decision defines what judges decide, what they reply, and how the replies of several judges become one decision.
//
//	cfg := debate.Config{
//		Topic:    "Order 4711: does the customer get a refund?",
//		Protocol: panel.Protocol{Decision: decision.Task{Options: []string{"Refund in full", "Refund half", "Refuse"}}},
//		...
//	}
//	...
//	var d decision.Joint[decision.Choice]
//	err = result.Answer.Decode(decision.Type, &d)
//	fmt.Println(d.Option, d.Choice, d.Value.Conditions)
//
// A [Task] says what is decided: one of two to sixteen options, or the reply of a contract of your own. With options, each
// judge replies with a [Choice]. The answer of the debate is a [Joint] decision, even with a single judge.
//
// # Contracts of your own
//
// Name a contract of Options.Contracts in [Task.Contract], and mark the field that decides with the tag decision:"choice". It
// is a text, a whole number or a boolean:
//
//	type Refund struct {
//		Reasons []string `json:"reasons"`
//		Percent int      `json:"percent" decision:"choice"`
//	}
//
//	var contract = reply.New[Refund]("refund/1")
//
// Several judges decide by majority of that field. A contract that marks no field takes one judge, who replies once. If *T
// has no Default, there is no decision to fall back on, so a judge that fails stops the debate with an error.
package decision

import (
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

// Contract is the contract of a judge's reply to a task with options.
var Contract = reply.New[Choice]("choice/1")

// Choice is a judge's reply to a task with options.
type Choice struct {
	Summary     string   `json:"summary" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the case and the decision, in a few sentences"`
	Reasons     []Reason `json:"reasons" jsonschema:"maxItems=8" jsonschema_description:"the reasons that decided, the strongest first"`
	Conditions  []string `json:"conditions,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"conditions under which the decision holds"`
	WouldChange []string `json:"would_change,omitempty" jsonschema:"maxItems=8,maxLength=400" jsonschema_description:"facts or arguments that would change the decision"`
	Option      int      `json:"option" jsonschema:"minimum=0,maximum=16" jsonschema_description:"the number of the option that you choose"`
	Chosen      string   `json:"chosen,omitempty" jsonschema:"-"` // the text of the option; computed, and never read from a reply
	Confidence  float64  `json:"confidence" jsonschema:"minimum=0,maximum=100" jsonschema_description:"the probability that the decision is right, in percent, by your own judgment: 50 is a coin toss, 100 is certain"`
}

// Reason is a reason for a decision.
type Reason struct {
	Text    string `json:"text" jsonschema:"minLength=1,maxLength=400" jsonschema_description:"the reason, in one or two sentences"`
	Speaker string `json:"speaker,omitempty" names:"participants" jsonschema:"maxLength=200" jsonschema_description:"the participant who gave it, exactly as named; leave it out if nobody did"`
	Round   int    `json:"round,omitempty" jsonschema:"minimum=0" jsonschema_description:"the round in which the participant gave it; leave it out if nobody did"`
}

// noDecision is the summary of the default.
const noDecision = "The judge gave no valid decision. This one does not count."

// Default sets a reply without an option. It does not count.
func (c *Choice) Default([]string) { *c = Choice{Summary: noDecision, Reasons: []Reason{}} }

// isDefault reports whether the reply is the default.
func (c *Choice) isDefault() bool { return c.Summary == noDecision && len(c.Reasons) == 0 }

// CheckSpeakers corrects the spelling of speakers' names. It returns a violation for each speaker that is not among them, and for
// each speaker without a round.
func (c *Choice) CheckSpeakers(names []string) (findings []string) {
	for i := range c.Reasons {
		x := &c.Reasons[i]
		findings = append(findings, naming.Participant.CheckOptional(&x.Speaker, names, fmt.Sprintf("/reasons/%d/speaker", i))...)
		switch {
		case x.Speaker != "" && x.Round == 0:
			findings = append(findings, fmt.Sprintf("/reasons/%d/round: it is missing, give the round in which %q said it", i, x.Speaker))
		case x.Speaker == "":
			x.Round = 0
		}
	}
	return findings
}

// Check rounds the confidence to a whole percentage. It returns a violation if there is no reason, and if the confidence looks
// like a share of 1.
func (c *Choice) Check([]string) (findings []string) {
	if c.isDefault() {
		return nil
	}
	if len(c.Reasons) == 0 {
		findings = append(findings, "/reasons: there is none, give at least one")
	}
	findings = append(findings, contract.CheckConfidence(c.Confidence)...)
	c.Confidence = math.Round(c.Confidence)
	return findings
}

// Text returns the reply for readers.
func (c *Choice) Text() string {
	var lines []string
	if c.Option > 0 {
		option := fmt.Sprintf("Option %d", c.Option)
		if c.Chosen != "" {
			option += ": " + c.Chosen
		}
		lines = append(lines, fmt.Sprintf("%s, with a confidence of %.0f %%.", option, c.Confidence))
	}
	lines = append(lines, c.Summary)
	for _, x := range c.Reasons {
		lines = append(lines, "Reason: "+x.String())
	}
	for _, x := range c.Conditions {
		lines = append(lines, "Condition: "+x)
	}
	for _, x := range c.WouldChange {
		lines = append(lines, "What would change it: "+x)
	}
	return strings.Join(lines, "\n")
}

// String returns the reason with its speaker and its round.
func (x Reason) String() string {
	if x.Speaker == "" {
		return x.Text
	}
	return fmt.Sprintf("%s (%s, round %d)", x.Text, x.Speaker, x.Round)
}
