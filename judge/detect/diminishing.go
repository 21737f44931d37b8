package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Scores holds the judges' scores for one round, and whether a detector or the judges found the round repetitive. A
// score outside 0 to 10, such as NaN, is unknown. Set unknown scores for a round in which a default replaced the
// judge's reply.
type Scores struct {
	Round      int     `json:"round"`
	Quality    float64 `json:"quality"` // quality of the round, 0 to 10
	Novelty    float64 `json:"novelty"` // novelty of the speeches, 0 to 10
	Repetitive bool    `json:"repetitive"`
}

// diminishingReturns finds debates in which each round brings less than the one before.
//
// The signal is found if quality and novelty both fell in each step of the last 3 rounds (two steps), or if the last
// 2 rounds were repetitive. The value is the greater of two shares: the share of those four steps that fell, and the
// share of those 2 rounds that were consecutively repetitive. It is 1 exactly when the signal is found. A step from
// or to an unknown score does not fall. If a round does not directly follow the round before, counting starts again.
//
// Each step must fall because judges' scores are noisy. With random scores, both trends point down in one case out of
// four, but all steps fall in only one case out of thirty-six. The detector therefore misses a slow decline with one
// flat step; Trend shows such a decline. The defaults were chosen, not measured. A judge that habitually gives lower
// scores to later rounds triggers the signal.
type diminishingReturns struct {
	Rounds     int // rounds over which scores must fall, at least 2; defaults to 3
	Repetitive int // consecutive repetitive rounds that suffice; defaults to 2

	last []Scores // consecutive rounds, the newest last
	run  int      // consecutive repetitive rounds, up to the newest
}

// Round checks the scores of one round.
func (d *diminishingReturns) Round(s Scores) Finding {
	rounds, enough := d.Rounds, orDefault(d.Repetitive, 2)
	if rounds < 2 {
		rounds = 3
	}
	if n := len(d.last); n > 0 && s.Round != d.last[n-1].Round+1 {
		d.last, d.run = nil, 0
	}
	d.run++
	if !s.Repetitive {
		d.run = 0
	}
	d.last = append(d.last, s)
	d.last = slices.Delete(d.last, 0, max(0, len(d.last)-rounds))
	value := max(float64(d.falls())/float64(2*(rounds-1)), min(1, float64(d.run)/float64(enough)))
	return Finding{Signal: Diminishing, Round: s.Round, Found: value == 1, Value: value, Evidence: d.evidence()}
}

// Trend returns the slopes of quality and novelty over the last rounds, in points per round, by least squares. It
// ignores unknown scores. A slope is 0 if fewer than two scores are known.
func (d *diminishingReturns) Trend() (quality, novelty float64) {
	return slope(d.last, Scores.quality), slope(d.last, Scores.novelty)
}

func (s Scores) quality() float64 { return s.Quality }
func (s Scores) novelty() float64 { return s.Novelty }

// validScore reports whether a score is known, which means from 0 to 10.
func validScore(score float64) bool { return 0 <= score && score <= 10 }

// falls counts the steps to a lower score, for quality and novelty together.
func (d *diminishingReturns) falls() (falls int) {
	for i := 1; i < len(d.last); i++ {
		for _, score := range []func(Scores) float64{Scores.quality, Scores.novelty} {
			if from, to := score(d.last[i-1]), score(d.last[i]); validScore(from) && validScore(to) && to < from {
				falls++
			}
		}
	}
	return falls
}

// evidence describes scores, trends and repetitive rounds.
func (d *diminishingReturns) evidence() string {
	quality, novelty := d.Trend()
	return fmt.Sprintf("quality %s (trend %+.1f per round), novelty %s (trend %+.1f per round), consecutive repetitive rounds: %d",
		formatScores(d.last, Scores.quality), quality, formatScores(d.last, Scores.novelty), novelty, d.run)
}

// formatScores lists the scores, at most the last maxListed of them.
func formatScores(rounds []Scores, score func(Scores) float64) string {
	var words []string
	for _, s := range rounds[max(0, len(rounds)-maxListed):] {
		word := "unknown"
		if v := score(s); validScore(v) {
			word = fmt.Sprintf("%.1f", v)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// slope returns the slope of the known scores, by least squares.
func slope(rounds []Scores, score func(Scores) float64) float64 {
	var n, x, y, xx, xy float64
	for i, s := range rounds {
		if v := score(s); validScore(v) {
			n++
			x += float64(i)
			y += v
			xx += float64(i) * float64(i)
			xy += float64(i) * v
		}
	}
	if n < 2 {
		return 0
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
