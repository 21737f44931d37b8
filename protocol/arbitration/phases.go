package arbitration

import (
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The phases of a round.
const (
	phaseArgue = "argue"
	phaseRule  = "rule"
)

// Phases returns the arguments of advocate and challenger, in this order, or the ruling of the first judge.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	round := r.Cursor.Round
	if round < 1 || round > len(p.topics()) {
		return nil
	}
	switch r.Cursor.Stage {
	case transcript.Speech:
		if len(r.Participants) != 2 {
			return nil
		}
		first, second := r.PairByRole(Advocate, Challenger)
		return []protocol.Phase{{Name: phaseArgue, Steps: []protocol.Step{p.argueStep(r, first, Advocate), p.argueStep(r, second, Challenger)}}}
	case transcript.Assessment:
		if len(r.Judges) == 0 {
			return nil
		}
		return []protocol.Phase{{Name: phaseRule, Steps: []protocol.Step{p.ruleStep(r)}}}
	default:
		return nil
	}
}

// End returns the zero Ending: only the limits end the debate, at the latest after the last topic.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (p Protocol) argueStep(r *protocol.Record, name, side string) (s protocol.Step) {
	s.Actor, s.Prompt, s.Contract, s.Vars = name, "arbitration-argue", ArgumentContract.Name(), p.vars(r)
	s.Vars["side"] = side
	return s
}

// ruleStep returns the step of the arbiter. The prompt shows the arguments of the round under pseudonyms: the arbiter has
// to know the sides, but not who argues for them.
func (p Protocol) ruleStep(r *protocol.Record) (s protocol.Step) {
	round := r.Cursor.Round
	s.Actor, s.Prompt, s.Contract, s.Vars, s.Blind = r.Judges[0], "arbitration-rule", RulingContract.Name(), p.vars(r), true
	s.Show = func(t *transcript.Turn) bool {
		return t.Round == round && (t.Kind == transcript.Speech || t.Kind == transcript.Remark)
	}
	return s
}

// vars returns the parameters of the prompts: the evaluation, and the topic of the round.
func (p Protocol) vars(r *protocol.Record) map[string]string {
	t := p.topics()[r.Cursor.Round-1]
	v := map[string]string{
		"evidence": bulletList(p.Evidence), "challenges": bulletList(p.Challenges), "scores": p.scoreList(),
		"topic": t.Name, "question": t.Question, "category": t.Category, Advocate: t.Advocate, Challenger: t.Challenger,
		"score": "", "scale": formatNumber(p.scale()),
	}
	if _, scored := p.Scores[t.Category]; scored {
		v["score"] = formatNumber(p.currentScore(r, t.Category))
	}
	if len(r.Participants) == 2 {
		v["for"], v["against"] = r.PairByRole(Advocate, Challenger)
	}
	return v
}

// scoreList returns the initial scores, one per line.
func (p Protocol) scoreList() string {
	var list []string
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		list = append(list, category+": "+formatNumber(p.Scores[category])+" of "+formatNumber(p.scale()))
	}
	return bulletList(list)
}

func bulletList(items []string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + item + "\n")
	}
	return b.String()
}

// Deciding returns the phase of the rulings.
func (Protocol) Deciding() []string { return []string{phaseRule} }
