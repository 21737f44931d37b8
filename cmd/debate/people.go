package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// The actions that take a remark: with it the debate goes on, or the model reads why its call is refused.
const (
	actionEdit   = "edit"
	actionRefuse = "refuse"
)

// remarkFrom names the user in remarks.
const remarkFrom = "Host"

// askPeople asks on the terminal for what a paused debate waits for. It reports whether the debate may go on.
func (p *program) askPeople(d *debate.Debate) (again bool, err error) {
	if p.ctx.Err() != nil || p.isInterrupted() || !p.canAsk() {
		return false, nil
	}
	r, err := d.Result(p.ctx)
	if err != nil || r.State != fsm.Paused {
		return false, err
	}
	if r.Question != nil {
		err, again = p.askDecision(d, r.Question), true
	} else {
		var list []debate.Asked
		list, err = d.Waiting(p.ctx)
		if err != nil {
			return false, err
		}
		for _, a := range list {
			if slices.Contains(p.me, a.Key.Actor) && err == nil {
				err, again = p.askReply(d, a), true
			}
		}
	}
	if errors.Is(err, errInterrupted) && p.storePath == "" {
		return false, d.Cancel(p.ctx)
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, errLater) {
		return false, nil
	}
	return again, err
}

func (p *program) isInterrupted() bool {
	select {
	case <-p.interrupted:
		return true
	default:
		return false
	}
}

// askDecision asks for the answer to a question until it is valid, or somebody else has answered.
func (p *program) askDecision(d *debate.Debate, q *debate.Question) error {
	for {
		fmt.Fprintln(p.stderr)
		p.say(q.String() + formatChoices(q))
		action, err := p.readLine("your decision (Ctrl-D: later): ")
		if errors.Is(err, io.EOF) {
			return errLater
		}
		if err != nil {
			return err
		}
		var texts []string
		if action == actionEdit || action == actionRefuse {
			text, err := p.readText("your remark; an empty line ends it", "")
			if err != nil {
				return err
			}
			texts = append(texts, text)
		}
		err = p.decide(d, q.ID, action, texts...)
		if !p.showProblems(err) {
			return err
		}
		if r, err := d.Result(p.ctx); err != nil || r.Question == nil || r.Question.ID != q.ID {
			return err
		}
	}
}

// decide answers a question of a debate. The action edit takes a text, and refuse may have one.
func (p *program) decide(d *debate.Debate, id, action string, texts ...string) error {
	var remarks []debate.Remark
	for _, text := range texts {
		remarks = append(remarks, debate.Remark{From: remarkFrom, Text: text})
	}
	return d.Decide(p.ctx, id, action, remarks...)
}

func formatChoices(q *debate.Question) (list string) {
	for _, c := range q.Choices {
		list += fmt.Sprintf("\n  %s: %s", c.Action, c.Description)
	}
	return list
}

// askReply asks a person for a reply until it is valid or the person declines.
func (p *program) askReply(d *debate.Debate, a debate.Asked) error {
	p.showSaid(a)
	p.documentText = func(name string) (string, error) { return d.Document(p.ctx, a.Key.Actor, name) }
	defer func() { p.documentText = nil }()
	f := form{program: p, before: map[string]string{}}
	for {
		text, err := f.read(a)
		if no, ok := errors.AsType[*declined](err); ok {
			err = d.Decline(p.ctx, a.Key, no.reason, "")
		} else if err == nil {
			err = d.Answer(p.ctx, a.Key, text, "")
		}
		if errors.Is(err, debate.ErrAnswered) || errors.Is(err, debate.ErrNotAsked) {
			p.warnf("%v", err)
			return nil
		}
		if !p.showProblems(err) {
			return err
		}
	}
}

// showProblems prints the problems of a reply. It returns false if the error is another one, or nil.
func (p *program) showProblems(err error) bool {
	wrong, ok := errors.AsType[*debate.Problems](err)
	if ok {
		for _, x := range wrong.List {
			fmt.Fprintf(p.stderr, "not valid: %s\n", x)
		}
	}
	return ok
}

// showSaid prints what was said since the person replied last, and what to do now.
func (p *program) showSaid(a debate.Asked) {
	if p.shown == nil {
		p.shown = map[string]int64{}
	}
	name, last := a.Key.Actor, p.shown[a.Key.Actor]
	for _, t := range a.Said {
		if t.Seq > last && t.Actor != name {
			about := []string{t.Phase}
			for _, f := range t.Flags {
				about = append(about, readmodel.FlagText(&t, f))
			}
			fmt.Fprintf(p.stderr, "\n%s (%s):\n", printableLine(readmodel.Label(t.Key)), strings.Join(about, ", "))
			p.say(strings.TrimSpace(t.Text))
		}
		p.shown[name] = max(p.shown[name], t.Seq)
	}
	label := readmodel.Label(a.Key)
	fmt.Fprintf(p.stderr, "\n== %s: %s ==\n", printableLine(label), a.Key.Phase)
	for _, attached := range a.Attachments {
		fmt.Fprintf(p.stderr, "attached: %s\n", printableLine(attached))
	}
	for _, document := range a.Documents {
		fmt.Fprintf(p.stderr, "document: %s\n", printableLine(document))
	}
	p.showBriefing(a)
	p.say(strings.TrimSpace(a.Task))
	hint := "/decline REASON gives no reply"
	if len(a.Documents) > 0 {
		hint += ", /read NAME shows a document"
	}
	if p.env("EDITOR") != "" {
		hint += ", /edit opens $EDITOR"
	}
	p.say("(" + hint + ", Ctrl-D leaves it for later)")
}

// maxBackground limits the background that the terminal shows, in bytes.
const maxBackground = 8 << 10

// showBriefing prints what a person must know, unless it was the last thing printed for that person.
func (p *program) showBriefing(a debate.Asked) {
	if a.Briefing == nil {
		return
	}
	b := *a.Briefing
	if len(b.Background) > maxBackground {
		b.Background = strings.ToValidUTF8(b.Background[:maxBackground], "") + " …\n(debate show --json prints all of it)"
	}
	text := b.Text()
	if p.briefed == nil {
		p.briefed = map[string]string{}
	}
	if p.briefed[a.Key.Actor] == text {
		return
	}
	p.briefed[a.Key.Actor] = text
	p.say(text)
	fmt.Fprintln(p.stderr)
}
