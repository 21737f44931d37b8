package influence

import (
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// outcome holds what the judges of a debate say.
type outcome struct {
	winner string // a participant, an option or an answer; empty if there is none
	wins   bool   // the judges may name a winner
	scale  scale
	scores map[string]float64 // by participant, option or answer; under "" a score of the whole
}

// scale says what scores are, and between which numbers they are.
type scale struct {
	name        string // in words, after "the change of"; empty if there are no scores
	lead        bool   // it is the score of one minus the mean of the others
	votes       bool   // it is a share of votes: who has none has 0
	least, most float64
}

// points is the scale of assessments.
var points = scale{name: "the lead in points", lead: true, least: -10, most: 10}

// outcomeOf reads what the judges of a debate say who decide in the given phases. It returns false if they neither decide nor
// score.
func outcomeOf(r *debate.Result, deciding []string) (outcome, bool) {
	m := r.Outcome.Measure
	if m == nil {
		return outcome{}, false
	}
	_, whole := m.Values[""]
	o := outcome{
		winner: m.Won,
		wins:   !whole,
		scale:  scale{name: m.Name, lead: m.Lead, votes: m.Votes, least: m.Least, most: m.Most},
		scores: m.Values,
	}
	scores := assessed(r, deciding)
	if len(scores) > 0 {
		o.scale = points
		o.scores = scores
	}
	return o, true
}

// assessed returns the mean scores of the assessments that decide. They are nil if none does.
func assessed(r *debate.Result, deciding []string) map[string]float64 {
	var list []judge.Assessment
	for _, t := range r.Assessments {
		var x judge.Assessment
		if slices.Contains(deciding, t.Phase) && !slices.Contains(t.Flags, transcript.Defaulted) && json.Unmarshal(t.Data, &x) == nil {
			list = append(list, x)
		}
	}
	return judge.MeanScores(list...)
}

// score returns the score of one outcome, and false if it has none.
func (o outcome) score(of string) (float64, bool) {
	if _, whole := o.scores[""]; whole {
		of = ""
	}
	own, ok := o.scores[of]
	if !o.scale.lead || !ok {
		return own, ok || o.scale.votes
	}
	others := 0.0
	for name, x := range o.scores {
		if name != of {
			others += x / float64(max(len(o.scores)-1, 1))
		}
	}
	return own - others, len(o.scores) > 1
}
