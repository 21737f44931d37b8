package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// series is one line of a chart: a name and its values by round.
type series struct {
	name   string
	values map[int]float64
}

// scoreChart is the data of the score chart. The series are in the order of their first values.
type scoreChart struct {
	title   string // what is scored, by whom, and on which scale
	maximum float64
	series  []series
}

func (s *scoreChart) set(name string, round int, value float64) {
	if math.IsNaN(value) {
		return
	}
	i := slices.IndexFunc(s.series, func(x series) bool { return x.name == name })
	if i < 0 {
		i, s.series = len(s.series), append(s.series, series{name, map[int]float64{}})
	}
	s.series[i].values[round] = value
}

// rounds returns the rounds that have values, in order.
func (s *scoreChart) rounds() []int {
	all := map[int]bool{}
	for _, x := range s.series {
		for round := range x.values {
			all[round] = true
		}
	}
	return sorted(all)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// roundAssessment is the combined assessment of a round.
type roundAssessment struct {
	round    int
	combined judge.Opinion[judge.Assessment]
}

// roundAssessments returns the assessments by round. The debate's jury combines those of several judges.
func (r *Report) roundAssessments() (list []roundAssessment) {
	byRound := map[int][]transcript.Turn{}
	for _, t := range r.Result.Assessments {
		if t.Contract == judge.AssessmentContract.Name() {
			byRound[t.Round] = append(byRound[t.Round], t)
		}
	}
	bench := decodeOrZero[judge.Jury](r.shownConfig().Protocol.Jury)
	for _, round := range sorted(byRound) {
		if joint, ok := bench.CombineAssessments(judge.Opinions[judge.Assessment](byRound[round]...)); ok {
			list = append(list, roundAssessment{round, joint})
		}
	}
	return list
}

// scores returns the judges' scores by round. Depending on the protocol, it also returns the scores that rulings change,
// the skeptic's scores for the answer, or the confidence of the agents in a vote.
func (r *Report) scores() []block {
	s := &scoreChart{title: "Scores by the judges (0–10)", maximum: 10}
	var failed []string
	for _, a := range r.roundAssessments() {
		for _, p := range a.combined.Value.Participants {
			s.set(p.Name, a.round, p.Score)
		}
		s.set("round quality", a.round, a.combined.Value.Quality)
		if a.combined.Failed {
			failed = append(failed, fmt.Sprintf("Round %d: no valid assessment was received. The table shows default scores.", a.round))
		}
	}
	switch r.Result.Protocol {
	case arbitration.Protocol{}.Name():
		s.addRulings(decodeOrZero[arbitration.Result](r.Result.Answer.Data))
	case skeptic.Protocol{}.Name():
		s.addCritiques(decodeOrZero[skeptic.Trace](r.Result.Answer.Data))
	case vote.Protocol{}.Name():
		s.addConfidence(r.Result.Turns)
	}
	rounds := s.rounds()
	if len(rounds) == 0 {
		return nil
	}
	head, cells := []string{"Round"}, make([][]string, len(rounds))
	for i, round := range rounds {
		cells[i] = []string{fmt.Sprint(round)}
	}
	for _, x := range s.series {
		head = append(head, x.name)
		for i, round := range rounds {
			text := ""
			if v, ok := x.values[round]; ok {
				text = formatScore(v)
			}
			cells[i] = append(cells[i], text)
		}
	}
	return slices.Concat([]block{{Figure: s.draw()}}, tableBlock(s.title, head, cells), listBlock("", failed))
}

// addRulings adds the scores of the evaluation after each ruling. Round 0 has the initial scores.
func (s *scoreChart) addRulings(res arbitration.Result) {
	if len(res.Topics) == 0 || res.Scale <= 0 {
		return
	}
	s.title, s.maximum = "Scores of the evaluation after each ruling (0–"+formatScore(res.Scale)+")", res.Scale
	for _, x := range res.Scores {
		s.set(x.Category, 0, x.Before)
	}
	last := 0
	for _, t := range res.Topics {
		for _, x := range s.series { // a ruling changes only one category
			x.values[t.Round] = x.values[last]
		}
		s.set(t.Category, t.Round, t.After)
		last = t.Round
	}
}

// addCritiques adds the skeptic's scores for the answer.
func (s *scoreChart) addCritiques(t skeptic.Trace) {
	s.title = "The skeptic's score for the answer (0–10)"
	for _, x := range t.Rounds {
		if x.Critique != nil && x.Critique.Score != nil {
			s.set("answer", x.Round, *x.Critique.Score)
		}
	}
}

// addConfidence adds the confidence of the agents in a vote.
func (s *scoreChart) addConfidence(turns []transcript.Turn) {
	s.title, s.maximum = "Confidence of the agents (0–100)", 100
	for _, t := range turns {
		if b, err := transcript.Decode[vote.Ballot](t); err == nil && t.Contract == vote.BallotContract.Name() && b.Answer != "" {
			s.set(t.Actor, t.Round, b.Confidence)
		}
	}
}

// draw draws a line for each series, with the rounds from left to right.
func (s *scoreChart) draw() *figure {
	const left, top, height, perRow = 40, 12, 240, 4
	rounds := s.rounds()
	first, last := rounds[0], rounds[len(rounds)-1]
	f := &figure{ID: "chart", Title: s.title, Width: figureWidth}
	f.Description = fmt.Sprintf("Lines: %d, from round %d to round %d. The table below contains the same values.", len(s.series), first, last)
	x := func(round int) float64 {
		if first == last {
			return (left + figureWidth - 20) / 2
		}
		return left + 10 + (figureWidth-left-30)*(float64(round)-float64(first))/(float64(last)-float64(first))
	}
	y := func(v float64) float64 { return top + height*(1-min(max(v/s.maximum, 0), 1)) }
	for i := range 6 {
		v := s.maximum * float64(i) / 5
		f.line("grid", [2]float64{left, y(v)}, [2]float64{figureWidth - 10, y(v)})
		f.text("end", left-6, y(v)+4, formatScore(v))
	}
	for i := 0; i < len(rounds); i += (len(rounds) + 19) / 20 {
		f.text("middle", x(rounds[i]), top+height+18, fmt.Sprint(rounds[i]))
	}
	for i, one := range s.series {
		var points [][2]float64
		for _, round := range rounds {
			v, ok := one.values[round]
			if !ok { // a gap in the line
				f.line(colorClass(i), points...)
				points = nil
				continue
			}
			points = append(points, [2]float64{x(round), y(v)})
			f.dot(colorClass(i), x(round), y(v), fmt.Sprintf("%s, round %d: %s", one.name, round, formatScore(v)))
		}
		f.line(colorClass(i), points...)
		at, below := float64(left+i%perRow*178), float64(top+height+44+i/perRow*20)
		f.line(colorClass(i), [2]float64{at, below - 4}, [2]float64{at + 24, below - 4})
		f.text("start", at+30, below, truncateName(one.name))
	}
	f.Height = float64(top + height + 56 + (len(s.series)-1)/perRow*20)
	return f
}
