package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store/sqlite"
)

// newDebate holds a new one.
func (p *program) newDebate() error {
	topic, err := p.topic()
	if err != nil {
		return err
	}
	var c debate.Config
	var o debate.Options
	err = p.withConfigFile(func(s configFile) (err error) {
		if c, err = p.buildConfig(s, topic); err == nil {
			p.assignProviders(s, &c, offlineKind)
			o.Providers, err = p.openProviders(s, c)
		}
		p.store = cmp.Or(p.store, s.storePath())
		return err
	})
	if err != nil {
		return err
	}
	if _, err := debate.New(p.ctx, c, o); err != nil { // in memory: nothing that is wrong is kept
		return p.withExitCode(err)
	}
	if err := p.makeDirectories(); err != nil {
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
	if p.store != "" {
		fmt.Fprintf(p.stderr, "saved as %s in %s\n", d.ID(), p.store)
	}
	return p.runDebate(d)
}

// makeDirectories makes those that files are to be written to, before anything is paid for.
func (p *program) makeDirectories() error {
	for _, path := range []string{p.output, p.store} {
		if path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("make folder of %s: %w", path, err)
		}
	}
	return nil
}

// openStore opens the store, if there is one. It returns what closes it.
func (p *program) openStore(o *debate.Options) (done func(), err error) {
	if p.store == "" {
		return func() {}, nil
	}
	kept, err := sqlite.Open(p.store)
	if err != nil {
		return nil, err
	}
	o.Store = kept
	return func() {
		if err := kept.Close(); err != nil {
			p.warnf("%v", err)
		}
	}, nil
}

// runDebate runs a debate to its end, or until it is interrupted, and writes what became of it.
func (p *program) runDebate(d *debate.Debate) error {
	so, err := p.replay(d)
	if err != nil {
		return err
	}
	v := p.newDisplay(so)
	ctx, abandon := context.WithCancelCause(p.ctx)
	defer abandon(nil)
	over, watcher := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watcher)
		select {
		case <-p.interrupted:
			p.onInterrupt(d, v, abandon)
		case <-over:
		}
	}()
	var failed error
	for event, err := range d.Run(ctx) {
		if failed = err; err == nil {
			v.show(event)
		}
	}
	close(over)
	<-watcher
	v.close()
	whole := context.WithoutCancel(p.ctx) // what there is can be read whatever happened
	result, err := d.Result(whole)
	if err != nil {
		return err
	}
	if err := p.writeResult(whole, d, result); err != nil {
		return err
	}
	return p.exitStatus(result, failed)
}

// replay is the progress of a debate so far.
func (p *program) replay(d *debate.Debate) (*tracker, error) {
	so := &tracker{}
	for m, err := range d.Replay(p.ctx) {
		if err != nil {
			return nil, err
		}
		so.observe(m.Event)
	}
	return so, nil
}

var errInterrupted = errors.New("interrupted")

// onInterrupt ends the driving: a stored debate is paused, and calls in flight are still committed; any other is canceled.
func (p *program) onInterrupt(d *debate.Debate, v *display, abandon context.CancelCauseFunc) {
	end, note := d.Cancel, "interrupted: the debate is canceled, it would be kept with --store"
	if p.store != "" {
		end, note = d.Pause, "interrupted: waiting for what is in flight, Ctrl-C again cancels it; resume goes on"
	}
	if end(p.ctx) != nil { // not in this state: it is left as it stands
		abandon(errInterrupted)
	}
	v.notef("%s", note)
}

// exitStatus is what a debate that is driven no more amounts to; nil where it has come to an answer.
func (p *program) exitStatus(r *debate.Result, failed error) error {
	stopped, isFailure := errors.AsType[*debate.Failure](failed)
	rejected, isProblem := errors.AsType[*debate.Problems](failed)
	_, called := errors.AsType[*providers.Error](failed)
	switch {
	case isFailure && (called || stopped.Provider != ""):
		return exitErrorf(exitProvider, "%w\n%s%s", stopped, stopped.Hint(), p.nextCommand("retry", r.ID))
	case isFailure:
		return fmt.Errorf("%w\n%s%s", stopped, stopped.Hint(), p.nextCommand("retry", r.ID))
	case isProblem: // what data can tell was checked before: this is what providers say of keys and models
		return exitErrorf(exitProvider, "%w%s", rejected, p.nextCommand("resume", r.ID))
	case r.Question != nil:
		return fmt.Errorf("a question waits: %s%s%s", r.Question.Cause, formatChoices(r.Question), p.nextCommand("resume", r.ID, "ANSWER"))
	case r.State == fsm.Canceled:
		return errors.New("the debate is canceled")
	case r.State != fsm.Completed:
		return fmt.Errorf("the debate is not at its end: it is %s%s", r.State, p.nextCommand("resume", r.ID))
	case failed != nil:
		return failed
	case r.Answer.Text == "":
		return fmt.Errorf("the debate has come to no answer: %s", r.Ending.Evidence)
	}
	return nil
}

func formatChoices(q *debate.Question) (list string) {
	for _, c := range q.Choices {
		list += fmt.Sprintf("\n  %s: %s", c.Action, c.Description)
	}
	return list
}

// nextCommand is a line that says how to go on; empty where nothing was stored.
func (p *program) nextCommand(command string, words ...string) string {
	if p.store == "" {
		return ""
	}
	return fmt.Sprintf("\ngo on with: cli %s %s --store %s", command, strings.Join(words, " "), p.store)
}

// storePath is the store of a configuration file, relative to it.
func (s configFile) storePath() string {
	if s.store == "" || filepath.IsAbs(s.store) {
		return s.store
	}
	return filepath.Join(filepath.Dir(s.path), s.store)
}

// fileExists says whether a file is.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
