package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// answerDebate gives a person's reply, or decides a question. It does not run the debate.
func (p *program) answerDebate() error {
	return p.withDebate(func(d *debate.Debate, _ configFile, o debate.Options) error {
		if p.canAsk() {
			d = p.withTexts(d, o)
		}
		r, err := d.Result(p.ctx)
		if err != nil {
			return err
		}
		if r.Question != nil {
			err = p.answerQuestion(d, r.Question)
		} else {
			err = p.answerAsked(d)
		}
		if err != nil {
			return err
		}
		status, err := d.Status(p.ctx)
		if err == nil && status.State.Active() {
			fmt.Fprintln(p.stderr, strings.TrimSpace(p.nextCommand("resume", d.ID())))
		}
		return p.printState(d, err)
	})
}

// withTexts returns a debate whose private documents can be read. If they cannot be opened, it says so.
func (p *program) withTexts(d *debate.Debate, o debate.Options) *debate.Debate {
	c, err := p.configAt(d, 0)
	if err == nil {
		err = p.openDocuments(&o, &c)
	}
	var engine *debate.Engine
	if err == nil {
		engine, err = debate.NewEngine(o)
	}
	var opened *debate.Debate
	if err == nil {
		opened, err = engine.Open(p.ctx, d.ID())
	}
	if err != nil {
		p.warnf("%v", err)
		return d
	}
	return opened
}

// answerQuestion decides a question with the action on the command line, or asks for it.
func (p *program) answerQuestion(d *debate.Debate, q *debate.Question) error {
	action, texts := "", []string(nil)
	if len(p.operands) > 1 {
		action, texts = p.operands[1], p.operands[2:]
	}
	switch {
	case len(p.me) > 0 || p.flagGiven["decline"]:
		return exitErrorf(exitInput, "answer debate %s: it asks for a decision and not for a reply: %s%s", d.ID(), q, formatChoices(q))
	case action == "" && p.canAsk():
		return p.askDecision(d, q)
	case action == "":
		return exitErrorf(exitInput, "answer debate %s: no decision given: %s%s", d.ID(), q, formatChoices(q))
	case p.file != "":
		text, err := readText("remark", p.file)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	return p.decide(d, q.ID, action, texts...)
}

// answerAsked gives the reply on the command line to the step that waits for a person, or asks for it.
func (p *program) answerAsked(d *debate.Debate) error {
	a, err := p.asked(d)
	if err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{p.flagGiven["decline"], p.file != "", len(p.operands) > 1} {
		if is {
			given++
		}
	}
	switch {
	case given > 1 || len(p.operands) > 2:
		return exitErrorf(exitInput, "answer debate %s: want one of TEXT, --file and --decline; put a text of several words in quotes", d.ID())
	case p.flagGiven["decline"]:
		return d.Decline(p.ctx, a.Key, p.decline, "")
	case p.file != "":
		text, err := readText("reply", p.file)
		if err != nil {
			return err
		}
		return d.Answer(p.ctx, a.Key, text, "")
	case given > 0:
		return d.Answer(p.ctx, a.Key, p.operands[1], "")
	case p.canAsk():
		return p.askReply(d, a)
	}
	return exitErrorf(exitInput, "answer debate %s: no reply of %s given, want TEXT, --file or --decline, or a terminal", d.ID(), a.Key.Actor)
}

// asked returns the step that waits for the person of --me or, without --me, the only one that waits for a person.
func (p *program) asked(d *debate.Debate) (a debate.Asked, err error) {
	all, err := d.Waiting(p.ctx)
	if err != nil {
		return a, err
	}
	var people []string
	var mine []debate.Asked
	for _, a := range all {
		if !slices.Contains(people, a.Key.Actor) {
			people = append(people, a.Key.Actor)
		}
		if len(p.me) == 0 || slices.Contains(p.me, a.Key.Actor) {
			mine = append(mine, a)
		}
	}
	switch {
	case len(all) == 0:
		return a, fmt.Errorf("answer debate %s: it waits for nobody", d.ID())
	case len(mine) == 0:
		return a, exitErrorf(exitInput,
			"answer debate %s: it does not wait for %s, but for %s", d.ID(), strings.Join(p.me, ", "), strings.Join(people, ", "))
	case len(p.me) == 0 && len(people) > 1:
		return a, exitErrorf(exitInput, "answer debate %s: it waits for %s, choose one with --me", d.ID(), strings.Join(people, ", "))
	}
	return mine[0], nil
}
