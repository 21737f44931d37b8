// Package procon is a debate between two participants with opposite positions. They speak in turn, round by round, and
// a judge scores them once, at the end.
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
// In a JSON configuration the protocol's name is "pro-con/1". It has no parameters:
//
//	"protocol": {"name": "pro-con/1"}
//
// # Prompts
//
// The prompt of a speech is "procon-argue", and "procon-close" in the last round unless that is also the first. The
// judge's prompt is "procon-judge".
//
// # Answer
//
// The answer is the judge's turn. Its data decodes to a [Judgment], and its text is the summary with the scores.
package procon

import (
	"strings"
	"time"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol has no parameters. Each of the two participants has a Position of its own; its defaults are small, see
// [Protocol.Defaults].
type Protocol struct{}

// Name is "pro-con/1".
func (Protocol) Name() string { return "pro-con/1" }

// Defaults are 5 rounds, 600 s and 8,000 tokens of replies, of which a debater's has at most 600 and the judgment 400.
// All replies at their caps are 6,400 tokens, so that the budget never ends a debate of five rounds.
func (Protocol) Defaults() protocol.Defaults {
	return protocol.Defaults{MaxRounds: 5, Time: 600 * time.Second, OutputTokens: 8000, StepTokens: 600, JudgeTokens: 400}
}

// Check wants two participants with different positions, who are not on one side, and a judge.
func (Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	if n := len(r.Participants); n != 2 {
		wrong("participants", "%d enabled, pro-con takes 2", n)
	}
	for _, s := range r.Participants {
		if normalized(s.Position) == "" {
			wrong("participants", "%q has no position, give each its own, such as \"Yes, cities should ban cars\" and \"No, they should not\"", s.Name)
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
		wrong("judges", "none, pro-con needs one")
	}
	return problems
}

// normalized is a text without what does not make it another one: case, and blanks more or less.
func normalized(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// The phases, which are the names of their prompts as well.
const (
	promptArgue = "procon-argue"
	promptClose = "procon-close"
	promptJudge = "procon-judge"
)

// Phases are the speeches of a round, and the first judge's judgment at the end.
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
		phase := protocol.Phase{Name: "judge"}
		for _, name := range r.Judges[:min(1, len(r.Judges))] {
			phase.Steps = append(phase.Steps, protocol.Step{
				Key: transcript.Key{Actor: name}, Prompt: promptJudge, Contract: JudgmentContract.Name(), Blind: true,
			})
		}
		return []protocol.Phase{phase}
	default:
		return nil
	}
}

// closingRound says whether the round at hand is for closing statements: the last one, but for a first one. A limit that was
// edited does not change a round that has begun.
func closingRound(r *protocol.Record) bool {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == transcript.Speech {
			return t.Phase == "close"
		}
	}
	return r.Cursor.Round > 1 && r.Cursor.Round >= r.MaxRounds
}

// End leaves the end to the limits: there is no judge's word before it.
func (Protocol) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
