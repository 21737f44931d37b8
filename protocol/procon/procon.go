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
// In a JSON configuration the protocol's name is "procon/1". It has no parameters:
//
//	"protocol": {"name": "procon/1"}
//
// # Prompts
//
// The prompt of a speech is "procon-argue", and "procon-close" in the last round unless that is also the first. The
// judge's prompt is "procon-judge".
//
// # Answer
//
// The data of the answer decodes to a [Judgment], and its text is the summary with the scores. Several judges decide by
// majority, and their scores are averaged.
package procon

import (
	"strings"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol has no parameters. The two participants need opposite positions. If only one has a Position, the other's is
// the opposite. If none has one, the sides "pro" (in favor of the topic) and "con" (against it) set the positions; the
// side of one participant suffices. The default limits are small; see [Protocol.Defaults].
type Protocol struct{}

// Name returns "procon/1".
func (Protocol) Name() string { return "procon/1" }

// Defaults returns 5 rounds, 600 s and 8,000 output tokens, with at most 600 for a statement and 400 for a judgment. All
// replies of five rounds with one judge, at their limits, have 6,400 tokens, so the token budget never ends a debate of
// five rounds.
func (Protocol) Defaults() protocol.Defaults {
	return protocol.Defaults{MaxRounds: 5, Time: 600 * time.Second, OutputTokens: 8000, StepTokens: 600, JudgeTokens: 400}
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
		if list[i] = s.Position; len(seats) == 2 && normalized(s.Position) == "" {
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
func (Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	if n := len(r.Participants); n != 2 {
		wrong("participants", "%d enabled, procon takes 2", n)
	}
	for _, s := range r.Participants {
		if normalized(s.Position) == "" {
			wrong("participants", "%q has no position, give each participant its own, or the sides %q and %q", s.Name, sidePro, sideCon)
		}
	}
	if len(r.Participants) == 2 {
		a, b := r.Participants[0], r.Participants[1]
		if p := normalized(a.Position); p != "" && p == normalized(b.Position) {
			wrong("participants", "%q and %q both have the position %q, give them opposite ones", a.Name, b.Name, a.Position)
		}
		if s := normalized(a.Side); s != "" && s == normalized(b.Side) {
			wrong("participants", "%q and %q are both on the side %q, give them different ones or none", a.Name, b.Name, a.Side)
		}
	}
	if len(r.Judges) == 0 {
		wrong("judges", "none, procon needs one")
	}
	return problems
}

// normalized returns a text in lower case with single spaces, for comparison.
func normalized(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// The prompts.
const (
	promptArgue = "procon-argue"
	promptClose = "procon-close"
	promptJudge = "procon-judge"
)

// Phases returns the speeches of a round, or the judgments of all judges at the end.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		phase := protocol.Phase{Name: "argue"}
		prompt := promptArgue
		if closingRound(r) {
			phase.Name, prompt = "close", promptClose
		}
		for _, s := range r.Participants {
			phase.Steps = append(phase.Steps, protocol.Step{Key: transcript.Key{Actor: s.Name}, Prompt: prompt})
		}
		return []protocol.Phase{phase}
	case transcript.Conclusion:
		phase := protocol.Phase{Name: "judge", Parallel: true}
		for _, name := range r.Judges {
			phase.Steps = append(phase.Steps, protocol.Step{
				Key: transcript.Key{Actor: name}, Prompt: promptJudge, Contract: JudgmentContract.Name(), Blind: true,
			})
		}
		return []protocol.Phase{phase}
	default:
		return nil
	}
}

// closingRound reports whether the current round has closing statements: the last round does, unless it is also the first.
// Editing the limit does not change a round that has begun.
func closingRound(r *protocol.Record) bool {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech {
			return t.Phase == "close"
		}
	}
	return r.Cursor.Round > 1 && r.Cursor.Round >= r.MaxRounds
}

// End returns the zero Ending: only the limits end the debate.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
