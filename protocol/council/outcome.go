package council

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Outcome returns the chair's answer, and how the members ranked the answers.
func (Protocol) Outcome(r *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Council"}
	res, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Notes = res.Notes
	o.Text = res.Answer
	o.Answer = res.Answer
	o.DecidedBy = res.By
	o.Chart = &protocol.Chart{Title: "Standings of the answers", Unit: "Score (0–1)", Maximum: 1}
	var best []string
	for _, s := range res.Standings {
		o.SetScore(s.Member, s.Score)
		o.Chart.Set(s.Member, "Score", s.Score)
		if s.Place == 1 {
			best = append(best, s.Member)
		}
	}
	if len(best) == 1 {
		o.Winner = best[0]
	}
	addAnswer(&o, res)
	if len(best) > 0 && o.Sentence != "" {
		o.Clauses = append(o.Clauses, fmt.Sprintf("the members ranked the answer of %s first, with a score of %s of 1 from %s",
			naming.Enumerate(best, 3), outcome.Number(res.Standings[0].Score), outcome.Count(len(res.Rankings), "ranking", "rankings")))
		o.Clauses = append(o.Clauses, otherFavorites(res, best))
	}
	for i := range r.Turns {
		t := &r.Turns[i]
		k, err := transcript.Decode[Ranking](*t)
		if err != nil {
			continue
		}
		var list []string
		for n, x := range k.Ranking {
			list = append(list, fmt.Sprintf("Place %d, %s: %s", n+1, x.Name, x.Reason))
		}
		o.AddReason("How they ranked", t.Actor, append(list, k.Comparison)...)
	}
	o.AddReason("Where the answers differ", "", res.Disagreements...)
	return o
}

// addAnswer says whose answer it is, and what it is if it is short.
func addAnswer(o *protocol.Outcome, res Result) {
	if res.By == "" {
		return
	}
	o.Sentence = "The answer is by the chair, " + res.By
	if res.StandIn {
		o.Sentence = "The answer is by " + res.By + ", because the chair gave none"
	}
	short := outcome.Short(res.Answer)
	if short == "" {
		return
	}
	o.Clauses = []string{strings.Replace(o.Sentence, "The answer", "it", 1)}
	o.Sentence = "The answer is " + short
	o.Text = ""
}

// otherFavorites says which members ranked another answer first than the one with the best standing.
func otherFavorites(res Result, best []string) string {
	var list []string
	for _, k := range res.Rankings {
		if len(k.Best) > 0 && !slices.Contains(best, k.Best[0]) && !slices.Contains(best, k.Member) {
			list = append(list, k.Member+" prefers that of "+k.Best[0])
		}
	}
	return naming.Enumerate(list, 3)
}
