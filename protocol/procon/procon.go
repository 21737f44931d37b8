// Package procon is a debate between two participants with opposite positions. They speak in turn, round by round, and
// one or more judges score them once, at the end.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:    "Should cities ban private cars?",
//		Protocol: procon.Protocol{},
//		Participants: []debate.Participant{
//			{Name: "Ada", Position: "Yes, cities should ban cars"},
//			{Name: "Bo", Position: "No, they should not"},
//		},
//		Judges: []debate.Participant{{Name: "Cy"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "procon/1", and the fields of [Protocol] stand next to it:
//
//	"protocol": {"name": "procon/1", "decision": {"options": ["Ban them", "Charge for entry", "Change nothing"]}}
//
// A judge that names a winner with a lower score than the other participant is asked once more. The second judgment stands. If
// it still contradicts the scores, the answer has a warning.
//
// With [Protocol.Decision], the judges first score the arguments without naming a winner, and then decide the topic on its
// merits.
//
// With [Protocol.Selection], the judges conclude the debate only where gold labels show that they may. Elsewhere the senior
// judge does, who can be a stronger model or a person. With a decision, the senior judge only decides.
//
// # Prompts
//
// The prompt of a speech is "procon-argue", and "procon-close" in the last round unless that is also the first. The
// judge's prompt is "procon-judge". With a decision, "decide" follows.
//
// # Answer
//
// The data of the answer decodes to a [Judgment], and its text is the summary with the scores. Several judges decide by
// majority, and their scores are averaged. With a decision, the data decodes to a decision.Joint.
package procon

import (
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol holds the parameters. The two participants need opposite positions. If only one has a Position, the other's is
// the opposite. If none has one, the sides "pro" (in favor of the topic) and "con" (against it) set the positions; the
// side of one participant suffices. The default limits are small; see [Protocol.Defaults].
type Protocol struct {
	// Decision lets the judges decide the topic on its merits, apart from the scores.
	Decision decision.Task `json:"decision,omitzero"`
	// Selection lets the judges name the winner, or decide between two options, only where they may. Elsewhere the senior judge
	// does.
	Selection agreement.Selection `json:"selection,omitzero"`
}

// Name returns "procon/1".
func (Protocol) Name() string { return "procon/1" }

// Defaults returns 5 rounds, 600 s and 8,000 output tokens, with at most 600 for a statement and 400 for a judgment. All
// replies of five rounds with one judge, at their limits, have 6,800 tokens, with a judgment that is asked for again, so the token
// budget never ends a debate of five rounds. With a decision, a judge's reply has 1,500 tokens at most, and the output 12,000.
func (p Protocol) Defaults() protocol.Defaults {
	d := protocol.Defaults{MaxRounds: 5, Time: 600 * time.Second, OutputTokens: 8000, StepTokens: 600, JudgeTokens: 400}
	if !p.Decision.IsZero() {
		d.OutputTokens, d.JudgeTokens = 12_000, 1500
	}
	return d
}

// The sides from which positions are derived.
const (
	sidePro = "pro"
	sideCon = "con"
)

// sidePositions maps each side to its position.
var sidePositions = map[string]string{
	sidePro: "In favor of the topic: the claim is right, or the answer to the question is yes.",
	sideCon: "Against the topic: the claim is wrong, or the answer to the question is no.",
}

// opposites maps each side to the other one.
var opposites = map[string]string{sidePro: sideCon, sideCon: sidePro}

// Positions returns the positions of the participants, in order. A position that is missing is derived from the other
// participant's position or from the sides, if they permit it. The engine calls it when a debate is created or edited.
func (Protocol) Positions(seats []transcript.Profile) []string {
	list := make([]string, len(seats))
	for i, s := range seats {
		list[i] = s.Position
		if len(seats) == 2 && normalized(s.Position) == "" {
			list[i] = derivePosition(s, seats[1-i])
		}
	}
	return list
}

// derivePosition returns the position of a participant without one, or "".
func derivePosition(s, other transcript.Profile) string {
	side, otherSide := normalized(s.Side), normalized(other.Side)
	switch {
	case side != "" && side == otherSide:
		return ""
	case normalized(other.Position) != "":
		return "The opposite of this position: " + other.Position
	case side == "":
		return sidePositions[opposites[otherSide]]
	}
	return sidePositions[side]
}

// Check requires two participants with different positions, on different sides or none, and a judge.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var problems protocol.Problems
	if n := len(r.Participants); n != 2 {
		problems.Add("participants", "%d enabled, procon takes 2", n)
	}
	for _, s := range r.Participants {
		if normalized(s.Position) == "" {
			problems.Add("participants", "%q has no position, give each participant its own, or the sides %q and %q", s.Name, sidePro,
				sideCon)
		}
	}
	if len(r.Participants) == 2 {
		a, b := r.Participants[0], r.Participants[1]
		if p := normalized(a.Position); p != "" && p == normalized(b.Position) {
			problems.Add("participants", "%q and %q both have the position %q, give them opposite ones", a.Name, b.Name, a.Position)
		}
		if s := normalized(a.Side); s != "" && s == normalized(b.Side) {
			problems.Add("participants", "%q and %q are both on the side %q, give them different ones or none", a.Name, b.Name, a.Side)
		}
	}
	if len(r.Judges) == 0 {
		problems.Add("judges", "none, procon needs one")
	}
	if !p.Decision.IsZero() {
		problems.AddAll("protocol.decision", p.Decision.Check(len(r.Judges), false))
	}
	if p.Decision.Contract != "" && !p.Selection.IsZero() {
		problems.Add("protocol.selection", "the judges name no winner and choose no option, leave it out")
	}
	problems.AddAll("protocol.selection", p.Selection.CheckDebate(r.Judges, 1, len(r.Participants), len(p.Decision.Options)))
	return problems
}

// normalized returns a text in lower case with single spaces, for comparison.
func normalized(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// The phases.
const (
	phaseArgue  = "argue"
	phaseClose  = "close"
	phaseJudge  = "judge"
	phaseDecide = "decide"
)

// flow returns the stages: the speeches of a round, and at the end the judgments of all judges. With a decision, they decide after
// that. The senior judge follows unless the jury decides.
func (p Protocol) flow() protocol.Flow {
	var vars map[string]string // none without a decision
	if !p.Decision.IsZero() {
		vars = p.Decision.Vars()
	}
	speech := func(_ *protocol.Record, s *protocol.Step) { s.Vars = vars }
	arguing := func(r *protocol.Record) bool { return !closingRound(r) }
	selected := p.selected()
	stages := []protocol.Stage{
		{Kind: transcript.Speech, Name: phaseArgue, Prompt: "procon-argue", If: arguing, Each: speech},
		{Kind: transcript.Speech, Name: phaseClose, Prompt: "procon-close", If: closingRound, Each: speech},
	}
	last := protocol.Stage{
		Kind: transcript.Conclusion, Name: phaseJudge, Prompt: "procon-judge", Contract: JudgmentContract, Who: selected.Members,
		Parallel: true, Blind: true, Decides: true,
		Each: func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = vars
			if p.Decision.IsZero() {
				s.Doubt = doubt
			}
		},
	}
	stages = append(stages, last)
	if !p.Decision.IsZero() {
		last.Name = phaseDecide
		last.Prompt = "decide"
		last.Each = func(r *protocol.Record, s *protocol.Step) {
			s.Vars = vars
			s.Contract = p.Decision.ContractName()
			s.Check = p.Decision.CheckReply(r.Cursor.Round)
		}
		stages = append(stages, last)
	}
	last.Name = outcome.SeniorPhase
	last.Who = selected.Seniors
	return protocol.Flow{Stages: append(stages, last)}
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// selected returns the jury and the senior judge, who decide in the last phase of the jury.
func (p Protocol) selected() outcome.SelectedJury {
	s := outcome.SelectedJury{Selection: p.Selection, Phase: phaseJudge, Said: said}
	if !p.Decision.IsZero() {
		s.Phase = phaseDecide
	}
	return s
}

// said returns the turns of a phase of the conclusion.
func said(r *protocol.Record, phase string) []transcript.Turn {
	return r.Said(transcript.Conclusion, phase)
}

// closingRound reports whether the current round has closing statements: the last round does, unless it is also the first.
// Editing the limit does not change a round that has begun.
func closingRound(r *protocol.Record) bool {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech || t.Kind == transcript.Silence {
			return t.Phase == phaseClose
		}
	}
	return r.Cursor.Round > 1 && r.Cursor.Round >= r.MaxRounds
}

// End returns the zero Ending: only the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// Deciding returns the phases in which the judges judge and decide, and that of the senior judge.
func (Protocol) Deciding() []string { return []string{phaseJudge, phaseDecide, outcome.SeniorPhase} }
