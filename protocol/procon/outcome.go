package procon

import (
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Outcome returns the judgment or the decision. Its reasons are the arguments of each side.
func (p Protocol) Outcome(r *protocol.Record, a protocol.Answer) (o protocol.Outcome) {
	if a.Type == decision.Type {
		o = outcome.OfDecision(a)
		o.Kind = kind
		return o
	}
	o.Kind = kind
	j, err := DecodeAnswer(a)
	if err == nil {
		addJudgment(&o, j, r.Judges)
	}
	outcome.AddStatements(&o, "Arguments", r.Turns)
	if j.NoNewArguments {
		o.AddReason("How it ended", "", "The last round of arguments brought no new argument.")
	}
	o.AddDissent("Dissenting judges", j.Dissent...)
	return o
}

// kind is what readers call such a debate.
const kind = "Pro and con"

// addJudgment adds who won, with which scores, and who dissents.
func addJudgment(o *protocol.Outcome, j Judgment, judges []string) {
	o.Winner = j.Winner
	o.Dissent = j.Dissent
	o.Chart = &protocol.Chart{Title: "Scores by the judges", Unit: "Score (0–10)", Maximum: 10}
	var scores []outcome.Score
	for _, s := range j.Participants {
		o.SetScore(s.Name, s.Score)
		o.Chart.Set(s.Name, "Score", s.Score)
		scores = append(scores, outcome.Score{Name: s.Name, Value: s.Score})
	}
	o.Measure = outcome.PointsMeasure(j.Winner, o.Scores)
	if j.Summary == "" {
		return
	}
	o.Sentence = outcome.Won(j.Winner, scores, "score")
	o.Text = j.Summary
	switch {
	case len(j.Dissent) > 0:
		o.Clauses = append(o.Clauses, outcome.Count(len(j.Dissent), "judge dissents", "judges dissent"))
	case len(judges) == 1:
		o.Clauses = append(o.Clauses, "the judge is "+judges[0])
	case len(judges) > 1:
		o.Clauses = append(o.Clauses, "no judge dissents")
	}
}
