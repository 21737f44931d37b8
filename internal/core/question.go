package core

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
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
