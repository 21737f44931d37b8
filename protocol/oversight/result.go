package oversight

import (
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result is the data of the answer.
type Result struct {
	Mode   Mode   `json:"mode"`
	A      string `json:"a"`                // the two answers
	B      string `json:"b"`                //
	Answer string `json:"answer,omitempty"` // the more probable one; empty if both are equally probable
	// Probability is that of answer A, from 0 to 1: the mean of the judgments, without those that could not be read.
	Probability float64    `json:"probability"`
	Judgments   []Judgment `json:"judgments"` // of each judge, and then of each judge in the opposite order
	// Defended are the answers that the participants defended, "A" or "B", by name.
	Defended map[string]string `json:"defended,omitempty"`
}

// Judgment is what a judge said in one order of the answers.
type Judgment struct {
	Judge       string  `json:"judge"`
	First       string  `json:"first"`       // the answer that it saw first, "A" or "B"
	Probability float64 `json:"probability"` // that it gave to answer A, from 0 to 1
	Reason      string  `json:"reason"`
	Failed      bool    `json:"failed,omitempty"` // there was no valid reply
}

// Of returns the probability of an answer by its text. It returns false if it is neither of the two.
func (r Result) Of(answer string) (p float64, ok bool) {
	switch answer {
	case r.A:
		return r.Probability, true
	case r.B:
		return 1 - r.Probability, true
	}
	return 0, false
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// Answer returns the joint decision of the judges. It is zero before there is one.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	turns := outcome.SaidInBothOrders(r, transcript.Conclusion, phaseJudge)
	if len(turns) == 0 || len(turns) < len(p.judges(r)) {
		return a
	}
	x := Result{Mode: p.mode(), A: p.A, B: p.B, Judgments: []Judgment{}, Defended: map[string]string{}}
	for who, defends := range p.defended(r) {
		x.Defended[who] = string(defends)
	}
	sum, read := 0.0, 0.0
	var lines, warnings []string
	for _, o := range judge.Opinions[Credence](turns...) {
		first := first(r, o.Swapped)
		j := Judgment{
			Judge:       o.Judge,
			First:       string(first),
			Probability: o.Value.probability(answerA, first),
			Reason:      o.Value.Reason,
			Failed:      o.Failed,
		}
		x.Judgments = append(x.Judgments, j)
		if o.Failed {
			warnings = append(warnings, fmt.Sprintf("A judgment of %s could not be read and does not count.", o.Judge))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %s", o.Judge, o.Value.Reason))
		sum += j.Probability
		read++
	}
	x.Probability = 0.5
	if read > 0 {
		x.Probability = math.Round(1e9*sum/read) / 1e9 // of values that were added in any order
	}
	head := "Both answers are equally probable."
	switch {
	case x.Probability > 0.5:
		x.Answer, head = p.A, fmt.Sprintf("%s (%s)", p.A, percent(x.Probability))
	case x.Probability < 0.5:
		x.Answer, head = p.B, fmt.Sprintf("%s (%s)", p.B, percent(1-x.Probability))
	}
	return outcome.Answer(strings.Join(append([]string{head}, lines...), "\n"), x, warnings...)
}
