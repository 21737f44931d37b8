package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
)

// resumeDebate continues a debate that was interrupted or is paused or, for the command retry, that has failed.
func (p *program) resumeDebate() error { return p.withDebate(p.continueDebate) }

// continueDebate checks that a debate can continue with the configured providers, and runs it.
func (p *program) continueDebate(d *debate.Debate, s configFile, o debate.Options) error {
	c, err := p.configAt(d, 0)
	if err != nil {
		return err
	}
	head, err := d.Status(p.ctx)
	if err != nil {
		return err
	}
	if head.State.Final() {
		return fmt.Errorf("%s debate %s: already %s", p.command, d.ID(), head.State)
	}
	p.assignProviders(s, &c, "") // never the offline demo model, because real models took part in the debate
	var models map[string]string
	o.Providers, models, err = p.openProviders(s, usedProviders(c))
	if err != nil {
		return err
	}
	isModel := func(a debate.Participant) bool { return !a.Human && !a.Disabled }
	if len(o.Providers) == 0 && slices.ContainsFunc(slices.Concat(c.Participants, c.Judges), isModel) {
		return exitErrorf(exitInput,
			"connect providers: none of the debate's providers %q is available, use --config with the configuration that defines them",
			usedProviders(c))
	}
	if err := p.usePrompts(&o, &c); err != nil {
		return err
	}
	if err := p.openDocuments(&o, &c); err != nil {
		return err
	}
	if err := p.checkSeats(c); err != nil {
		return err
	}
	if _, err := debate.New(p.ctx, c, debate.Options{Providers: o.Providers, Prompts: o.Prompts, Documents: o.Documents, Tools: o.Tools}); err != nil { // in memory, only to check
		return fmt.Errorf("%s debate %s: %w; use --config with the configuration that defines its providers", p.command, d.ID(), err)
	}
	engine, err := debate.NewEngine(o)
	if err != nil {
		return err
	}
	d, err = engine.Open(p.ctx, d.ID())
	if err != nil {
		return err
	}
	if err := p.confirmModels(d, s, c, models); err != nil {
		return err
	}
	if err := p.makeRunnable(d, head.State); err != nil {
		return err
	}
	return p.runDebate(d)
}

// confirmModels asks whether to continue if the models of a debate are not those that are configured now.
func (p *program) confirmModels(d *debate.Debate, s configFile, c debate.Config, models map[string]string) error {
	if len(p.models)+len(p.judgeModels) > 0 {
		return nil // the flags of fork and rejudge have chosen them
	}
	r, err := d.Result(p.ctx)
	if err != nil {
		return err
	}
	used := map[string]string{}
	for _, t := range r.Turns {
		if n := len(t.Attempts); n > 0 {
			used[t.Actor] = t.Attempts[n-1].Model
		}
	}
	changes := modelChanges(s, c, p.configuredModels(s, models), used)
	if len(changes) == 0 {
		return nil
	}
	for _, line := range changes {
		p.warnf("%s", line)
	}
	if err := p.confirm(fmt.Sprintf("Continue debate %s?", d.ID())); err != nil {
		return fmt.Errorf("%s debate %s: %w", p.command, d.ID(), err)
	}
	return nil
}

// makeRunnable retries or resumes a debate, so that it can run.
func (p *program) makeRunnable(d *debate.Debate, state fsm.State) error {
	switch {
	case p.command == "retry":
		return d.Retry(p.ctx)
	case state == fsm.Error:
		return fmt.Errorf("resume debate %s: the debate has failed%s", d.ID(), p.nextCommand("retry", d.ID()))
	case state == fsm.Paused:
		return p.unpause(d)
	}
	return nil // it was interrupted or not started
}

// unpause resumes a paused debate, unless it waits for a person's reply or for an answer that this terminal can ask for.
func (p *program) unpause(d *debate.Debate) error {
	status, err := d.Status(p.ctx)
	if err != nil {
		return err
	}
	r, err := d.Result(p.ctx)
	if err != nil || r.Question != nil && p.canAsk() {
		return err
	}
	err = d.Resume(p.ctx)
	if _, refused := errors.AsType[*fsm.Refused](err); refused && len(status.Waiting) > 0 {
		return nil
	}
	return err
}

// configAt returns the configuration of a stored debate at an entry of its journal, or the last one if seq is 0.
func (p *program) configAt(d *debate.Debate, seq int64) (c debate.Config, err error) {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return c, err
	}
	for m, err := range d.Replay(p.ctx) {
		if err != nil {
			return c, err
		}
		e, changed := m.Event.(debate.ConfigChanged)
		if changed && (seq == 0 || e.Seq <= seq) {
			c, err = engine.ParseConfig(e.Config)
			if err != nil {
				return c, err
			}
		}
	}
	return c, nil
}
