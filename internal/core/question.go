package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// ActionsOf returns the actions of the choices of a question.
func ActionsOf(q *journal.Question) (names []string) {
	for _, c := range q.Choices {
		names = append(names, c.Action)
	}
	return names
}

// The actions of a person: about a failure, and at a gate.
const (
	ActionRetry = "retry"
	ActionDrop  = "drop"
	ActionEnd   = "end"

	ActionApprove = "approve"
	ActionEdit    = "edit"
	ActionStop    = "stop"

	ActionRefuse = "refuse" // a call of a tool

	// Decisions that answer no question.
	ActionDecline = "decline"
	ActionHold    = "hold"
	ActionRelease = "release"
)

// IsAnswer reports whether an action answers a question.
func IsAnswer(action string) bool {
	return !slices.Contains([]string{ActionDecline, ActionHold, ActionRelease}, action)
}

// GiverOf returns the act with which a person gives a decision. It is empty for a decision that follows from another act.
func GiverOf(action string) journal.Act {
	switch {
	case action == ActionDecline:
		return journal.ActDecline
	case IsAnswer(action):
		return journal.ActDecide
	}
	return ""
}

// gateQuestion returns the question of a gate that the debate has reached, or nil if there is none.
func gateQuestion(r *State) *journal.Question {
	gate, cause := gateAhead(r)
	if cause == "" {
		return nil
	}
	return &journal.Question{
		Gate:  gate,
		Cause: cause,
		Choices: []journal.Choice{
			{
				Action:      ActionApprove,
				Label:       "Continue",
				Description: "go on as planned",
			},
			{
				Action:      ActionEdit,
				Label:       "Continue with a remark",
				Description: "add a remark that the next steps see, and go on",
			},
			{
				Action:      ActionStop,
				Label:       "Stop here",
				Description: "end the debate; before the conclusion, cancel it",
			},
		},
	}
}

// gateAhead returns the gate that the debate has reached and nobody has passed, with the cause of the question there. The cause is
// empty if there is no such gate.
func gateAhead(r *State) (gate, cause string) {
	if r.Cursor.Stage == transcript.Speech && r.Config.AskBeforeRounds {
		gate = fmt.Sprintf("round %d", r.Cursor.Round)
		cause = fmt.Sprintf("round %d of %d is next", r.Cursor.Round, r.MaxRounds)
	}
	if r.Cursor.Stage == transcript.Conclusion && r.Config.AskBeforeVerdict {
		gate = "verdict"
		cause = "the conclusion is next"
	}
	if gate != "" && !r.Decisions.passed[gate] {
		return gate, cause
	}
	most := r.Config.AskAboveCost
	if most > 0 && r.spent().Cost > most && !r.Decisions.passed["cost"] {
		return "cost", fmt.Sprintf("%.4f are spent, more than %.4f", r.spent().Cost, most)
	}
	return "", ""
}

// callQuestion returns the question about a call that must wait for a person, or nil if there is none.
func callQuestion(r *State, steps []protocol.Step) *journal.Question {
	k, c := r.Tools.Awaited(steps)
	if c == nil {
		return nil
	}
	return &journal.Question{
		Cause: fmt.Sprintf("%s wants to call the tool %s", k.Actor, c.Name),
		Step:  k,
		Call:  c,
		Choices: []journal.Choice{
			{
				Action:      ActionApprove,
				Label:       "Approve",
				Description: "call the tool with these arguments",
			},
			{
				Action:      ActionRefuse,
				Label:       "Refuse",
				Description: "do not call the tool; a remark says why",
			},
		},
	}
}

// QuestionID returns the ID of the question that an entry asks.
func QuestionID(seq int64) string { return fmt.Sprintf("q%d", seq) }

// Remains reports whether the prompt of a step holds words of what judges do not see.
func Remains(r *State, s *protocol.Step, prompt []providers.Message) bool {
	c := r.Agenda.Course
	return c != nil && c.RemainsIn(&r.Record, s, prompt, r.ActorSettings().hiddenTexts(), r.Pseudonyms(s).Hide)
}

// NewAsked returns what a person is asked in a step.
func NewAsked(r *State, s *protocol.Step) (q journal.Asked, err error) {
	who, seat, _ := r.Actor(s.Actor)
	q = journal.Asked{
		Key:      s.Key,
		Kind:     s.Kind,
		Contract: s.Contract,
		Tokens:   who.MaxTokens,
	}
	if !r.Settings.Templates.Has(s.Prompt) {
		return q, &Unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	contract, err := ContractFor(r, s)
	if err != nil {
		return q, err
	}
	is, err := r.Ask(s, seat, contract)
	q.Task = is.Task
	q.Fields = is.Fields
	q.Schema = is.Schema
	q.Attachments = is.Attachments
	q.Documents = is.Documents
	return q, err
}

// Brief sets what the actor of a next step may read and must know, as in a prompt for a model.
func Brief(r *State, q *journal.Asked) (err error) {
	q.Said = nil
	q.Briefing = nil // no entry of the journal has them
	s := r.Open(q.Key)
	if s == nil {
		return nil
	}
	q.Said = r.Said(s)
	if r.Settings.Templates.Has(s.Prompt) {
		q.Briefing, err = NewBriefing(r, s)
	}
	return err
}

// NewBriefing returns what a person must know to reply to a step.
func NewBriefing(r *State, s *protocol.Step) (*journal.Briefing, error) {
	_, seat, _ := r.Actor(s.Actor)
	b, err := r.Brief(s, seat)
	return &b, err
}

// ContractFor returns the contract of the reply to a step, with the step's own check, or nil if the reply is free text.
func ContractFor(r *State, s *protocol.Step) (*reply.Contract, error) {
	if s.Contract == "" {
		return nil, nil
	}
	c := r.Contract(s.Contract)
	if c == nil {
		return nil, &Unsupported{[]string{fmt.Sprintf(
			"reply contract %q is unknown, add it to Options.Contracts",
			s.Contract,
		)}}
	}
	if s.Check != nil {
		c = c.WithCheck(s.Check)
	}
	return c, nil
}

// GivenTurn returns the turn of a step with a reply that a person gives, which has so many tokens. If the reply is blank,
// invalid or has more than most tokens, GivenTurn returns *Problems about the subject.
func GivenTurn(r *State, s *protocol.Step, subject, text string, tokens, most int) (t transcript.Turn, err error) {
	contract, err := ContractFor(r, s)
	if err != nil {
		return t, err
	}
	t, wrong, err := r.Given(s, contract, text, tokens, most)
	l := &ProblemList{}
	for _, reason := range wrong {
		l.Add("reply", "%s", reason)
	}
	return t, cmp.Or(ProblemsOf(subject, l.Problems), err)
}
