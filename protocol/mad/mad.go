// Package mad is multi-agent debate: one side answers a question, the other must disagree, a moderator may end the debate
// after each round, and otherwise a judge decides in two steps.
//
//	d, err := debate.New(ctx, debate.Config{
//		Topic:        "A bat and a ball cost 1.10 together. The bat costs 1 more than the ball. What does the ball cost?",
//		Protocol:     mad.Protocol{},
//		Participants: []debate.Participant{{Name: "Ada", Role: mad.Affirmative}, {Name: "Bo", Role: mad.Negative}},
//		Judges:       []debate.Participant{{Name: "Judge"}},
//	}, options)
//
// In a JSON configuration the protocol's name is "mad/1". It has no parameters:
//
//	"protocol": {"name": "mad/1"}
//
// It takes two participants and one judge, who is also the moderator. In round 1, the affirmative side answers, and the
// negative side is told to disagree and to give another answer. In each later round, each side says whether it agrees with
// the other's last statement, and gives its present answer. After each round, the moderator says whether it prefers one
// side's answer. If so, the debate ends with that answer. After the last round without a preference, the judge first lists
// the candidate answers and then decides.
//
// # Prompts
//
// The prompts of the sides are "mad-affirm" and "mad-oppose" in round 1, and "mad-argue" in later rounds. The prompts of
// the judge are "mad-moderate", "mad-candidates" and "mad-decide".
//
// # Answer
//
// The data of the answer decodes to a [Result]. Its text is the answer, the reason, and who decided. If the judge failed,
// the text begins with a sentence that says so.
//
// # Source
//
// The protocol is that of Liang et al., "Encouraging Divergent Thinking in Large Language Models through Multi-Agent Debate"
// (EMNLP 2024, https://arxiv.org/abs/2305.19118), with the defaults of its program: 3 rounds, 3 players, temperature 0.
// This package differs in the following:
//
//   - The moderator ends the debate if it states a preference for a side, as the paper says. The published program ends it
//     if the field for the answer is not empty. In the published debates of 2023, these differ; docs/measured/mad.md has figures.
//   - A preference needs one side and an answer. Otherwise the moderator is asked again.
//   - The judge sees the whole debate, as the paper says. The published program shows it only each side's first statement.
//   - The judge and the moderator are one seat. They know the sides by pseudonyms.
//   - Replies of the moderator and the judge follow schemas. Prompts are written anew.
package mad

import (
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol has no parameters. The participants have the roles [Affirmative] and [Negative]; without these roles, the first
// participant is the affirmative side.
type Protocol struct{}

// The roles of the participants.
const (
	Affirmative string = "affirmative"
	Negative    string = "negative"
)

// Name returns "mad/1".
func (Protocol) Name() string { return "mad/1" }

// Defaults returns three rounds and a temperature of 0 for all models.
func (Protocol) Defaults() protocol.Defaults {
	return protocol.Defaults{MaxRounds: 3, Temperatures: []float64{0}, JudgeTemperature: new(float64)}
}

// The phases.
const (
	phaseArgue      = "argue"
	phaseModerate   = "moderate"
	phaseCandidates = "candidates"
	phaseDecide     = "decide"
)

// flow returns the protocol: the statements of a round, the moderator's decision after it, and the judge's two steps at the end if the
// moderator has not decided.
var flow = protocol.Flow{
	Seats: protocol.Seats{
		Participants: protocol.Range{Least: 2, Most: 2, Takes: "mad takes 2"},
		Judges:       protocol.Range{Least: 1, Most: 1, Takes: "mad needs one"},
		Rules:        checkRoles,
	},
	Stages: []protocol.Stage{
		{Kind: transcript.Speech, Name: phaseArgue, Prompt: "mad-argue", Who: protocol.Pair(Affirmative, Negative), Each: takeSide},
		{
			Kind: transcript.Assessment, Name: phaseModerate, Prompt: "mad-moderate", Contract: ModerationContract,
			Blind: true, Decides: true, Show: judgeSees,
		},
		{
			Kind: transcript.Conclusion, Name: phaseCandidates, Prompt: "mad-candidates", Contract: CandidatesContract,
			Blind: true, Decides: true, Show: judgeSees, If: isUndecided,
		},
		{
			Kind: transcript.Conclusion, Name: phaseDecide, Prompt: "mad-decide", Contract: DecisionContract,
			Blind: true, Decides: true, Show: judgeSees, If: isUndecided,
		},
	},
}

// checkRoles requires that the participants have different roles, or none.
func checkRoles(r *protocol.Record) (problems []protocol.Problem) {
	if a, b := r.Participants[0], r.Participants[1]; a.Role == b.Role && (a.Role == Affirmative || a.Role == Negative) {
		problems = append(problems, protocol.Problemf("participants", "%q and %q both have the role %q, give them different ones or none",
			a.Name, b.Name, a.Role))
	}
	return problems
}

// takeSide completes the step of a side. In round 1, each side has a prompt of its own.
func takeSide(r *protocol.Record, s *protocol.Step) {
	s.Vars = map[string]string{"side": []string{Affirmative, Negative}[s.Order]}
	if r.Cursor.Round == 1 {
		s.Prompt = []string{"mad-affirm", "mad-oppose"}[s.Order]
	}
}

// judgeSees reports whether the judge sees a turn: the statements, remarks, and its own list of candidates, but not its decisions after
// rounds.
func judgeSees(t *transcript.Turn) bool {
	return t.Kind == transcript.Speech || t.Kind == transcript.Remark || t.Phase == phaseCandidates
}

// isUndecided reports whether the moderator has not ended the debate.
func isUndecided(r *protocol.Record) bool {
	_, ended := preference(r)
	return !ended
}

// Check requires two participants, each with another role or none, and one judge.
func (Protocol) Check(r *protocol.Record) []protocol.Problem { return flow.Check(r) }

// Phases returns the phases of the stage and round.
func (Protocol) Phases(r *protocol.Record) []protocol.Phase { return flow.Phases(r) }

// Deciding returns the phases of the moderator and of the judge.
func (Protocol) Deciding() []string { return flow.Deciding() }

// Names returns both sides, even if one has dropped out: the judge may decide for its answer.
func (Protocol) Names(r *protocol.Record, s protocol.Step) []string {
	if s.Phase != phaseDecide {
		return nil
	}
	return append(r.ParticipantNames(), r.Dropped...)
}

// preference returns the moderator's decision after the current round. It reports whether it prefers a side.
func preference(r *protocol.Record) (Moderation, bool) {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Phase == phaseModerate {
			m, err := transcript.Decode[Moderation](t)
			return m, err == nil && m.Preference
		}
	}
	return Moderation{}, false
}

// End returns the outcome "judge_decided" if the moderator prefers a side.
func (Protocol) End(r *protocol.Record) transcript.Ending {
	m, ok := preference(r)
	if !ok {
		return transcript.Ending{}
	}
	return transcript.Ending{
		Outcome:  transcript.JudgeDecided,
		Evidence: "the moderator prefers the answer of " + m.Supported + ": " + m.Reasoning,
	}
}
