package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// This file has the outcomes of protocols in which sides or answers compete.

type audienceData struct{ Audience *panel.Audience }

// panelOutcome returns the outcome of a panel: the vote of its audience, or the verdict.
func panelOutcome(r *Report, data json.RawMessage) (o outcome) {
	a := decodeOrZero[audienceData](data).Audience
	if a == nil {
		return verdictOutcome(r, data)
	}
	o.decision, o.clauses = audienceClauses(a)
	if judges := r.shownConfig().Judges; len(judges) > len(a.Members) {
		o.notes = append(o.notes, fmt.Sprintf("%d of %d members of the audience are not counted, because a valid vote is missing.", len(judges)-len(a.Members), len(judges)))
	}
	bars := barChart{title: "Votes of the audience", unit: "Votes", counts: true, names: []string{"before", "after"}, rows: []barRow{
		{"for", []float64{float64(a.Before.For), float64(a.After.For)}},
		{"against", []float64{float64(a.Before.Against), float64(a.After.Against)}},
		{"undecided", []float64{float64(a.Before.Undecided), float64(a.After.Undecided)}},
	}}
	bars.maximum = float64(max(len(a.Members), 1))
	o.picture = bars.blocks(nil)
	var members [][]string
	for _, m := range a.Members {
		members = append(members, []string{m.Name, m.Before, m.After})
	}
	o.evidence = tableBlock("Votes of each member", []string{"Member", "Before", "After"}, members)
	o.lastStatements(r)
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if v, err := transcript.Decode[panel.AudienceVote](*t); err == nil && t.Kind == transcript.Conclusion {
			o.reason("Why the audience voted so", t.Actor, v.Reasoning)
		}
	}
	return o
}

// audienceClauses says which side won the audience, by how much, and who voted otherwise.
func audienceClauses(a *panel.Audience) (decision string, clauses []string) {
	forward := fmt.Sprintf("for went from %d to %d", a.Before.For, a.After.For)
	against := fmt.Sprintf("against went from %d to %d", a.Before.Against, a.After.Against)
	switch a.Winner {
	case "for":
		decision, clauses = "The side “for” won the audience: the votes "+forward, []string{"those " + against}
	case "against":
		decision, clauses = "The side “against” won the audience: the votes "+against, []string{"those " + forward}
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
		others = []string{all(len(a.Members), "members") + " voted " + a.Winner}
	}
	return decision, append(clauses, "at the end, "+naming.Enumerate(others, 4))
}

// proconOutcome returns the outcome of a procon debate. Its reasons are the arguments of each side.
func proconOutcome(r *Report, data json.RawMessage) (o outcome) {
	j := decodeOrZero[procon.Judgment](data)
	bars := barChart{title: "Scores by the judges", unit: "Score (0–10)", maximum: 10, names: []string{"Score"}}
	for _, s := range j.Participants {
		bars.rows = append(bars.rows, barRow{s.Name, []float64{s.Score}})
	}
	o.picture = bars.blocks(r.cast())
	if j.Summary != "" {
		o.decision, o.text = wonWithScores(j.Winner, bars.rows, "score"), j.Summary
		switch judges := r.shownConfig().Judges; {
		case len(j.Dissent) > 0:
			o.clauses = append(o.clauses, plural(len(j.Dissent), "judge dissents", "judges dissent"))
		case len(judges) == 1:
			o.clauses = append(o.clauses, "the judge is "+judges[0].Name)
		case len(judges) > 1:
			o.clauses = append(o.clauses, "no judge dissents")
		}
	}
	o.reasonsByName("Arguments", statements(r))
	if j.NoNewArguments {
		o.reason("How it ended", "", "The last round of arguments brought no new argument.")
	}
	o.dissent("Dissenting judges", j.Dissent...)
	return o
}

// voteOutcome returns the outcome of a vote.
func voteOutcome(r *Report, data json.RawMessage) (o outcome) {
	t := decodeOrZero[vote.Tally](data)
	if t.Single {
		return singleOutcome(r, t)
	}
	bars := barChart{title: "Votes by answer", unit: "Votes", counts: true, names: []string{"Votes"}}
	total := 0
	for _, s := range t.Answers {
		total += s.Votes
		bars.rows = append(bars.rows, barRow{s.AnswerText, []float64{float64(s.Votes)}})
		bars.maximum = max(bars.maximum, float64(s.Votes))
	}
	o.picture = bars.blocks(nil)
	if len(t.Answers) > 0 && t.Answer != "" {
		o.decision = fmt.Sprintf("The answer is “%s”, with %d of %s", truncateText(t.AnswerText, 120), votesOf(t, t.Answer), plural(total, "vote", "votes"))
		o.clauses = voteClauses(t)
	} else if len(t.Answers) > 0 {
		o.decision = fmt.Sprintf("The vote has no winner: %d different answers", len(t.Answers))
	}
	var agents [][]string
	for _, s := range t.Agents {
		agents = append(agents, []string{s.Name, strings.Join(s.Answers, " → "), formatScore(s.Confidence)})
	}
	o.reasonsByName(keyPointsTitle, ballotReasons(r))
	for _, s := range t.Answers {
		if s.Answer != t.Answer {
			o.reason("Other answers", "", fmt.Sprintf("%s: %s", naming.Enumerate(s.Agents, 8), s.AnswerText))
		}
	}
	o.dissent("Dissenting judges", t.Dissent...)
	o.evidence = append(tableBlock("Agents", []string{"Agent", "Answers by round", "Confidence (0–100)"}, agents), confidenceChart(r).blocks(r.cast())...)
	return o
}

// ballotReasons returns the reasons of the answers of the last round.
func ballotReasons(r *Report) (reasons pointsByName) {
	for i := range r.Result.Turns {
		ballot := &r.Result.Turns[i]
		if b, err := transcript.Decode[vote.Ballot](*ballot); err == nil && ballot.Round == r.Result.Round {
			reasons.add(ballot.Actor, b.Reasoning)
		}
	}
	return reasons
}

// singleOutcome returns the outcome of one answer of one agent.
func singleOutcome(r *Report, t vote.Tally) (o outcome) {
	if t.Answer != "" {
		o.decision = fmt.Sprintf("The answer is “%s”", truncateText(t.AnswerText, 120))
		o.clauses = []string{"confidence " + formatScore(t.Agents[0].Confidence) + " of 100"}
	}
	o.reasonsByName(keyPointsTitle, ballotReasons(r))
	return o
}

// votesOf returns the number of votes for an answer.
func votesOf(t vote.Tally, answer string) int {
	for _, s := range t.Answers {
		if s.Answer == answer {
			return s.Votes
		}
	}
	return 0
}

// voteClauses says how sure the agents of the answer are, who gave others, and how a tie was broken.
func voteClauses(t vote.Tally) (list []string) {
	var others []string
	for _, s := range t.Answers {
		if s.Answer == t.Answer && s.Votes > 0 {
			list = append(list, "mean confidence "+formatScore(s.TotalConfidence/float64(s.Votes))+" of 100")
		} else {
			others = append(others, fmt.Sprintf("%s voted “%s”", naming.Enumerate(s.Agents, 3), truncateText(s.AnswerText, 60)))
		}
	}
	if t.Tie {
		list = append(list, "there was a tie, decided by "+humanize(t.Decision))
	} else if t.Decision == "judge" || t.Decision == "confidence" {
		list = append(list, "decided by "+humanize(t.Decision))
	}
	if len(others) > 0 {
		return append(list, naming.Enumerate(others, 3))
	}
	return append(list, "nobody voted otherwise")
}

// confidenceChart returns the confidence of the agents in a vote by round.
func confidenceChart(r *Report) *lineChart {
	c := &lineChart{id: "confidence", title: "Confidence of the agents", unit: "Confidence (0–100)", maximum: 100}
	for _, t := range r.Result.Turns {
		if b, err := transcript.Decode[vote.Ballot](t); err == nil && b.Answer != "" {
			c.set(t.Actor, t.Round, b.Confidence)
		}
	}
	return c
}

// arbitrationOutcome returns the outcome of an arbitration. The text of its answer repeats the tables and the transcript.
func arbitrationOutcome(r *Report, data json.RawMessage) (o outcome) {
	res := decodeOrZero[arbitration.Result](data)
	if len(res.Topics)+len(res.Scores) == 0 {
		return o
	}
	wins, sure := map[string]int{}, 0.0
	var rulings [][]string
	for _, t := range res.Topics {
		wins[t.Ruling.Winner]++
		sure += t.Ruling.Confidence / float64(len(res.Topics))
		winner := t.Ruling.Winner
		if t.Defaulted {
			winner += " (no valid ruling was received)"
		}
		rulings = append(rulings, []string{t.Topic, winner, formatScore(t.Ruling.Confidence), t.Category, formatScore(t.Before), formatScore(t.After)})
		verdict := "for the " + t.Ruling.Winner
		if t.Ruling.Winner == arbitration.Draw {
			verdict = "a draw"
		}
		o.reason("On "+t.Topic+": "+verdict, "", append([]string{t.Ruling.Reasoning}, t.Ruling.KeyPoints...)...)
	}
	moved := "did not change: it is " + formatScore(res.Total.After)
	if res.Total.After != res.Total.Before {
		verb := "rose"
		if res.Total.After < res.Total.Before {
			verb = "fell"
		}
		moved = fmt.Sprintf("%s from %s to %s", verb, formatScore(res.Total.Before), formatScore(res.Total.After))
	}
	o.decision = fmt.Sprintf("The total score %s of %s", moved, formatScore(res.Scale*float64(len(res.Scores))))
	if len(res.Topics) > 0 {
		o.clauses = []string{
			fmt.Sprintf("the advocate won %d of %s, the challenger %d, and %d ended in a draw", wins[arbitration.Advocate], plural(len(res.Topics), "topic", "topics"), wins[arbitration.Challenger], wins[arbitration.Draw]),
			"the mean confidence of the rulings is " + formatScore(sure) + " of 100",
		}
	}
	bars := barChart{title: "Scores before and after the rulings", unit: "Score (0–" + formatScore(res.Scale) + ")", maximum: res.Scale, names: []string{"before", "after"}}
	for _, s := range res.Scores {
		bars.rows = append(bars.rows, barRow{s.Category, []float64{s.Before, s.After}})
	}
	o.picture = bars.blocks(nil)
	o.evidence = tableBlock("Rulings", []string{"Topic", "Winner", "Confidence (0–100)", "Category", "Before", "After"}, rulings)
	return o
}
