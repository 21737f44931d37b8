package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Scores are what is known of one round: the judge's scores for it, and whether a detector or the judge found it
// repetitive. A score that is not from 0 to 10, such as NaN, is unknown; give that where a fallback stood in for the
// judge.
type Scores struct {
	Round      int     `json:"round"`
	Quality    float64 `json:"quality"` // of the round, 0 to 10
	Novelty    float64 `json:"novelty"` // of what was said in it, 0 to 10
	Repetitive bool    `json:"repetitive"`
}

// diminishingReturns finds debates of which each round brings less than the one before.
//
// It has found them where quality and novelty have both fallen in each step of the last 3 rounds (two steps), or where
// the last 2 rounds were repetitive. The value is the greater of two shares: of those four steps that fell, and of those
// 2 rounds that were repetitive without a break; so it is 1 exactly where returns diminish. A step from or to an unknown
// score does not fall. A round that is not the successor of the one before begins the look-back anew.
//
// It wants each step to fall, since judges are noisy: where scores are mere chance, both trends point down at one look
// of four, all steps fall at one of thirty-six. So it misses a slow fall with one flat step, for which there is Trend.
// Its defaults are given, not measured. A judge that scores late rounds lower by habit deceives it.
type diminishingReturns struct {
	Rounds     int // that are looked back on for falling scores, at least 2; defaults to 3
	Repetitive int // rounds without a break that are enough; defaults to 2

	last []Scores // consecutive rounds, the newest last
	run  int      // of repetitive rounds, up to the newest
}

// Round looks at the scores of one round.
func (d *diminishingReturns) Round(s Scores) Finding {
	rounds, enough := d.Rounds, orDefault(d.Repetitive, 2)
	if rounds < 2 {
		rounds = 3
	}
	if n := len(d.last); n > 0 && s.Round != d.last[n-1].Round+1 {
		d.last, d.run = nil, 0
	}
	if d.run++; !s.Repetitive {
		d.run = 0
	}
	d.last = append(d.last, s)
	d.last = slices.Delete(d.last, 0, max(0, len(d.last)-rounds))
	value := max(float64(d.falls())/float64(2*(rounds-1)), min(1, float64(d.run)/float64(enough)))
	return Finding{Signal: Diminishing, Round: s.Round, Found: value == 1, Value: value, Evidence: d.evidence()}
}

// Trend is the slope of quality and of novelty over the rounds that are looked back on, in points a round, by least
// squares. Unknown scores are left out; with fewer than two that are known the slope is 0.
func (d *diminishingReturns) Trend() (quality, novelty float64) {
	return slope(d.last, Scores.quality), slope(d.last, Scores.novelty)
}

func (s Scores) quality() float64 { return s.Quality }
func (s Scores) novelty() float64 { return s.Novelty }

func validScore(score float64) bool { return 0 <= score && score <= 10 }

// falls counts the steps to a lower score, of quality and of novelty.
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

func (d *diminishingReturns) evidence() string {
	quality, novelty := d.Trend()
	return fmt.Sprintf("quality %s (trend %+.1f a round), novelty %s (trend %+.1f a round), repetitive rounds without a break: %d",
		formatScores(d.last, Scores.quality), quality, formatScores(d.last, Scores.novelty), novelty, d.run)
}

// formatScores is the scores in words, the last of them where they are many.
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

func slope(rounds []Scores, score func(Scores) float64) float64 {
	var n, x, y, xx, xy float64
	for i, s := range rounds {
		if v := score(s); validScore(v) {
			n, x, y, xx, xy = n+1, x+float64(i), y+v, xx+float64(i)*float64(i), xy+float64(i)*v
		}
	}
	if n < 2 {
		return 0
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
