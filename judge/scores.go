package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Scores are the mean scores of participants, by name: from 0 to 10, rounded to a tenth.
type Scores map[string]float64

// MeanScores returns the mean score of each participant over assessments. It is nil if there are none.
func MeanScores(list ...Assessment) Scores {
	sums, counts := map[string]float64{}, map[string]int{}
	for _, a := range list {
		for _, p := range a.Participants {
			sums[p.Name] += p.Score
			counts[p.Name]++
		}
	}
	var s Scores
	for name, n := range counts {
		s.Set(name, sums[name]/float64(n))
	}
	return s
}

// Set sets the score of a participant, rounded to a tenth.
func (s *Scores) Set(name string, score float64) {
	if *s == nil {
		*s = Scores{}
	}
	(*s)[name] = math.Round(10*score) / 10
}

// Leader returns the participant with the highest score, or "" if there are no scores or several have the highest.
func (s Scores) Leader() (name string) {
	best := math.Inf(-1)
	for n, score := range s {
		switch {
		case score > best:
			name, best = n, score
		case score == best:
			name = ""
		}
	}
	return name
}

// Against returns how the scores contradict a winner, such as "Bo has 4.5 of 10, and Ada has 7". It names
// the participant with the highest score. It returns "" if nobody has a higher score than the winner, or if the winner is
// empty or has no score.
func (s Scores) Against(winner string) string {
	own, scored := s[winner]
	best := winner
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if s[name] > s[best] {
			best = name
		}
	}
	if !scored || best == winner {
		return ""
	}
	return fmt.Sprintf("%s has %s of 10, and %s has %s", winner, formatNumber(own), best, formatNumber(s[best]))
}

// String returns the scores in words, the highest first, such as "Ada 7 of 10, Bo 4.5 of 10".
func (s Scores) String() string {
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Or(cmp.Compare(s[b], s[a]), strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = name + " " + formatNumber(s[name]) + " of 10"
	}
	return strings.Join(names, ", ")
}

// Warning returns a sentence if a judge named a winner against its own scores, and otherwise "". swapped says that it judged
// with the participants in the opposite order.
func (s Scores) Warning(judge string, swapped bool, winner string) string {
	against := s.Against(winner)
	if against == "" {
		return ""
	}
	if swapped {
		judge += ", with the participants in reversed order,"
	}
	return fmt.Sprintf("%s named %s the winner against its own scores: %s.", judge, winner, against)
}
