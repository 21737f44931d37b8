package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// runCommand runs a command on the debates of a store.
func (p *program) runCommand() error {
	var s configFile
	err := p.withConfigFile(func(read configFile) error {
		s = read
		return nil
	})
	if err != nil {
		return err
	}
	p.store = cmp.Or(p.store, s.storePath())
	switch {
	case p.store == "":
		return exitErrorf(exitArguments, "open store: no store given, use --store FILE")
	case !fileExists(p.store):
		return exitErrorf(exitArguments, "open store: %s does not exist", p.store)
	}
	var o debate.Options
	done, err := p.openStore(&o)
	if err != nil {
		return err
	}
	defer done()
	engine, err := debate.NewEngine(o)
	if err != nil {
		return err
	}
	if p.command == "list" {
		return p.listDebates(engine)
	}
	d, err := engine.Open(p.ctx, p.operands[0])
	if errors.Is(err, store.ErrNotFound) {
		return exitErrorf(exitArguments, "%w in %s", err, p.store)
	}
	if err != nil {
		return err
	}
	switch p.command {
	case "show":
		return p.showDebate(d)
	case "pause":
		return p.printState(d, d.Pause(p.ctx))
	case "cancel":
		return p.printState(d, d.Cancel(p.ctx))
	}
	return p.resumeDebate(d, s, o)
}

// printState prints the id and the state of a debate, unless err is not nil.
func (p *program) printState(d *debate.Debate, err error) error {
	if err != nil {
		return err
	}
	head, err := d.Status(p.ctx)
	if err == nil {
		fmt.Fprintln(p.stdout, head.ID, head.State)
	}
	return err
}

// listDebates lists all debates, newest first.
func (p *program) listDebates(engine *debate.Engine) error {
	list := []store.Status{}
	for head, err := range engine.List(p.ctx, store.Query{}) {
		if err != nil {
			return err
		}
		list = append(list, head)
	}
	if p.json {
		b, err := encodeJSON(list)
		if err == nil {
			_, err = p.stdout.Write(b)
		}
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tROUND\tPROTOCOL\tCREATED\tTOPIC")
	for _, h := range list {
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%s\t%s\n", h.ID, h.State, h.Cursor.Round, h.MaxRounds, h.Protocol, h.Created.Format(time.DateTime), truncateTopic(h.Topic))
	}
	return w.Flush()
}

// truncateTopic returns a topic on one line, shortened to at most 60 characters.
func truncateTopic(topic string) string {
	r := []rune(printableLine(topic))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}

// showDebate prints the state and the result of a debate.
func (p *program) showDebate(d *debate.Debate) error {
	r, err := d.Result(p.ctx)
	if err != nil {
		return err
	}
	if !p.json {
		fmt.Fprintf(p.stdout, "%s\n%s, %s in round %d%s\n\n", printableLine(r.Topic), r.Protocol, r.State, r.Round, ending(r))
		if q := r.Question; q != nil {
			fmt.Fprintf(p.stdout, "waiting for a decision: %s%s\n", q.Cause, formatChoices(q))
		}
		if r.Failure != nil {
			fmt.Fprintf(p.stdout, "%v\n%s\n", r.Failure, r.Failure.Hint())
		}
	}
	return p.writeResult(p.ctx, d, r)
}

// resumeDebate continues a debate that was interrupted or is paused or, for the command retry, that has failed.
func (p *program) resumeDebate(d *debate.Debate, s configFile, o debate.Options) error {
	c, err := p.currentConfig(d)
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
	if o.Providers, err = p.openProviders(s, c); err != nil {
		return err
	}
	if _, err := debate.New(p.ctx, c, debate.Options{Providers: o.Providers}); err != nil { // in memory, only to check
		return p.withExitCode(fmt.Errorf("%s debate %s: %w; use --config with the configuration that defines its providers", p.command, d.ID(), err))
	}
	engine, err := debate.NewEngine(o)
	if err != nil {
		return err
	}
	if d, err = engine.Open(p.ctx, d.ID()); err != nil {
		return err
	}
	if err := p.makeRunnable(d, head.State); err != nil {
		return err
	}
	if err := p.makeDirectories(); err != nil {
		return err
	}
	return p.runDebate(d)
}

// makeRunnable retries, decides or resumes a debate, so that it can run.
func (p *program) makeRunnable(d *debate.Debate, state fsm.State) error {
	answer := strings.Join(p.operands[1:], "")
	switch {
	case p.command == "retry":
		return d.Retry(p.ctx)
	case state == fsm.Error:
		return fmt.Errorf("resume debate %s: the debate has failed%s", d.ID(), p.nextCommand("retry", d.ID()))
	case answer != "":
		return d.Decide(p.ctx, answer)
	case state == fsm.Paused:
		return d.Resume(p.ctx)
	}
	return nil // it was interrupted or not started
}

// currentConfig returns the configuration of a stored debate.
func (p *program) currentConfig(d *debate.Debate) (c debate.Config, err error) {
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return c, err
	}
	for m, err := range d.Replay(p.ctx) {
		if err != nil {
			return c, err
		}
		if e, ok := m.Event.(debate.ConfigChanged); ok {
			if c, err = engine.ParseConfig(e.Config); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}
