// Package pairwise lets judges say which of two given answers to a question is better. Nobody debates. Package eval/audit
// measures judges with it.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:    "Name a planet with rings.",
//		Protocol: pairwise.Protocol{A: "Saturn.", B: "Mars."},
//		Judges:   []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "pairwise/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "pairwise/1", "a": "Saturn.", "b": "Mars."}
//
// Each judge judges twice, the second time with the answers in the opposite order. It sees them as answer 1 and answer 2.
//
// # A jury that may not decide everything
//
// With [Protocol.Selection], the judges decide only where gold labels show that they may. Elsewhere the senior judge decides,
// which can be a stronger model or a person.
//
// # Prompts
//
// The prompt of a judge is "pairwise-judge", and "pairwise-challenge" when its decision is challenged.
//
// # Answer
//
// The data of the answer decodes to a [Result].
package pairwise

import (
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol holds the two answers and the parameters. There are no participants, and at least one judge.
type Protocol struct {
	A string `json:"a"` // the first answer
	B string `json:"b"` // the second answer
	// Once asks each judge only once, with A first. By default, each judge also sees the answers in the opposite order.
	Once bool `json:"once,omitempty"`
	// Challenge objects to each decision, whichever it is, and asks the judge again. The answer of the debate is made from the
	// decisions before the challenge.
	Challenge bool `json:"challenge,omitempty"`
	// Selection lets the judges decide only where they may, and has the senior judge decide elsewhere.
	Selection agreement.Selection `json:"selection,omitzero"`
}

// Name returns "pairwise/1".
func (Protocol) Name() string { return "pairwise/1" }

// Defaults returns one round, and at most 1,024 tokens for a reply.
func (Protocol) Defaults() protocol.Defaults {
	return protocol.Defaults{MaxRounds: 1, JudgeTokens: 1024, JudgeTemperature: new(float64)}
}

// Check requires two answers, no participants and a judge.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var problems protocol.Problems
	for _, answer := range []struct{ field, text string }{{"a", p.A}, {"b", p.B}} {
		if strings.TrimSpace(answer.text) == "" {
			problems.Add("protocol."+answer.field, "it is blank, set an answer")
		}
	}
	if n := len(r.Participants); n > 0 {
		problems.Add("participants", "%d enabled, pairwise takes none: the answers are given", n)
	}
	if len(p.jury(r)) == 0 {
		problems.Add("judges", "none, pairwise needs one")
	}
	problems.AddAll("protocol.selection", p.Selection.Check(r.Judges, p.asked()))
	return problems
}

// asked returns how often each judge is asked.
func (p Protocol) asked() int {
	if p.Once {
		return 1
	}
	return 2
}

// jury returns the judges without the senior one.
func (p Protocol) jury(r *protocol.Record) []string { return p.Selection.Jury(r.Judges) }

// The phases.
const (
	phaseJudge     = "judge"
	phaseChallenge = "challenge"
	phaseSenior    = "senior"
)

// The prompts.
const (
	promptJudge     = "pairwise-judge"
	promptChallenge = "pairwise-challenge"
)

// Phases returns the decisions of the judges, the challenges, and the decision of the senior judge unless the jury decides.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Assessment {
		return nil
	}
	phases := []protocol.Phase{p.phase(phaseJudge, promptJudge, p.jury(r)...)}
	if p.Challenge {
		phases = append(phases, p.challenges(r))
	}
	if senior := p.Selection.Senior; senior != "" && !p.decided(r) {
		phases = append(phases, p.phase(phaseSenior, promptJudge, senior))
	}
	return phases
}

// phase returns a phase in which each judge sees the answers in both orders, or once.
func (p Protocol) phase(name, prompt string, judges ...string) protocol.Phase {
	phase := protocol.Phase{Name: name, Parallel: true}
	step := protocol.Step{Prompt: prompt, Contract: Contract.Name(), Blind: true, Show: func(*transcript.Turn) bool { return false }}
	for range p.asked() {
		step.Vars = map[string]string{"first": p.A, "second": p.B}
		if step.Swap {
			step.Vars, step.Target = map[string]string{"first": p.B, "second": p.A}, judge.Swapped
		}
		for _, step.Actor = range judges {
			phase.Steps = append(phase.Steps, step)
		}
		step.Swap = true
	}
	return phase
}

// challenges returns the phase in which the judges hear an objection to their decisions. A judge that has decided for
// neither answer hears none.
func (p Protocol) challenges(r *protocol.Record) protocol.Phase {
	phase := p.phase(phaseChallenge, promptChallenge, p.jury(r)...)
	steps := phase.Steps
	phase.Steps = nil
	for _, s := range steps {
		turn, judged := r.FindCurrent(phaseJudge, s.Actor, s.Target)
		if said, err := transcript.Decode[Preference](turn); judged && (err != nil || said.Winner == Neither) {
			continue
		} else if judged {
			s.Vars["other"] = map[string]string{First: "2", Second: "1"}[said.Winner]
		}
		s.Show = func(t *transcript.Turn) bool {
			return t.Phase == phaseJudge && t.Actor == s.Actor && t.Target == s.Target
		}
		phase.Steps = append(phase.Steps, s)
	}
	return phase
}

// decided reports whether the jury has decided, so that the senior judge is not asked.
func (p Protocol) decided(r *protocol.Record) bool {
	item := itemOf(r, phaseJudge)
	_, decided := p.Selection.Decide(item)
	return decided
}

// End ends nothing: there is one round.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// itemOf returns the decisions of a phase.
func itemOf(r *protocol.Record, phase string) agreement.Item {
	item := agreement.Item{ID: r.ID, Decisions: map[string][]agreement.Decision{}}
	for _, o := range judge.Opinions[Preference](turnsOf(r, phase)...) {
		d := agreement.None
		if !o.Failed {
			d = o.Value.Decision(o.Swapped)
		}
		item.Decisions[o.Judge] = append(item.Decisions[o.Judge], d)
	}
	return item
}

// turnsOf returns the turns of a phase, those of each judge in the pair's own order first.
func turnsOf(r *protocol.Record, phase string) []transcript.Turn {
	var turns, swapped []transcript.Turn
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		switch {
		case t.Kind != transcript.Assessment || t.Phase != phase:
		case t.Target == judge.Swapped:
			swapped = append(swapped, t)
		default:
			turns = append(turns, t)
		}
	}
	return append(turns, swapped...)
}

// Deciding returns the phases in which the judges compare the answers. The challenges decide nothing.
func (Protocol) Deciding() []string { return []string{phaseJudge, phaseSenior} }
