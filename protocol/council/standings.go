package council

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The phases.
const (
	phaseAnswer   = "answer"
	phaseRank     = "rank"
	phaseConclude = "conclude"
)

// Standing is the place of one answer.
type Standing struct {
	Member   string  `json:"member"`
	Place    int     `json:"place"`    // from 1; answers with the same score share a place
	Score    float64 `json:"score"`    // mean Borda points from 0 (last everywhere) to 1 (first everywhere); 0.5 without rankings
	Rankings int     `json:"rankings"` // number of members that ranked the answer
}

// MemberRanking is the ranking of one member.
type MemberRanking struct {
	Member string   `json:"member"`
	Best   []string `json:"best"` // authors of the answers, the best first
	// Places holds the place of each of Best, if some share one: 1, 1, 3. Otherwise it is empty.
	Places []int `json:"places,omitempty"`
}

// authorsOf returns the active members whose answers are not silent, and the members that dropped out after they answered.
func authorsOf(r *protocol.Record) []string {
	list := slices.DeleteFunc(r.ParticipantNames(), func(name string) bool {
		t, done := r.Find(answerKey(r, name))
		return done && !isAnswer(&t)
	})
	for i := range r.Turns {
		if t := &r.Turns[i]; isAnswer(t) && !slices.Contains(list, t.Actor) {
			list = append(list, t.Actor)
		}
	}
	return list
}

// answerKey returns the key of a member's answer.
func answerKey(r *protocol.Record, member string) transcript.Key {
	return transcript.Key{Run: r.Cursor.Run, Round: 1, Phase: phaseAnswer, Actor: member}
}

func isAnswer(t *transcript.Turn) bool { return t.Kind == transcript.Speech && t.Phase == phaseAnswer }

// rankedBy returns those authors whose answers a member ranks.
func (p Protocol) rankedBy(member string, authors []string) (list []string) {
	for _, author := range authors {
		if !p.related(member, author) {
			list = append(list, author)
		}
	}
	return list
}

// rankings returns the valid rankings.
func rankings(r *protocol.Record) []MemberRanking {
	list := []MemberRanking{}
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Phase != phaseRank {
			continue
		}
		k := judge.Opinions[Ranking](*t)[0]
		if k.Failed || len(k.Value.Ranking) == 0 {
			continue
		}
		m := MemberRanking{Member: t.Actor}
		for i, x := range k.Value.Ranking {
			m.Best = append(m.Best, x.Name)
			if i > 0 && x.Place == k.Value.Ranking[i-1].Place {
				m.Places = []int{}
			}
		}
		if m.Places != nil {
			for _, x := range k.Value.Ranking {
				m.Places = append(m.Places, x.Place)
			}
		}
		list = append(list, m)
	}
	return list
}

// standings returns the answers, sorted by their scores in the rankings. Answers with the same score keep the order of the
// members.
func standings(r *protocol.Record, rankings []MemberRanking) []Standing {
	list := []Standing{}
	for i := range r.Turns {
		if t := &r.Turns[i]; isAnswer(t) {
			list = append(list, Standing{Member: t.Actor, Score: 0.5})
		}
	}
	points := map[string]float64{}
	count := map[string]int{}
	for _, k := range rankings {
		for i, name := range k.Best {
			points[name] += k.points(i)
			count[name]++
		}
	}
	for i := range list {
		if s := &list[i]; count[s.Member] > 0 {
			s.Rankings = count[s.Member]
			s.Score = math.Round(1e4*points[s.Member]/float64(s.Rankings)) / 1e4 // so that sums in another order are equal
		}
	}
	slices.SortStableFunc(list, func(a, b Standing) int { return cmp.Compare(b.Score, a.Score) })
	for i := range list {
		list[i].Place = i + 1
		if i > 0 && list[i].Score == list[i-1].Score {
			list[i].Place = list[i-1].Place
		}
	}
	return list
}

// points returns the points of the answer at an index of the ranking. Answers that share a place share their points.
func (k *MemberRanking) points(i int) float64 {
	sum, n := 0.0, 0
	for j := range k.Best {
		if j == i || len(k.Places) == len(k.Best) && k.Places[j] == k.Places[i] {
			sum, n = sum+bordaPoints(j, len(k.Best)), n+1
		}
	}
	return sum / float64(n)
}

// bordaPoints returns the points of the answer at index i of a ranking of n answers.
func bordaPoints(i, n int) float64 {
	if n == 1 {
		return 0.5
	}
	return float64(n-1-i) / float64(n-1)
}

// scoreList returns the scores as a list for the chair's prompt. It is empty if nobody has ranked an answer.
func scoreList(standings []Standing) string {
	var lines []string
	ranked := false
	for _, s := range standings {
		ranked = ranked || s.Rankings > 0
		lines = append(lines, fmt.Sprintf("%d. %s: %s", s.Place, s.Member, formatScore(s.Score)))
	}
	if !ranked {
		return ""
	}
	return strings.Join(lines, "\n")
}

func formatScore(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }
