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
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/settings"
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
	settings.NotBlank(&problems, "protocol.a", p.A, "set an answer")
	settings.NotBlank(&problems, "protocol.b", p.B, "set an answer")
	if n := len(r.Participants); n > 0 {
		problems.Add("participants", "%d enabled, pairwise takes none: the answers are given", n)
	}
	if len(p.Selection.Jury(r.Judges)) == 0 {
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

// The phases.
const (
	phaseJudge     = "judge"
	phaseChallenge = "challenge"
)

// flow returns the decisions of the judges, the challenges, and the decision of the senior judge unless the jury decides.
func (p Protocol) flow() protocol.Flow {
	selected := p.selected()
	jury := protocol.Stage{
		Kind: transcript.Assessment, Name: phaseJudge, Prompt: "pairwise-judge", Contract: Contract, Parallel: true, Blind: true,
		Decides: true, Who: p.inOrders(selected.Members), Show: func(*transcript.Turn) bool { return false }, Each: p.showAnswers,
	}
	senior := jury
	senior.Name = outcome.SeniorPhase
	senior.Who = p.inOrders(p.seniors)
	stages := []protocol.Stage{jury}
	if p.Challenge {
		challenge := jury
		challenge.Name = phaseChallenge
		challenge.Prompt = "pairwise-challenge"
		challenge.Decides = false
		challenge.Who = p.challenged(challenge.Who)
		challenge.Each = p.object
		stages = append(stages, challenge)
	}
	return protocol.Flow{Stages: append(stages, senior)}
}

// selected returns the jury and the senior judge.
func (p Protocol) selected() outcome.SelectedJury {
	return outcome.SelectedJury{Selection: p.Selection, Phase: phaseJudge, Said: said, Item: itemOf}
}

// seniors returns the senior judge if the jury does not decide.
func (p Protocol) seniors(r *protocol.Record) []transcript.Key {
	if p.Selection.Senior == "" || p.selected().Decides(r) != agreement.None {
		return nil
	}
	return protocol.Actors(p.Selection.Senior)
}

// inOrders returns the steps of judges who see the answers in both orders, or once.
func (p Protocol) inOrders(judges func(*protocol.Record) []transcript.Key) func(*protocol.Record) []transcript.Key {
	if p.Once {
		return judges
	}
	return func(r *protocol.Record) []transcript.Key { return outcome.InBothOrders(judges(r)) }
}

// showAnswers shows a judge the answers in the order of its step.
func (p Protocol) showAnswers(_ *protocol.Record, s *protocol.Step) {
	s.Vars = map[string]string{"first": p.A, "second": p.B}
	if s.Target == judge.Swapped {
		s.Swap = true
		s.Vars = map[string]string{"first": p.B, "second": p.A}
	}
}

// challenged returns the steps of judges who hear an objection. A judge that has decided for neither answer hears none.
func (p Protocol) challenged(judges func(*protocol.Record) []transcript.Key) func(*protocol.Record) []transcript.Key {
	return func(r *protocol.Record) []transcript.Key {
		return slices.DeleteFunc(judges(r), func(k transcript.Key) bool {
			turn, judged := r.FindCurrent(phaseJudge, k.Actor, k.Target)
			return judged && preferred(turn) == Neither
		})
	}
}

// object shows a judge its decision, and says that the other answer is better.
func (p Protocol) object(r *protocol.Record, s *protocol.Step) {
	p.showAnswers(r, s)
	own := s.Key
	s.Show = func(t *transcript.Turn) bool {
		return t.Phase == phaseJudge && t.Actor == own.Actor && t.Target == own.Target
	}
	turn, judged := r.FindCurrent(phaseJudge, own.Actor, own.Target)
	if judged {
		s.Vars["other"] = map[string]string{First: "2", Second: "1"}[preferred(turn)]
	}
}

// preferred returns which answer a judge prefers. It prefers neither if its turn cannot be read.
func preferred(t transcript.Turn) string { return judge.Opinions[Preference](t)[0].Value.Winner }

// Phases returns the phases of the stage.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// Deciding returns the phases in which the judges compare the answers. The challenges decide nothing.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

// End ends nothing: there is one round.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// said returns the turns of a phase, those of each judge in the pair's own order first.
func said(r *protocol.Record, phase string) []transcript.Turn {
	return outcome.SaidInBothOrders(r, transcript.Assessment, phase)
}

// itemOf returns the decisions in turns.
func itemOf(r *protocol.Record, turns []transcript.Turn) agreement.Item {
	item := agreement.Item{ID: r.ID, Decisions: map[string][]agreement.Decision{}}
	for _, o := range judge.Opinions[Preference](turns...) {
		d := agreement.None
		if !o.Failed {
			d = o.Value.Decision(o.Swapped)
		}
		item.Decisions[o.Judge] = append(item.Decisions[o.Judge], d)
	}
	return item
}
