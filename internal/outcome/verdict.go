package outcome

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Assessed is the combined assessment of a round.
type Assessed struct {
	Round    int
	Combined judge.Opinion[judge.Assessment]
	Opinions []judge.Opinion[judge.Assessment]
}

// Assessments returns the assessments among turns by round. The jury combines those of several judges.
func Assessments(turns []transcript.Turn, jury judge.Jury) (list []Assessed) {
	byRound := map[int][]transcript.Turn{}
	var rounds []int
	for _, t := range turns {
		if t.Kind != transcript.Assessment || t.Contract != judge.AssessmentContract.Name() {
			continue
		}
		if byRound[t.Round] == nil {
			rounds = append(rounds, t.Round)
		}
		byRound[t.Round] = append(byRound[t.Round], t)
	}
	slices.Sort(rounds)
	for _, round := range rounds {
		opinions := judge.Opinions[judge.Assessment](byRound[round]...)
		joint, ok := jury.CombineAssessments(opinions)
		if ok {
			list = append(list, Assessed{round, joint, opinions})
		}
	}
	return list
}

// Score is the score of a name.
type Score struct {
	Name  string
	Value float64
}

// MeanScores returns the mean of each participant's scores in rounds with a valid assessment, the highest first.
func MeanScores(rounds []Assessed) (list []Score) {
	counts := map[string]float64{}
	for _, a := range rounds {
		if a.Combined.Failed {
			continue
		}
		for _, p := range a.Combined.Value.Participants {
			at := slices.IndexFunc(list, func(s Score) bool { return s.Name == p.Name })
			if at < 0 {
				at = len(list)
				list = append(list, Score{Name: p.Name})
			}
			list[at].Value += p.Score
			counts[p.Name]++
		}
	}
	for i := range list {
		list[i].Value /= counts[list[i].Name]
	}
	slices.SortStableFunc(list, func(a, b Score) int { return cmp.Compare(b.Value, a.Value) })
	return list
}

// Won says who won with which scores of a kind, of 10 points. The highest score is first.
func Won(winner string, scores []Score, kind string) string {
	at := slices.IndexFunc(scores, func(s Score) bool { return s.Name == winner })
	switch {
	case winner == "" && len(scores) < 2:
		return "Nobody won"
	case winner == "":
		var list []string
		for _, s := range scores {
			list = append(list, s.Name+" "+Number(s.Value))
		}
		return "Nobody won, with " + kind + "s of " + naming.Enumerate(list, 4) + " of 10"
	case at < 0:
		return winner + " won"
	}
	text := fmt.Sprintf("%s won with a %s of %s of 10", winner, kind, Number(scores[at].Value))
	best := slices.MaxFunc(scores, func(a, b Score) int { return cmp.Compare(a.Value, b.Value) })
	if tenths(best.Value) > tenths(scores[at].Value) {
		return fmt.Sprintf("%s, although %s has the higher %s, %s", text, best.Name, kind, Number(best.Value))
	}
	others := slices.Delete(slices.Clone(scores), at, at+1)
	if len(others) > 0 {
		text += fmt.Sprintf(", against %s for %s", Number(others[0].Value), others[0].Name)
	}
	return text
}

// tenths returns a score in tenths of a point, as judges' verdicts are compared with their scores.
func tenths(score float64) float64 { return math.Round(10 * score) }

// OfVerdict returns the outcome of the joint verdict of a jury, or of one judge. Without a summary, there is no verdict yet.
func OfVerdict(turns []transcript.Turn, jury judge.Jury, joint judge.Opinion[judge.Verdict], byScores bool) (o protocol.Outcome) {
	v := joint.Value
	rounds := Assessments(turns, jury)
	scores := MeanScores(rounds)
	for _, s := range scores {
		o.SetScore(s.Name, s.Value)
	}
	if v.Summary != "" {
		o.Sentence = Won(v.Winner, scores, "mean score")
		o.Clauses = judgesClauses(v.Winner, joint.Opinions)
		if byScores {
			o.Clauses = []string{"the scores decide"}
		}
		o.Text = v.Summary + "\n\n" + v.WinnerReasoning
	}
	o.Winner = v.Winner
	o.Votes = judgesVotes(joint.Opinions)
	o.Dissent = joint.Dissent
	if len(o.Dissent) == 0 && v.Dissent != "" {
		o.Dissent = []string{v.Dissent}
	}
	if v.Summary != "" || len(joint.Opinions) > 0 {
		o.Measure = VotesMeasure(v.Winner, winnersOf(joint.Opinions))
	}
	addKeyPoints(&o, v, rounds)
	if len(o.Reasons) == 0 && v.Summary != "" {
		AddLastStatements(&o, turns)
	}
	o.AddReason("What they agree on", "", v.Agreement...)
	o.AddReason("What remains disputed", "", v.Disagreement...)
	o.AddDissent("The strongest case against the verdict", v.Dissent)
	o.AddDissent("Dissenting judges", joint.Dissent...)
	o.AddReason("Where the judges differ", "", joint.Disagreement...)
	o.AddReason("What the debate showed", "", v.Insights...)
	return o
}

// addKeyPoints adds the key points of each participant: those of the verdict, or the strengths that the judges saw last.
func addKeyPoints(o *protocol.Outcome, v judge.Verdict, rounds []Assessed) {
	for _, p := range v.Participants {
		o.AddReason(KeyPoints, p.Name, p.Points...)
	}
	if len(o.Reasons) > 0 || len(rounds) == 0 {
		return
	}
	for _, p := range rounds[len(rounds)-1].Combined.Value.Participants {
		o.AddReason(KeyPoints, p.Name, p.Strengths...)
	}
}

// winnersOf returns whom the valid opinions name as the winner.
func winnersOf(opinions []judge.Opinion[judge.Verdict]) (names []string) {
	for _, o := range opinions {
		if !o.Failed {
			names = append(names, o.Value.Winner)
		}
	}
	return names
}

// judgesClauses says how many judges chose the winner, and whom the others chose.
func judgesClauses(winner string, opinions []judge.Opinion[judge.Verdict]) []string {
	var names, others []string
	agreed := map[string]bool{}
	for _, o := range opinions {
		if o.Failed || o.Judge == "" {
			continue
		}
		if !slices.Contains(names, o.Judge) {
			names = append(names, o.Judge)
			agreed[o.Judge] = true
		}
		if o.Value.Winner != winner {
			agreed[o.Judge] = false
			name := o.Judge
			if o.Swapped {
				name += ", with the participants in reversed order,"
			}
			others = append(others, name+" chose "+cmp.Or(o.Value.Winner, "nobody"))
		}
	}
	yes := 0
	for _, name := range names {
		if agreed[name] {
			yes++
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(names) == 1 && yes == 1:
		return []string{"the judge is " + names[0]}
	case len(others) == 0:
		return []string{All(len(names), "judges") + " agree"}
	case yes == 0 && len(names) == 1:
		return []string{"the judge does not agree with itself: " + naming.Enumerate(others, 4)}
	case yes == 0:
		return []string{"the judges do not agree: " + naming.Enumerate(others, 4)}
	}
	return []string{fmt.Sprintf("%d of %d judges chose %s", yes, len(names), cmp.Or(winner, "nobody")), naming.Enumerate(others, 4)}
}

// judgesVotes returns the votes of several judges by the winner that they chose.
func judgesVotes(opinions []judge.Opinion[judge.Verdict]) map[string]int {
	chosen := map[string]string{}
	for _, o := range opinions {
		winner := o.Value.Winner
		before, twice := chosen[o.Judge]
		if winner == "" || twice && before != winner {
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

// AddPoints adds points to the reason with a title and a name.
func AddPoints(o *protocol.Outcome, title, name string, points ...string) {
	at := slices.IndexFunc(o.Reasons, func(x protocol.Reason) bool { return x.Title == title && x.Name == name })
	if at < 0 {
		o.AddReason(title, name, points...)
		return
	}
	o.Reasons[at].Points = append(o.Reasons[at].Points, points...)
}

// AddStatements adds the speeches of each participant as reasons with a title.
func AddStatements(o *protocol.Outcome, title string, turns []transcript.Turn) {
	for _, s := range statements(turns) {
		o.Reasons = append(o.Reasons, protocol.Reason{Title: title, Name: s.name, Speeches: s.speeches})
	}
}

// AddLastStatements adds the last speech of each participant, for answers that name no key points.
func AddLastStatements(o *protocol.Outcome, turns []transcript.Turn) {
	for _, s := range statements(turns) {
		last := s.speeches[len(s.speeches)-1:]
		o.Reasons = append(o.Reasons, protocol.Reason{Title: "Last statements", Name: s.name, Speeches: last})
	}
}

// spoken is what one participant said.
type spoken struct {
	name     string
	speeches []protocol.Speech
}

// statements returns the speeches of each participant, in the order of their first ones.
func statements(turns []transcript.Turn) (list []spoken) {
	index := map[string]int{}
	for i := range turns {
		t := &turns[i]
		if t.Kind != transcript.Speech {
			continue
		}
		at, known := index[t.Actor]
		if !known {
			at = len(list)
			index[t.Actor] = at
			list = append(list, spoken{name: t.Actor})
		}
		list[at].speeches = append(list[at].speeches, protocol.Speech{Turn: i})
	}
	return list
}

// VotesMeasure measures by the share of votes. An empty name is a vote for nobody.
func VotesMeasure(won string, names []string) *protocol.Measure {
	m := &protocol.Measure{Name: "the share of the judges' votes", Most: 1, Votes: true, Values: map[string]float64{}, Won: won}
	for _, name := range names {
		if name != "" {
			m.Values[name] += 1 / float64(len(names))
		}
	}
	return m
}

// PointsMeasure measures by the lead in points, from 0 to 10.
func PointsMeasure(won string, values map[string]float64) *protocol.Measure {
	return &protocol.Measure{Name: "the lead in points", Lead: true, Least: -10, Most: 10, Values: values, Won: won}
}
