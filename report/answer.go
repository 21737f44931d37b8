package report

import (
	"cmp"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/judge/decision"
)

// An Answer is what a debate came to, for programs that act on it. Each field is there in each answer, whatever the protocol; fields
// may be added, and none changes its meaning. docs/reference/answer.schema.json is its JSON Schema.
type Answer struct {
	ID string `json:"id"` // of the debate
	// Complete is set if the debate has completed. Otherwise it can still go on, or it was canceled, and nothing is decided.
	Complete bool `json:"complete"`
	// Decision is the option that was chosen, the verdict of a review, or who or what has won. It is empty if nothing was decided.
	Decision string `json:"decision"`
	// Option is the number of the chosen option, from 1. It is 0 if the debate did not decide between options.
	Option int `json:"option"`
	// Confidence is the mean confidence of those who chose the decision, in percent. It is null if nobody has given one.
	Confidence *float64  `json:"confidence"`
	Text       string    `json:"text"`     // the answer for readers, in Markdown by models
	Reasons    []string  `json:"reasons"`  // for the decision or the answer, in Markdown by models
	Dissent    []string  `json:"dissent"`  // opinions of those who decided otherwise, or the strongest case against the decision
	Findings   []Finding `json:"findings"` // of a review
	Warnings   []string  `json:"warnings"` // what a reader should know before relying on the answer
	Cost       Cost      `json:"cost"`
}

// Cost is what a debate has cost so far.
type Cost struct {
	Amount float64 `json:"amount"` // in the currency of the prices
	// Currency is empty if it is not known. Command debate knows that of the built-in prices.
	Currency string `json:"currency"`
	// Partial is set if some of the models have no price, so that the debate has cost more.
	Partial      bool `json:"partial"`
	InputTokens  int  `json:"input_tokens"`
	OutputTokens int  `json:"output_tokens"`
}

// Answer returns what the debate came to. The currency is that of the prices; it may be empty.
func (r *Report) Answer(currency string) Answer {
	used := r.Result.Total.Usage
	a := Answer{
		ID: r.Result.ID, Reasons: []string{}, Dissent: []string{}, Findings: []Finding{}, Warnings: []string{},
		Cost: Cost{Amount: used.Cost, Currency: currency, Partial: used.Unpriced, InputTokens: used.Input, OutputTokens: used.Output},
	}
	if r.Result.State != fsm.Completed {
		return a
	}
	a.Complete = true
	o := &r.Result.Outcome
	a.Decision = cmp.Or(o.Choice, o.Winner)
	a.Option = o.Option
	if o.Confidence > 0 || o.Choice != "" && r.Result.Answer.Type == decision.Type {
		confidence := o.Confidence
		a.Confidence = &confidence
	}
	a.Text = strings.TrimSpace(r.Result.Answer.Text)
	for _, x := range o.Reasons {
		if !x.Against {
			a.Reasons = append(a.Reasons, readmodel.Points(&r.Result, x)...)
		}
	}
	a.Dissent = append(a.Dissent, o.Dissent...)
	a.Findings = append(a.Findings, r.Findings()...)
	a.Warnings = append(a.Warnings, r.Result.Answer.Warnings...)
	return a
}
