package report

import (
	"encoding/json"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// Decision is what a debate has decided, for programs. A protocol fills the fields that it has.
type Decision struct {
	// Choice is what the judges decided on the merits, or the option that won a vote: its text, or the value of the field of a
	// contract that decides. It is empty if nothing was decided. Option is its number, from 1, and Confidence the mean
	// confidence of those who chose it, in percent.
	Choice     string  `json:"choice,omitempty"`
	Option     int     `json:"option,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// Winner is the participant, the side or the answer that won. It is empty if nobody won, or if judges decided.
	Winner string `json:"winner,omitempty"`
	// Scores are by participant: the mean scores of the judges, from 0 to 10, or the standings of a council, from 0 to 1.
	// Those of an arbitration are by category, and a skeptic's score is that of "answer".
	Scores map[string]float64 `json:"scores,omitempty"`
	// Votes are by choice, participant, side or answer: those of several judges, of an audience, or of the agents of a vote. Judges
	// who chose nobody, or who contradict themselves, are counted under "nobody".
	Votes map[string]int `json:"votes,omitempty"`
	// Dissent are the opinions of judges who decided otherwise, or the strongest case against the verdict, by models.
	Dissent []string `json:"dissent,omitempty"`
}

// decisions maps the library's protocols to the functions that return their decisions.
var decisions = map[string]func(*Report, json.RawMessage) Decision{
	arbitration.Protocol{}.Name(): arbitrationDecision,
	council.Protocol{}.Name():     councilDecision,
	mad.Protocol{}.Name():         madDecision,
	oversight.Protocol{}.Name():   oversightDecision,
	panel.Protocol{}.Name():       panelDecision,
	procon.Protocol{}.Name():      proconDecision,
	review.Protocol{}.Name():      reviewDecision,
	skeptic.Protocol{}.Name():     skepticDecision,
	vote.Protocol{}.Name():        voteDecision,
}

// Decision returns what the debate has decided. It is zero until the debate has ended.
func (r *Report) Decision() Decision {
	if !r.Result.State.Final() {
		return Decision{}
	}
	of := decisions[r.Result.Protocol]
	if r.Result.Answer.Type == decision.Type {
		of = jointDecision
	}
	if of == nil {
		of = verdictDecision
	}
	return of(r, r.Result.Answer.Data)
}

func panelDecision(r *Report, data json.RawMessage) Decision {
	a := decodeOrZero[audienceData](data).Audience
	if a == nil {
		return verdictDecision(r, data)
	}
	return Decision{Winner: a.Winner, Votes: map[string]int{"for": a.After.For, "against": a.After.Against, "undecided": a.After.Undecided}}
}

// verdictDecision returns the decision of a verdict, or of the joint verdict of a jury.
func verdictDecision(r *Report, data json.RawMessage) (d Decision) {
	joint := decodeOrZero[judge.Opinion[judge.Verdict]](data)
	v := joint.Value
	if v.Summary == "" {
		v = decodeOrZero[judge.Verdict](data)
	}
	d.Winner, d.Dissent = v.Winner, joint.Dissent
	if len(d.Dissent) == 0 && v.Dissent != "" {
		d.Dissent = []string{v.Dissent}
	}
	for _, s := range meanScores(r.roundAssessments()) {
		d.score(s.name, s.values[0])
	}
	d.Votes = judgesVotes(joint.Opinions)
	return d
}

// judgesVotes returns the votes of several judges by the winner that they chose.
func judgesVotes(opinions []judge.Opinion[judge.Verdict]) map[string]int {
	chosen := map[string]string{}
	for _, o := range opinions {
		winner := o.Value.Winner
		if before, twice := chosen[o.Judge]; winner == "" || twice && before != winner {
			winner = "nobody"
		}
		if !o.Failed && o.Judge != "" {
			chosen[o.Judge] = winner
		}
	}
	if len(chosen) < 2 {
		return nil
	}
	votes := map[string]int{}
	for _, winner := range chosen {
		votes[winner]++
	}
	return votes
}

func (d *Decision) score(name string, value float64) {
	if d.Scores == nil {
		d.Scores = map[string]float64{}
	}
	d.Scores[name] = value
}

func proconDecision(_ *Report, data json.RawMessage) (d Decision) {
	j := decodeOrZero[procon.Judgment](data)
	d.Winner, d.Dissent = j.Winner, j.Dissent
	for _, s := range j.Participants {
		d.score(s.Name, s.Score)
	}
	return d
}

func voteDecision(_ *Report, data json.RawMessage) Decision {
	t := decodeOrZero[vote.Tally](data)
	d := Decision{Winner: t.AnswerText, Option: t.Option}
	if t.Option > 0 {
		d.Choice = t.AnswerText
	}
	if t.Single {
		return d
	}
	d.Votes, d.Dissent = map[string]int{}, t.Dissent
	for _, a := range t.Answers {
		d.Votes[a.AnswerText] += a.Votes
	}
	return d
}

func councilDecision(_ *Report, data json.RawMessage) (d Decision) {
	first := 0
	for _, s := range decodeOrZero[council.Result](data).Standings {
		d.score(s.Member, s.Score)
		if s.Place == 1 {
			d.Winner, first = s.Member, first+1
		}
	}
	if first > 1 {
		d.Winner = ""
	}
	return d
}

func madDecision(_ *Report, data json.RawMessage) Decision {
	return Decision{Winner: decodeOrZero[mad.Result](data).Supported}
}

func arbitrationDecision(_ *Report, data json.RawMessage) (d Decision) {
	for _, s := range decodeOrZero[arbitration.Result](data).Scores {
		d.score(s.Category, s.After)
	}
	return d
}

func skepticDecision(_ *Report, data json.RawMessage) (d Decision) {
	for _, x := range decodeOrZero[skeptic.Trace](data).Rounds {
		if x.Critique != nil && x.Critique.Score != nil {
			d.score("answer", *x.Critique.Score)
		}
	}
	return d
}

// jointDecision returns what the judges have decided.
func jointDecision(_ *Report, data json.RawMessage) Decision {
	j := decodeOrZero[decision.Joint[json.RawMessage]](data)
	d := Decision{Choice: j.Choice, Option: j.Option, Confidence: j.Confidence, Dissent: j.Dissent}
	for name, score := range j.Scores {
		d.score(name, score)
	}
	if len(j.Opinions) > 1 {
		d.Votes = map[string]int{}
		for _, v := range j.Votes {
			d.Votes[v.Choice] = len(v.Judges)
		}
	}
	return d
}

// reviewDecision returns the verdict of a review.
func reviewDecision(_ *Report, data json.RawMessage) Decision {
	return Decision{Choice: string(decodeOrZero[review.Result](data).Verdict)}
}

// oversightDecision returns the decision of judges who have not read a text.
func oversightDecision(_ *Report, data json.RawMessage) (d Decision) {
	x := decodeOrZero[oversight.Result](data)
	if p, ok := x.Of(x.Answer); ok && x.Answer != "" {
		d.Choice, d.Confidence = x.Answer, 100*p
	}
	return d
}
