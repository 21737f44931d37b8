package arbitration

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/settings"
	"github.com/elenchus-go/debate/protocol"
)

// Check requires an advocate, a challenger and one arbiter, complete topics, at most one round for each topic, and a score
// within the scale for the category of each topic.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	problems := protocol.Problems(p.flow().Check(r))
	if n := len(p.topics()); r.MaxRounds > n {
		problems.Add("limits.max_rounds", "%d, use at most %d, one round for each topic", r.MaxRounds, n)
	}
	p.checkTopics(&problems)
	p.checkScores(&problems)
	return problems
}

func (p Protocol) checkTopics(problems *protocol.Problems) {
	seen := map[string]int{}
	for i, t := range p.topics() {
		at := fmt.Sprintf("protocol.topics[%d]", i)
		for _, f := range [][2]string{
			{"name", t.Name}, {"question", t.Question}, {"category", t.Category}, {"advocate", t.Advocate}, {"challenger", t.Challenger},
		} {
			settings.NotBlank(problems, at+"."+f[0], f[1], "a topic needs a name, a question, a category and both positions")
		}
		if first, again := seen[t.Name]; again {
			problems.Add(at+".name", "%q is also the name of topics[%d]", t.Name, first)
		}
		seen[t.Name] = i
		if t.Advocate == t.Challenger && t.Advocate != "" {
			problems.Add(at+".challenger", "%q is also the position of the advocate", t.Challenger)
		}
		if _, scored := p.Scores[t.Category]; !scored && t.Category != "" {
			problems.Add("protocol.scores", "no score for %q, the category of topic %q", t.Category, t.Name)
		}
	}
}

func (p Protocol) checkScores(problems *protocol.Problems) {
	scale, step := p.scale(), p.maxAdjustment()
	if !(scale > 0 && scale <= maxScale) {
		problems.Add("protocol.scale", "%v, use a number above 0 and at most %v", scale, maxScale)
		return
	}
	if !(step > 0 && step <= scale) {
		problems.Add("protocol.max_adjustment", "%v, use a number above 0 and at most %v, the scale", step, scale)
	}
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		if s := p.Scores[category]; !(s >= 0 && s <= scale) {
			problems.Add("protocol.scores."+category, "%v, use a number from 0 to %v", s, scale)
		}
	}
}
