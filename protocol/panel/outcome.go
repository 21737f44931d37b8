package panel

import (
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Outcome returns the vote of the audience, the decision or the verdict.
func (p Protocol) Outcome(r *protocol.Record, a protocol.Answer) (o protocol.Outcome) {
	_, noAudience := DecodeAudience(a)
	switch {
	case p.Format == Oxford, noAudience == nil:
		return audienceOutcome(r, a)
	case a.Type == decision.Type:
		o = outcome.OfDecision(a)
	default:
		var joint judge.Opinion[judge.Verdict]
		_ = json.Unmarshal(a.Data, &joint) // without data, there is no verdict yet
		o = outcome.OfVerdict(r.Turns, p.Jury, joint, p.ByScores)
	}
	o.Kind = "Panel"
	return o
}

// audienceOutcome returns the vote of the audience.
func audienceOutcome(r *protocol.Record, answer protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Panel before an audience", Office: "audience"}
	a, err := DecodeAudience(answer)
	if err != nil {
		return o
	}
	o.Winner = a.Winner
	o.Sentence, o.Clauses = audienceSentence(a)
	members := audienceOf(r)
	if missing := len(members) - len(a.Members); missing > 0 {
		o.Notes = append(o.Notes, fmt.Sprintf("%d of %d members of the audience are not counted, because a valid vote is missing.",
			missing, len(members)))
	}
	o.Votes = map[string]int{sideFor: a.After.For, sideAgainst: a.After.Against, undecided: a.After.Undecided}
	o.Measure = &protocol.Measure{
		Name: "the share of the audience that is won over", Least: -1, Most: 1, Values: map[string]float64{},
		Won: a.Winner,
	}
	o.Chart = &protocol.Chart{Title: "Votes of the audience", Unit: "Votes", Counts: true, Maximum: float64(max(len(a.Members), 1))}
	for _, x := range a.changes() {
		o.Chart.Set(x.vote, "before", float64(x.before))
		o.Chart.Set(x.vote, "after", float64(x.after))
		if x.vote != undecided && len(a.Members) > 0 {
			o.Measure.Values[x.vote] = float64(x.after-x.before) / float64(len(a.Members))
		}
	}
	table := protocol.Exhibit{Title: "Votes of each member", Header: []string{"Member", "Before", "After"}}
	for _, m := range a.Members {
		table.Rows = append(table.Rows, []string{m.Name, m.Before, m.After})
	}
	o.Evidence = []protocol.Exhibit{table}
	outcome.AddLastStatements(&o, r.Turns)
	for i := range r.Turns {
		t := &r.Turns[i]
		vote, err := transcript.Decode[AudienceVote](*t)
		if err == nil && t.Kind == transcript.Conclusion {
			o.AddReason("Why the audience voted so", t.Actor, vote.Reasoning)
		}
	}
	return o
}

// audienceSentence says which side won the audience, by how much, and who voted otherwise.
func audienceSentence(a Audience) (sentence string, clauses []string) {
	forward := fmt.Sprintf("for went from %d to %d", a.Before.For, a.After.For)
	against := fmt.Sprintf("against went from %d to %d", a.Before.Against, a.After.Against)
	switch a.Winner {
	case sideFor:
		sentence = "The side “for” won the audience: the votes " + forward
		clauses = []string{"those " + against}
	case sideAgainst:
		sentence = "The side “against” won the audience: the votes " + against
		clauses = []string{"those " + forward}
	default:
		return "Nobody won the audience: the votes " + forward, []string{"those " + against}
	}
	var others []string
	for _, m := range a.Members {
		if m.After != a.Winner {
			others = append(others, m.Name+" voted "+m.After)
		}
	}
	if len(others) == 0 {
		others = []string{outcome.All(len(a.Members), "members") + " voted " + a.Winner}
	}
	return sentence, append(clauses, "at the end, "+naming.Enumerate(others, 4))
}
