package debatetool

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/elenchus-go/debate"
)

// The choices of a person who writes while a debate is not over.
const (
	goOn  = "continue"
	begin = "new"
)

// maxAnswered limits the debates of a conversation that become background of the next one.
const maxAnswered = 10

// person names the user of a conversation in remarks.
const person = "User"

// Choose asks a person for one of the choices of a. It returns the action, or an empty one if the person chooses none.
type Choose func(ctx context.Context, a Ask) (action string, err error)

// Converse takes the next message of a person, in.Topic, in a conversation. The debates of the conversation are those with the
// labels of the toolset.
//
// The message begins a debate, with the earlier ones as background. If the last debate waits for what a person says, the message is
// the reply. If that debate is not over for another reason, choose asks whether it continues or another one begins. Converse yields
// what Stream yields. It passes the questions of the debate to choose, and ends when there is nothing to wait for, when choose has
// chosen nothing, or when the choice needs a text: then the next message is the text.
//
// If ctx ends, the debate pauses, and Converse yields an *Error. The next message can continue it.
func (s *Toolset) Converse(ctx context.Context, in Input, choose Choose) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		stream, rests, err := s.next(ctx, in, choose)
		if rests != nil {
			yield(final(*rests), nil)
			return
		}
		for stream != nil && err == nil {
			stream, err = s.converse(ctx, stream, choose, func(p Progress) bool { return yield(p, nil) })
		}
		if err != nil {
			yield(Progress{}, explain("", err))
		}
	}
}

// next returns what happens after a message, or a debate that rests because the person has chosen nothing.
func (s *Toolset) next(ctx context.Context, in Input, choose Choose) (stream iter.Seq2[Progress, error], rests *Output, err error) {
	list, err := s.List(ctx, "", maxAnswered)
	if err != nil {
		return nil, nil, err
	}
	if len(list) > 0 && !isOver(list[0].Status) {
		last, err := s.Result(ctx, list[0].ID)
		if err != nil {
			return nil, nil, err
		}
		shown, err := s.lastShown(ctx, last.ID) // not after the reply, which may show what was withheld
		if err != nil {
			return nil, nil, err
		}
		action, err := s.take(ctx, &last, in.Topic, choose)
		switch {
		case err != nil:
			return nil, nil, err
		case action == "":
			return nil, &last, nil
		case action == goOn:
			return s.Stream(ctx, Input{ID: last.ID, After: shown}), nil, nil
		}
	}
	for _, o := range slices.Backward(list) { // oldest first
		o, err := s.Result(ctx, o.ID)
		if err != nil {
			return nil, nil, err
		}
		in.Earlier = append(in.Earlier, Turn{Actor: "user", Text: o.Topic}, Turn{Actor: "assistant", Text: o.Answer})
	}
	return s.Stream(ctx, in), nil, nil
}

// unfinished says what each status of a debate that is not over means.
var unfinished = map[string]string{
	"running": "is running", "waiting": "waits for a decision", "paused": "is paused", "failed": "has failed",
}

// take gives a debate that is not over a message: as the reply that it waits for, or as the person chooses. It returns goOn, begin,
// or an empty action if the person chooses none.
func (s *Toolset) take(ctx context.Context, last *Output, message string, choose Choose) (action string, err error) {
	question := last.Question()
	if question == nil && len(last.Waiting) > 0 {
		*last, err = s.Answer(ctx, Reply{ID: last.ID, Step: last.Waiting[0].Step, Text: message})
		if err != nil {
			return "", err
		}
		return goOn, s.unpause(ctx, last)
	}
	choices := []debate.Choice{{Action: goOn, Label: "Continue it"}, {Action: begin, Label: "Begin a debate about this message"}}
	if question != nil && question.offers(edit) {
		choices = slices.Insert(choices, 1, debate.Choice{Action: edit, Label: "Continue it, with this message as a remark"})
	}
	task := fmt.Sprintf("The debate “%s” %s.", label(last.Topic), unfinished[last.Status])
	action, err = choose(ctx, Ask{Step: "open-" + last.ID, Task: task, Choices: choices})
	if err != nil || action == begin || action == "" {
		return action, err
	}
	if action == edit {
		*last, err = s.Answer(ctx, Reply{ID: last.ID, Step: question.Step, Action: edit, Text: message, By: person})
		if err != nil {
			return "", err
		}
	}
	return goOn, s.unpause(ctx, last)
}

// converse shows what happens in a debate until it rests. It returns what follows a question that choose has answered, or nil.
func (s *Toolset) converse(
	ctx context.Context, stream iter.Seq2[Progress, error], choose Choose, show func(Progress) bool,
) (next iter.Seq2[Progress, error], err error) {
	id := ""
	for p, err := range stream {
		if err != nil {
			return nil, s.pauseAfter(ctx, id, err)
		}
		id = p.ID
		if p.Output == nil {
			if !show(p) {
				return nil, nil
			}
			continue
		}
		question := p.Output.Question()
		if question == nil {
			show(p)
			return nil, nil
		}
		action, err := choose(ctx, *question)
		switch {
		case err != nil:
			return nil, s.pauseAfter(ctx, id, err)
		case action == "" || action == edit:
			show(p)
			return nil, nil
		}
		return s.Resume(ctx, Reply{ID: id, Step: question.Step, Action: action, By: person}), nil
	}
	return nil, nil
}

// pauseAfter pauses a debate if ctx has ended, and returns the error that ends the call.
func (s *Toolset) pauseAfter(ctx context.Context, id string, err error) error {
	if ctx.Err() == nil || id == "" {
		return err
	}
	late := context.WithoutCancel(ctx)
	d, failed := s.open(late, id)
	if failed == nil {
		_ = d.Pause(late) // one that has ended refuses it
	}
	return err
}

// unpause continues a debate that is paused.
func (s *Toolset) unpause(ctx context.Context, last *Output) error {
	if last.Status != "paused" {
		return nil
	}
	d, err := s.open(ctx, last.ID)
	if err == nil {
		err = d.Resume(ctx)
	}
	if err == nil {
		err = d.Start(ctx)
	}
	return explain(last.ID, err)
}

// Question returns the question with choices that the debate waits for, or nil if there is none.
func (o *Output) Question() *Ask {
	at := slices.IndexFunc(o.Waiting, func(a Ask) bool { return len(a.Choices) > 0 })
	if at < 0 {
		return nil
	}
	return &o.Waiting[at]
}

// offers reports whether an action is among the choices.
func (a *Ask) offers(action string) bool {
	return slices.ContainsFunc(a.Choices, func(c debate.Choice) bool { return c.Action == action })
}

// isOver reports whether a debate with this status has ended.
func isOver(status string) bool { return status == "completed" || status == "canceled" }
