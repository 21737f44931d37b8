package pairwise

import (
	"fmt"

	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/reply"
)

// Contract is the contract of a judge's reply.
var Contract = reply.New[Preference]("pairwise/1")

// The values of Preference.Winner.
const (
	First   string = "first"   // answer 1, which the judge saw first
	Second  string = "second"  // answer 2
	Neither string = "neither" // the answers are equally good
)

// Preference is a judge's reply about the two answers as it saw them.
type Preference struct {
	Reason string `json:"reason" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"what decides between the answers, in at most 100 words"`
	Winner string `json:"winner" jsonschema:"enum=first,enum=second,enum=neither" jsonschema_description:"the better answer: first is answer 1, second is answer 2"`
	Margin int    `json:"margin" jsonschema:"minimum=0,maximum=3" jsonschema_description:"how much better it is: 1 slightly, 2 clearly, 3 by far; 0 only for neither"`
}

// Check returns a violation if winner and margin contradict each other.
func (p *Preference) Check([]string) []string {
	if (p.Winner == Neither) != (p.Margin == 0) {
		return []string{fmt.Sprintf("/margin: %d contradicts the winner, which is %s: use 0 for neither, and 1 to 3 for first or second", p.Margin, p.Winner)}
	}
	return nil
}

// Default sets a reply for neither answer.
func (p *Preference) Default([]string) {
	*p = Preference{Reason: "The judge gave no valid decision.", Winner: Neither}
}

// Text returns the reply for readers.
func (p *Preference) Text() string {
	switch p.Winner {
	case First:
		return fmt.Sprintf("Answer 1 is better, by %d of 3. %s", p.Margin, p.Reason)
	case Second:
		return fmt.Sprintf("Answer 2 is better, by %d of 3. %s", p.Margin, p.Reason)
	}
	return "Neither answer is better. " + p.Reason
}

// Decision returns the decision about the answers A and B. swapped says that the judge saw B first.
func (p *Preference) Decision(swapped bool) agreement.Decision {
	switch {
	case p.Winner == Neither:
		return agreement.Tie
	case (p.Winner == First) != swapped:
		return agreement.A
	}
	return agreement.B
}

// margin returns the margin toward A, from -3 to 3.
func (p *Preference) margin(swapped bool) float64 {
	if p.Decision(swapped) == agreement.B {
		return -float64(p.Margin)
	}
	return float64(p.Margin)
}
