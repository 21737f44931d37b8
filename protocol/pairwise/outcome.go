package pairwise

import (
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns which answer is better, and the reasons of the judges.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Comparison of two answers"}
	x, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	switch x.Winner {
	case agreement.A:
		o.Winner = "A"
		o.Sentence = "Answer A is better"
	case agreement.B:
		o.Winner = "B"
		o.Sentence = "Answer B is better"
	default:
		o.Sentence = "Neither answer is better"
	}
	if x.Senior != "" {
		o.Clauses = []string{x.Senior + " decided, because the jury did not"}
		o.DecidedBy = x.Senior
	}
	o.AddReason("Why the judges decided so", "", x.Reasons...)
	return o
}
