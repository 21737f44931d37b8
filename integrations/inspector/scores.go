package inspector

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// scoreTable holds scores by round.
type scoreTable struct {
	Series []series
	Rounds []int
}

// series is what one thing scored, by round.
type series struct {
	Name   string
	values map[int][]float64 // several if several actors scored it in one round
	Cells  []string          // for each round of the table; empty where there is no value
	Line   sparkline
}

// sparkline is a small drawing of a series.
type sparkline struct {
	Points string // of an SVG polyline
	X, Y   float64
	Text   string // the values in words
}

const (
	sparkWidth  = 120
	sparkHeight = 28
	maxPoints   = 100 // points of a drawing
	maxColumns  = 12  // rounds in a table
)

// scoresOf returns the scores of a debate so far: those of its assessments, combined by its jury, and every number named
// score or confidence in other structured replies. Of a long debate it has the last rounds, and some of those before. It
// returns nil if there are no scores.
func scoresOf(r *debate.Result, c *debate.Config) *scoreTable {
	t := &scoreTable{}
	rounds := map[int][]transcript.Turn{}
	for i := range r.Turns {
		if turn := &r.Turns[i]; turn.Contract != "" && turn.Kind != transcript.Embeddings {
			rounds[turn.Round] = append(rounds[turn.Round], *turn)
		}
	}
	all := slices.Sorted(maps.Keys(rounds))
	last := max(len(all)-maxColumns, 0)
	var shown []transcript.Turn
	for _, n := range slices.Concat(spread(all[:last], maxPoints), all[last:]) {
		shown = append(shown, rounds[n]...)
	}
	for i := range shown {
		t.addReply(&shown[i])
	}
	for _, a := range outcome.Assessments(shown, juryOf(c)) {
		for _, p := range a.Combined.Value.Participants {
			t.add(p.Name, a.Round, p.Score)
		}
	}
	if len(t.Series) == 0 {
		return nil
	}
	t.finish(c)
	return t
}

// juryOf returns the jury that a debate's protocol has, or the zero Jury.
func juryOf(c *debate.Config) judge.Jury {
	var p struct{ Jury judge.Jury }
	if b, err := json.Marshal(c.Protocol); err == nil {
		_ = json.Unmarshal(b, &p) // a protocol without a jury has the zero Jury
	}
	return p.Jury
}

// addReply adds the scores in a structured reply that is no assessment.
func (t *scoreTable) addReply(turn *transcript.Turn) {
	var said struct {
		Score        *float64
		Confidence   *float64
		Participants []struct {
			Name  string
			Score *float64
		}
	}
	defaulted := slices.Contains(turn.Flags, transcript.Defaulted)
	if defaulted || turn.Contract == judge.AssessmentContract.Name() || json.Unmarshal(turn.Data, &said) != nil {
		return
	}
	if said.Score != nil {
		t.add("score by "+turn.Actor, turn.Round, *said.Score)
	}
	if said.Confidence != nil {
		t.add("confidence of "+turn.Actor, turn.Round, *said.Confidence)
	}
	for _, p := range said.Participants {
		if p.Score != nil {
			t.add(p.Name, turn.Round, *p.Score)
		}
	}
}

// add adds a value.
func (t *scoreTable) add(name string, round int, value float64) {
	i := slices.IndexFunc(t.Series, func(s series) bool { return s.Name == name })
	if i < 0 {
		i, t.Series = len(t.Series), append(t.Series, series{Name: name, values: map[int][]float64{}})
	}
	t.Series[i].values[round] = append(t.Series[i].values[round], value)
}

// finish formats the values, those of participants first. The table has the last rounds; the drawings have all.
func (t *scoreTable) finish(c *debate.Config) {
	place := func(s series) int {
		i := slices.IndexFunc(c.Participants, func(p debate.Participant) bool { return p.Name == s.Name })
		return cmp.Or(max(i+1, 0), len(c.Participants)+1)
	}
	slices.SortStableFunc(t.Series, func(a, b series) int { return place(a) - place(b) })
	rounds := map[int]bool{}
	for _, s := range t.Series {
		for n := range s.values {
			rounds[n] = true
		}
	}
	all := slices.Sorted(maps.Keys(rounds))
	t.Rounds = all[max(len(all)-maxColumns, 0):]
	for i := range t.Series {
		s := &t.Series[i]
		var line []float64
		var cells []string
		for _, n := range all {
			text := ""
			if v := s.values[n]; v != nil {
				line = append(line, mean(v))
				text = outcome.Number(mean(v))
			}
			cells = append(cells, text)
		}
		s.Cells = cells[len(all)-len(t.Rounds):]
		s.Line = newSparkline(s.Name, line)
	}
}

// newSparkline draws values from left to right, on a scale from 0 to 1, 10 or 100.
func newSparkline(name string, values []float64) sparkline {
	top := 1.0
	for top < slices.Max(values) {
		top *= 10
	}
	s := sparkline{}
	var points, texts []string
	values = spread(values, maxPoints)
	for i, v := range values {
		s.X = sparkWidth / 2
		if len(values) > 1 {
			s.X = roundTenth(4 + float64(i)*(sparkWidth-8)/float64(len(values)-1))
		}
		s.Y = roundTenth(4 + (sparkHeight-8)*(1-max(v, 0)/top))
		points = append(points, fmt.Sprintf("%g,%g", s.X, s.Y))
		texts = append(texts, outcome.Number(v))
	}
	s.Points, s.Text = strings.Join(points, " "), fmt.Sprintf("%s by round, from 0 to %g: %s", name, top, strings.Join(texts, ", "))
	return s
}

// spread returns at most about n values of a list, evenly spread, and always the last one.
func spread[T any](list []T, n int) (some []T) {
	step := (len(list) + n - 1) / n
	for i := (len(list) - 1) % max(step, 1); i < len(list) && i >= 0; i += step {
		some = append(some, list[i])
	}
	return some
}

func roundTenth(v float64) float64 { return math.Round(v*10) / 10 }

// mean returns the mean of values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
