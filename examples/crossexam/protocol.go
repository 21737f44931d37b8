package main

import (
	"fmt"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Cross is a cross-examination. Both sides open the debate. In each later round, each side questions the other.
type Cross struct {
	FollowUps int `json:"follow_ups,omitempty"` // most further questions after evasive answers
}

// answer is the reply to a question.
type answer struct {
	Reply   string `json:"reply" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"your answer, in at most 100 words"`
	Evasive bool   `json:"evasive" jsonschema_description:"whether your answer leaves the question open"`
}

func (a *answer) Text() string     { return a.Reply }
func (a *answer) Default([]string) { *a = answer{"No valid answer.", true} }

var answerContract = reply.New[answer]("answer/1")

// Name returns "cross/1".
func (Cross) Name() string { return "cross/1" }

// Check requires two participants, at most one judge, and a number of further questions that is not negative.
func (c Cross) Check(r *protocol.Record) (wrong []protocol.Problem) {
	if len(r.Participants) != 2 {
		wrong = append(wrong, protocol.Problemf("participants", "%d enabled, want 2", len(r.Participants)))
	}
	if c.FollowUps < 0 {
		wrong = append(wrong, protocol.Problemf("protocol.follow_ups", "%d, want 0 or more", c.FollowUps))
	}
	return append(wrong, r.FurtherJudges()...)
}

// Phases returns the opening statements in round 1, questions and answers in later rounds, and a verdict if there is a judge.
func (c Cross) Phases(r *protocol.Record) []protocol.Phase {
	switch stage := r.Cursor.Stage; {
	case stage == transcript.Conclusion && len(r.Judges) > 0:
		verdict := phase("verdict", "verdict", judge.VerdictContract.Name(), "", r.Judges[0])
		verdict.Steps[0].Blind = true // the judge sees pseudonyms
		return []protocol.Phase{verdict}
	case stage != transcript.Speech || len(r.Participants) != 2:
		return nil
	}
	a, b := r.Participants[0].Name, r.Participants[1].Name
	if r.Cursor.Round == 1 {
		return []protocol.Phase{phase("opening", "opening", "", "", a, b)}
	}
	return append(c.exam(r, a, b), c.exam(r, b, a)...)
}

// exam returns the phases in which one side questions the other, until an answer is not evasive.
func (c Cross) exam(r *protocol.Record, asks, answers string) (phases []protocol.Phase) {
	for i := range c.FollowUps + 1 {
		question, reply := fmt.Sprintf("%s-asks-%d", asks, i), fmt.Sprintf("%s-answers-%d", answers, i)
		phases = append(phases, phase(question, "ask", "", answers, asks), phase(reply, "answer", answerContract.Name(), asks, answers))
		turn, said := r.FindCurrent(reply, answers, asks)
		if a, err := transcript.Decode[answer](turn); !said || err != nil || !a.Evasive {
			break
		}
	}
	return phases
}

// phase returns a phase in which the actors speak at once, with the same prompt.
func phase(name, prompt, output, target string, actors ...string) protocol.Phase {
	p := protocol.Phase{Name: name, Parallel: true}
	for _, actor := range actors {
		p.Steps = append(p.Steps, protocol.Step{Key: transcript.Key{Actor: actor, Target: target}, Prompt: prompt, Contract: output})
	}
	return p
}

// End never ends the debate. The limits do.
func (Cross) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
