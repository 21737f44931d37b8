package pairwise

import (
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns which answer is better, and the reasons of the judges.
func (Protocol) Outcome(_ *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Comparison of two answers"}
	x, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Winner = x.letter()
	o.Sentence = x.sentence()
	if x.Senior != "" {
		o.Clauses = []string{x.Senior + " decided, because the jury did not"}
		o.DecidedBy = x.Senior
	}
	o.AddReason("Why the judges decided so", "", x.Reasons...)
	return o
}
