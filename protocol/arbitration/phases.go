package arbitration

import (
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The phases of a round.
const (
	phaseArgue = "argue"
	phaseRule  = "rule"
)

// flow returns the stages: the arguments of advocate and challenger, in this order, and the ruling of the first judge. The arbiter
// has to know the sides, but not who argues for them.
func (p Protocol) flow() protocol.Flow {
	hasTopic := func(r *protocol.Record) bool { return r.Cursor.Round >= 1 && r.Cursor.Round <= len(p.topics()) }
	return protocol.Flow{
		Seats: protocol.Seats{
			Participants: protocol.Range{Least: 2, Most: 2, Takes: "an arbitration takes 2: an advocate and a challenger"},
			Judges:       protocol.Range{Least: 1, Most: 1, Takes: "an arbitration needs one as the arbiter"},
			Rules:        checkRoles,
		},
		Stages: []protocol.Stage{
			{
				Kind: transcript.Speech, Name: phaseArgue, Prompt: "arbitration-argue", Contract: ArgumentContract, If: hasTopic,
				Who: protocol.Pair(Advocate, Challenger),
				Each: func(r *protocol.Record, s *protocol.Step) {
					s.Vars = p.vars(r)
					s.Vars["side"] = []string{Advocate, Challenger}[s.Order]
				},
			},
			{
				Kind: transcript.Assessment, Name: phaseRule, Prompt: "arbitration-rule", Contract: RulingContract, If: hasTopic,
				Blind: true, Decides: true,
				Each: func(r *protocol.Record, s *protocol.Step) {
					round := r.Cursor.Round
					s.Vars = p.vars(r)
					s.Show = func(t *transcript.Turn) bool {
						return t.Round == round && (t.Kind == transcript.Speech || t.Kind == transcript.Remark)
					}
				},
			},
		},
	}
}

// checkRoles requires that not both participants have the same role.
func checkRoles(r *protocol.Record) (problems []protocol.Problem) {
	a, b := r.Participants[0], r.Participants[1]
	if a.Role == b.Role && (a.Role == Advocate || a.Role == Challenger) {
		problems = append(problems, protocol.Problemf("participants[1].role", "%q is taken by %s", a.Role, a.Name))
	}
	return problems
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// End returns the zero Ending: only the limits end the debate, at the latest after the last topic.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// Deciding returns the phase of the rulings.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

// vars returns the parameters of the prompts: the evaluation, and the topic of the round.
func (p Protocol) vars(r *protocol.Record) map[string]string {
	t := p.topics()[r.Cursor.Round-1]
	v := map[string]string{
		"evidence": bulletList(p.Evidence), "challenges": bulletList(p.Challenges), "scores": p.scoreList(),
		"topic": t.Name, "question": t.Question, "category": t.Category, Advocate: t.Advocate, Challenger: t.Challenger,
		"score": "", "scale": outcome.Number(p.scale()),
	}
	if _, scored := p.Scores[t.Category]; scored {
		v["score"] = outcome.Number(p.currentScore(r, t.Category))
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
		list = append(list, category+": "+outcome.Number(p.Scores[category])+" of "+outcome.Number(p.scale()))
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
