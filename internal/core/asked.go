package core

import (
	"cmp"
	"fmt"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Remains reports whether the prompt of a step holds words of what judges do not see.
func Remains(r *State, s *protocol.Step, prompt []providers.Message) bool {
	c := r.Agenda.Course
	return c.Begun() && c.RemainsIn(&r.Record, s, prompt, r.ActorSettings().hiddenTexts(), r.Pseudonyms(s).Hide)
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
