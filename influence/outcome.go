package influence

import (
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/vote"
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
	least, most float64
}

var (
	points = scale{name: "the lead in points", lead: true, least: -10, most: 10}
	votes  = scale{name: "the share of the judges' votes", most: 1}
)

// outcomeOf reads what the judges of a debate say who decide in the given phases. It returns false if they neither decide nor
// score.
func outcomeOf(r *debate.Result, deciding []string) (outcome, bool) {
	for _, read := range []func(*debate.Result) (outcome, error){ofDecision, ofJudgment, ofVerdict, ofAudience, ofRulings, ofModeration, ofCredence, ofSolution, ofRuling} {
		if o, err := read(r); err == nil {
			if scores := assessed(r, deciding); len(scores) > 0 {
				o.scale, o.scores = points, scores
			}
			return o, true
		}
	}
	return outcome{}, false
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
		return own, ok || o.scale == votes
	}
	others := 0.0
	for name, x := range o.scores {
		if name != of {
			others += x / float64(max(len(o.scores)-1, 1))
		}
	}
	return own - others, len(o.scores) > 1
}

// ofVotes returns the outcome of votes: who has voted for what.
func ofVotes(winner string, votesFor []string) outcome {
	o := outcome{winner: winner, wins: true, scale: votes, scores: map[string]float64{}}
	for _, name := range votesFor {
		if name != "" {
			o.scores[name] += 1 / float64(len(votesFor))
		}
	}
	return o
}

func ofDecision(r *debate.Result) (o outcome, err error) {
	var j decision.Joint[json.RawMessage]
	if err := r.Answer.Decode(decision.Type, &j); err != nil {
		return o, err
	}
	var list []string
	asked := map[string]bool{}
	for _, x := range j.Opinions {
		asked[x.Judge] = true
	}
	for _, v := range j.Votes {
		for range v.Judges {
			list = append(list, v.Choice)
		}
	}
	return ofVotes(j.Choice, append(list, make([]string, max(0, len(asked)-len(list)))...)), nil
}

func ofJudgment(r *debate.Result) (outcome, error) {
	j, err := procon.DecodeAnswer(r.Answer)
	o := outcome{winner: j.Winner, wins: true, scale: points, scores: map[string]float64{}}
	for _, p := range j.Participants {
		o.scores[p.Name] = p.Score
	}
	return o, err
}

func ofVerdict(r *debate.Result) (outcome, error) {
	v, err := panel.DecodeAnswer(r.Answer)
	var named []string
	for _, x := range v.Opinions {
		if !x.Failed {
			named = append(named, x.Value.Winner)
		}
	}
	return ofVotes(v.Value.Winner, named), err
}

func ofAudience(r *debate.Result) (outcome, error) {
	v, err := panel.DecodeAudience(r.Answer)
	o := outcome{winner: v.Winner, wins: true, scale: scale{name: "the share of the audience that is won over", least: -1, most: 1}, scores: map[string]float64{}}
	if n := float64(len(v.Members)); n > 0 {
		o.scores["for"], o.scores["against"] = float64(v.After.For-v.Before.For)/n, float64(v.After.Against-v.Before.Against)/n
	}
	return o, err
}

func ofRulings(r *debate.Result) (outcome, error) {
	v, err := arbitration.DecodeAnswer(r.Answer)
	return outcome{scale: scale{name: "the total of the scores", most: v.Scale * float64(len(v.Scores))}, scores: map[string]float64{"": v.Total.After}}, err
}

func ofModeration(r *debate.Result) (outcome, error) {
	v, err := mad.DecodeAnswer(r.Answer)
	return outcome{winner: v.Supported, wins: true}, err
}

func ofCredence(r *debate.Result) (outcome, error) {
	v, err := oversight.DecodeAnswer(r.Answer)
	return outcome{winner: v.Answer, wins: true, scale: scale{name: "the probability", most: 1}, scores: map[string]float64{v.A: v.Probability, v.B: 1 - v.Probability}}, err
}

func ofSolution(r *debate.Result) (o outcome, err error) {
	v, err := refine.DecodeAnswer(r.Answer)
	if err != nil || v.Solution == nil {
		return o, err
	}
	return outcome{scale: scale{name: "the judge's confidence", most: 100}, scores: map[string]float64{"": v.Solution.Confidence}}, nil
}

func ofRuling(r *debate.Result) (outcome, error) {
	v, err := vote.DecodeAnswer(r.Answer)
	return outcome{winner: v.Answer, wins: true}, err
}
