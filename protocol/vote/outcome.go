package vote

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Outcome returns the result of the vote, or the one answer of one agent.
func (p Protocol) Outcome(r *protocol.Record, a protocol.Answer) protocol.Outcome {
	o := protocol.Outcome{Kind: "Vote"}
	t, err := DecodeAnswer(a)
	if err != nil {
		return o
	}
	o.Measure = &protocol.Measure{Won: t.Answer}
	o.Answer = t.AnswerText
	o.Undecided = t.Answer == ""
	o.Tie = o.Undecided && t.Tie
	o.Winner = t.AnswerText
	o.Option = t.Option
	if t.Option > 0 {
		o.Choice = t.AnswerText
	}
	if t.Single {
		addSingle(&o, t)
		addBallotReasons(&o, r)
		return o
	}
	o.Dissent = t.Dissent
	o.DecidedBy = string(t.Decision)
	addVotes(&o, t)
	addBallotReasons(&o, r)
	for _, s := range t.Answers {
		if s.Answer != t.Answer {
			o.AddReason("Other answers", "", fmt.Sprintf("%s: %s", naming.Enumerate(s.Agents, 8), s.AnswerText))
		}
	}
	o.AddDissent("Dissenting judges", t.Dissent...)
	agents := protocol.Exhibit{Title: "Agents", Header: []string{"Agent", "Answers by round", "Confidence (0–100)"}}
	for _, s := range t.Agents {
		agents.Rows = append(agents.Rows, []string{s.Name, strings.Join(s.Answers, " → "), outcome.Number(s.Confidence)})
	}
	o.Evidence = []protocol.Exhibit{agents, {Chart: confidenceChart(r)}}
	return o
}

// addSingle adds one answer of one agent, which is no vote.
func addSingle(o *protocol.Outcome, t Tally) {
	o.Kind = "One answer"
	if t.Answer != "" {
		o.Sentence = fmt.Sprintf("The answer is “%s”", outcome.Shorten(t.AnswerText, 120))
		o.Clauses = []string{"confidence " + outcome.Number(t.Agents[0].Confidence) + " of 100"}
		o.Confidence = t.Agents[0].Confidence
	}
}

// addVotes adds the votes for each answer, and what has won.
func addVotes(o *protocol.Outcome, t Tally) {
	o.Votes = map[string]int{}
	o.Chart = &protocol.Chart{Title: "Votes by answer", Unit: "Votes", Counts: true, Series: []string{"Votes"}}
	total := 0
	won := AnswerVotes{}
	for _, s := range t.Answers {
		total += s.Votes
		o.Votes[s.AnswerText] += s.Votes
		o.Chart.Rows = append(o.Chart.Rows, protocol.ChartRow{Name: s.AnswerText, Values: map[string]float64{"Votes": float64(s.Votes)}})
		o.Chart.Maximum = max(o.Chart.Maximum, float64(s.Votes))
		if s.Answer == t.Answer {
			won = s
		}
	}
	switch {
	case len(t.Answers) > 0 && t.Answer != "":
		o.Sentence = fmt.Sprintf("The answer is “%s”, with %d of %s", outcome.Shorten(t.AnswerText, 120), won.Votes,
			outcome.Count(total, "vote", "votes"))
		o.Clauses = clauses(t)
		if won.Votes > 0 {
			o.Confidence = won.TotalConfidence / float64(won.Votes)
		}
	case len(t.Answers) > 0:
		o.Sentence = fmt.Sprintf("The vote has no winner: %d different answers", len(t.Answers))
	}
}

// addBallotReasons adds the reasons of the answers of the last round.
func addBallotReasons(o *protocol.Outcome, r *protocol.Record) {
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Round != r.Cursor.Round {
			continue
		}
		b, err := transcript.Decode[Ballot](*t)
		if err == nil {
			outcome.AddPoints(o, outcome.KeyPoints, t.Actor, b.Reasoning)
		}
	}
}

// clauses says how sure the agents of the answer are, who gave others, and how a tie was broken.
func clauses(t Tally) (list []string) {
	var others []string
	for _, s := range t.Answers {
		if s.Answer == t.Answer && s.Votes > 0 {
			list = append(list, "mean confidence "+outcome.Number(s.TotalConfidence/float64(s.Votes))+" of 100")
		} else {
			others = append(others, fmt.Sprintf("%s voted “%s”", naming.Enumerate(s.Agents, 3), outcome.Shorten(s.AnswerText, 60)))
		}
	}
	rule := strings.ReplaceAll(string(t.Decision), "_", " ")
	switch {
	case t.Tie:
		list = append(list, "there was a tie, decided by "+rule)
	case t.Decision == Judge || t.Decision == Confidence:
		list = append(list, "decided by "+rule)
	}
	if len(others) > 0 {
		return append(list, naming.Enumerate(others, 3))
	}
	return append(list, "nobody voted otherwise")
}

// confidenceChart returns the confidence of the agents by round.
func confidenceChart(r *protocol.Record) *protocol.Chart {
	c := &protocol.Chart{Title: "Confidence of the agents", Unit: "Confidence (0–100)", Maximum: 100, ByRound: true}
	for i := range r.Turns {
		t := &r.Turns[i]
		b, err := transcript.Decode[Ballot](*t)
		if err == nil && b.Answer != "" {
			c.SetRound(t.Round, t.Actor, b.Confidence)
		}
	}
	return c
}
