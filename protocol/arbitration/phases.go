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
	argue = "argue"
	rule  = "rule"
)

// Phases are the arguments, the challenger's after the advocate's, and the ruling of the first judge.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	round := r.Cursor.Round
	if round < 1 || round > len(p.topics()) {
		return nil
	}
	switch r.Cursor.Stage {
	case transcript.Speech:
		if len(r.Seats) != 2 {
			return nil
		}
		first, second := r.Pair(Advocate, Challenger)
		return []protocol.Phase{{Name: argue, Steps: []protocol.Step{p.argument(r, first, Advocate), p.argument(r, second, Challenger)}}}
	case transcript.Assessment:
		if len(r.Judges) == 0 {
			return nil
		}
		return []protocol.Phase{{Name: rule, Steps: []protocol.Step{p.ruling(r)}}}
	default:
		return nil
	}
}

// End is never early: the limits end the debate, at the latest with the last topic.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (p Protocol) argument(r *protocol.Record, name, side string) (s protocol.Step) {
	s.Actor, s.Prompt, s.Output, s.Vars = name, "arbitration-argue", ArgumentContract.Name(), p.vars(r)
	s.Vars["side"] = side
	return s
}

// ruling shows the arbiter the arguments of the round under neutral labels: who stands for which side it must know, who
// they are it need not.
func (p Protocol) ruling(r *protocol.Record) (s protocol.Step) {
	round := r.Cursor.Round
	s.Actor, s.Prompt, s.Output, s.Vars, s.Blind = r.Judges[0], "arbitration-rule", RulingContract.Name(), p.vars(r), true
	s.Show = func(t *transcript.Turn) bool {
		return t.Round == round && (t.Kind == transcript.Speech || t.Kind == transcript.Remark)
	}
	return s
}

// vars are what prompts read: what the evaluation says, and the topic of the round.
func (p Protocol) vars(r *protocol.Record) map[string]string {
	t := p.topics()[r.Cursor.Round-1]
	v := map[string]string{
		"evidence": lines(p.Evidence), "challenges": lines(p.Challenges), "scores": p.scores(),
		"topic": t.Name, "question": t.Question, "category": t.Category, Advocate: t.Advocate, Challenger: t.Challenger,
		"score": "", "scale": number(p.scale()),
	}
	if _, scored := p.Scores[t.Category]; scored {
		v["score"] = number(p.stands(r, t.Category))
	}
	if len(r.Seats) == 2 {
		v["for"], v["against"] = r.Pair(Advocate, Challenger)
	}
	return v
}

// scores are the initial ones, a line each.
func (p Protocol) scores() string {
	var list []string
	for _, category := range slices.Sorted(maps.Keys(p.Scores)) {
		list = append(list, category+": "+number(p.Scores[category])+" of "+number(p.scale()))
	}
	return lines(list)
}

func lines(items []string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("- " + item + "\n")
	}
	return b.String()
}
