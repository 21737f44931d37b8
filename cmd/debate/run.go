package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/cmd/debate/internal/view"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
)

// newDebate creates a debate and runs it.
func (p *program) newDebate() error {
	topic, err := p.topic()
	if err != nil {
		return err
	}
	var c debate.Config
	var o debate.Options
	err = p.withConfigFile(func(s configFile) (err error) {
		c, err = p.configure(s, topic)
		if err != nil {
			return err
		}
		err = p.setModels(s, &o, nil, &c)
		if err != nil {
			return err
		}
		return p.addDocuments(s, &c, &o)
	})
	if err != nil {
		return err
	}
	if err := p.usePrompts(&o, &c); err != nil {
		return err
	}
	if err := p.needDocuments(c); err != nil {
		return err
	}
	if p.dryRun {
		return p.printEstimate(c, o)
	}
	planned, err := debate.New(p.ctx, c, o) // in memory, so that an invalid debate is not stored
	if err != nil {
		return err
	}
	if err := p.confirmCost(planned); err != nil {
		return err
	}
	if err := p.checkFiles(); err != nil {
		return err
	}
	kept, err := p.openStore(&o)
	if err != nil {
		return err
	}
	defer kept()
	engine, err := debate.NewEngine(o)
	if err != nil {
		return err
	}
	d, err := engine.Create(p.ctx, c)
	if err != nil {
		return err
	}
	if p.storePath != "" {
		fmt.Fprintf(p.stderr, "saved as %s in %s\n", d.ID(), p.storePath)
	}
	return p.runDebate(d)
}

// configure returns the configuration of a new debate, with its seats and the names of its models.
func (p *program) configure(s configFile, topic string) (debate.Config, error) {
	p.chooseStore(s)
	c, err := p.buildConfig(s, topic)
	if err != nil {
		return c, err
	}
	if err := p.takeSeats(&c); err != nil {
		return c, err
	}
	if err := p.checkPass(c.Protocol); err != nil {
		return c, err
	}
	return c, p.chooseModels(s, &c)
}

// runDebate runs a debate until it ends, is interrupted or waits for somebody else, and writes the result. When it waits
// for people at this terminal, it asks them.
func (p *program) runDebate(d *debate.Debate) error {
	v, err := p.newView(d)
	if err != nil {
		return err
	}
	var failed error
	for again := true; again; {
		failed = p.drive(d, v)
		again, err = p.askPeople(d)
		if err != nil {
			return err
		}
		if again {
			if err := p.replay(d, v.Show); err != nil { // what the answers have added
				return err
			}
		}
	}
	fmt.Fprintln(p.stderr)
	whole := context.WithoutCancel(p.ctx) // read the result even after an interrupt
	result, err := d.Result(whole)
	if err != nil {
		return err
	}
	status, err := d.Status(whole)
	if err != nil {
		return err
	}
	if err := p.writeResult(whole, d, result); err != nil {
		return err
	}
	return p.exitStatus(result, status.Waiting, failed)
}

// newView returns a view of a debate that starts or continues. It hides texts if a person at this terminal takes part.
func (p *program) newView(d *debate.Debate) (*view.View, error) {
	r, err := d.Result(p.ctx)
	if err != nil {
		return nil, err
	}
	hint := "Ctrl-C cancels"
	if p.storePath != "" {
		hint = "Ctrl-C pauses"
	}
	v := view.New(view.Options{
		Output: p.terminal, Input: p.stdin, Env: p.env, Plain: p.plain, HideTexts: len(p.me) > 0, Elapsed: r.RunningTime, Currency: p.currency, Hint: hint,
	})
	return v, p.replay(d, v.Skip)
}

// replay passes the stored events of a debate to a function.
func (p *program) replay(d *debate.Debate, use func(debate.Event)) error {
	for m, err := range d.Replay(p.ctx) {
		if err != nil {
			return err
		}
		use(m.Event)
	}
	return nil
}

// drive runs a debate until it ends, pauses or is interrupted, and shows its progress.
func (p *program) drive(d *debate.Debate, v *view.View) (failed error) {
	v.Start()
	defer v.Stop()
	ctx, abandon := context.WithCancelCause(p.ctx)
	defer abandon(nil)
	select {
	case <-p.interrupted: // before it began
		abandon(errInterrupted)
	default:
	}
	over, watcher := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watcher)
		select {
		case <-p.interrupted:
			p.onInterrupt(d, v, abandon)
		case <-over:
		}
	}()
	for event, err := range d.Run(ctx) {
		failed = err
		if err == nil {
			v.Show(event)
		}
	}
	close(over)
	<-watcher
	return failed
}

// onInterrupt pauses a stored debate, whose calls in flight are still committed. It cancels any other debate.
func (p *program) onInterrupt(d *debate.Debate, v *view.View, abandon context.CancelCauseFunc) {
	end, note := d.Cancel, "interrupted: canceling the debate; a debate in a store could be resumed"
	if p.storePath != "" {
		end, note = d.Pause, "interrupted: waiting for the calls in flight, press Ctrl-C again to cancel them; use resume to continue"
	}
	if end(p.ctx) != nil { // not possible in this state; stop without changing the debate
		abandon(errInterrupted)
	}
	v.Notef("%s", note)
}

// exitStatus returns the error for the result of a run, or nil if the debate has an answer. waiting names the people whose
// replies the debate waits for.
func (p *program) exitStatus(r *debate.Result, waiting []string, failed error) error {
	stopped, isFailure := errors.AsType[*debate.Failure](failed)
	rejected, isProblem := errors.AsType[*debate.Problems](failed)
	_, called := errors.AsType[*providers.Error](failed)
	switch {
	case isFailure && (called || stopped.Provider != ""):
		return exitErrorf(exitProvider, "%w\n%s%s", stopped, hint(stopped), p.nextCommand("retry", r.ID))
	case isFailure:
		return fmt.Errorf("%w\n%s%s", stopped, hint(stopped), p.nextCommand("retry", r.ID))
	case isProblem: // a provider rejected a key or a model; the configuration was checked before
		return exitErrorf(exitProvider, "%w%s", rejected, p.nextCommand("resume", r.ID))
	case r.Question != nil:
		return fmt.Errorf("waiting for a decision: %s%s%s", r.Question, formatChoices(r.Question), p.nextCommand("answer", r.ID, "ANSWER"))
	case r.State == fsm.Canceled:
		return errors.New("debate canceled")
	case failed != nil && r.State != fsm.Completed && !errors.Is(failed, context.Canceled) && !errors.Is(failed, errInterrupted): // for example a full disk
		return fmt.Errorf("%w%s", failed, p.nextCommand("resume", r.ID))
	case r.State == fsm.Paused && len(waiting) > 0:
		return fmt.Errorf("waiting for the reply of %s%s", strings.Join(waiting, ", "), p.nextCommand("resume", r.ID, "--me", shellWord(waiting[0])))
	case r.State == fsm.Paused:
		return fmt.Errorf("debate paused%s", p.nextCommand("resume", r.ID))
	case r.State != fsm.Completed:
		return fmt.Errorf("debate not completed, state is %s%s", r.State, p.nextCommand("resume", r.ID))
	case failed != nil:
		return failed
	case r.Answer.Text == "":
		return fmt.Errorf("debate completed without an answer: %s", r.Ending.Evidence)
	}
	return nil
}

// nextCommand returns a line with the command that continues the debate, or an empty string if the debate is not stored.
func (p *program) nextCommand(command string, words ...string) string {
	if p.storePath == "" {
		return ""
	}
	return fmt.Sprintf("\ncontinue with: debate %s %s%s", command, strings.Join(words, " "), p.storeWords)
}
