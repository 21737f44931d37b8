package main

import (
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// script extends the offline demo model with a decision, and with scores by the rubric.
type script struct{ providers.Provider }

// Generate implements providers.Provider.
func (s script) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	var said any
	switch r.SchemaName {
	case contract.Name():
		said = Refund{
			Facts:  []string{"The terms say: in the first year, the shop must show that the customer caused a damage."},
			Letter: "The offline demo model cannot weigh the case. By the terms, we refund the price.", Percent: 100, Confidence: 50,
		}
	case judge.AssessmentContract.Name():
		a := judge.Assessment{Reasoning: "The offline demo model cannot weigh arguments.", Quality: 5, ShouldContinue: true}
		for _, name := range []string{"Debater A", "Debater B"} { // the judge's names of the participants
			a.Participants = append(a.Participants, judge.ParticipantAssessment{
				Name: name, Criteria: []judge.CriterionScore{{Criterion: "facts", Score: 5}, {Criterion: "terms", Score: 5}},
			})
		}
		said = a
	default:
		return s.Provider.Generate(ctx, r)
	}
	b, err := json.Marshal(said)
	if err != nil {
		return providers.Response{}, err
	}
	p := scripted.Provider{Replies: []scripted.Reply{{Text: string(b)}}}
	return p.Generate(ctx, r)
}
