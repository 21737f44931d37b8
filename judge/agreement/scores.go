package agreement

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/transcript"
)

// Scores says how far the judges of one debate agree on the participants' scores.
type Scores struct {
	Judges int `json:"judges"`
	// Raw is the share of pairs of scores of the same participant in the same round that differ by at most 1 of 10 points.
	Raw estimate.Interval `json:"raw"`
	// Alpha is Krippendorff's alpha of the scores as numbers. It takes into account that judges who give everybody about the
	// same score are close to one another without telling anybody apart.
	Alpha estimate.Interval `json:"alpha"`
}

// MeasureScores returns how far judges agree in assessments, or nil if there are no two of them who scored the same participant
// in the same round. A judge who was asked in both orders counts with its mean scores. Defaults do not count.
func MeasureScores(assessments ...transcript.Turn) *Scores {
	if !slices.ContainsFunc(assessments, func(t transcript.Turn) bool { return t.Actor != assessments[0].Actor }) {
		return nil
	}
	type place struct {
		round       int
		participant string
	}
	type sum struct {
		total float64
		n     int
	}
	var places []place
	var judges []string
	scores := map[place]map[string]sum{}
	for _, t := range assessments {
		if t.Contract != judge.AssessmentContract.Name() {
			continue
		}
		o := judge.Opinions[judge.Assessment](t)[0]
		if o.Failed {
			continue
		}
		if !slices.Contains(judges, o.Judge) {
			judges = append(judges, o.Judge)
		}
		for _, p := range o.Value.Participants {
			at := place{t.Round, p.Name}
			if scores[at] == nil {
				places, scores[at] = append(places, at), map[string]sum{}
			}
			s := scores[at][o.Judge]
			scores[at][o.Judge] = sum{s.total + p.Score, s.n + 1}
		}
	}
	units := make([]Unit, len(places))
	for i, at := range places {
		units[i].Group = fmt.Sprint(at.round)
		for _, j := range judges {
			value := math.NaN()
			if s := scores[at][j]; s.n > 0 {
				value = s.total / float64(s.n)
			}
			units[i].Values = append(units[i].Values, value)
		}
	}
	s := &Scores{Judges: len(judges), Raw: Raw(units, 1), Alpha: Alpha(units, Numeric)}
	if s.Raw.Method == statistics.Undefined {
		return nil
	}
	return s
}

// String returns the agreement in words.
func (s *Scores) String() string {
	text := fmt.Sprintf("in %.0f %% of cases, the scores of two judges differ by at most 1 point", 100*s.Raw.Value)
	if s.Alpha.Method == statistics.Undefined {
		return text + "; Krippendorff's alpha is undefined, because all scores are equal"
	}
	text += fmt.Sprintf("; Krippendorff's alpha is %.2f", s.Alpha.Value)
	if s.Alpha.Known() {
		return text + fmt.Sprintf(" [%.2f, %.2f]", s.Alpha.Low, s.Alpha.High)
	}
	return text + fmt.Sprintf(" (too few rounds for an interval: %d of 30)", s.Alpha.Groups)
}
