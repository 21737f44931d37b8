package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// creators lists the commands that create a database where there is none. All commands create the default one.
var creators = []string{"acp", "import", "label", "mcp", "serve"}

// withStore calls use with the configuration file and the options of an engine that has the store.
func (p *program) withStore(use func(configFile, debate.Options) error) error {
	var s configFile
	err := p.withConfigFile(func(read configFile) error {
		s = read
		return nil
	})
	if err != nil {
		return err
	}
	p.chooseStore(s)
	switch {
	case p.storePath == "":
		return exitErrorf(exitInput, "open store: the store is %s, which keeps no debates; use --store FILE", memoryStore)
	case !fileExists(p.storePath) && p.storeWords != "" && !slices.Contains(creators, p.command):
		return exitErrorf(exitInput, "open store: %s does not exist", p.storePath)
	}
	if err := p.checkFiles(); err != nil {
		return err
	}
	var o debate.Options
	done, err := p.openStore(&o)
	if err != nil {
		return err
	}
	defer done()
	return use(s, o)
}

// withDebate calls use with the debate that the first operand names.
func (p *program) withDebate(use func(*debate.Debate, configFile, debate.Options) error) error {
	return p.withStore(func(s configFile, o debate.Options) error {
		engine, err := debate.NewEngine(o)
		if err != nil {
			return err
		}
		if err := p.completeID(o.Store.List(p.ctx, store.Query{})); err != nil {
			return err
		}
		d, err := engine.Open(p.ctx, p.operands[0])
		if err != nil {
			return p.notFound(err)
		}
		return use(d, s, o)
	})
}

func (p *program) pauseDebate() error {
	return p.withDebate(func(d *debate.Debate, _ configFile, _ debate.Options) error { return p.printState(d, d.Pause(p.ctx)) })
}

func (p *program) cancelDebate() error {
	return p.withDebate(func(d *debate.Debate, _ configFile, _ debate.Options) error { return p.printState(d, d.Cancel(p.ctx)) })
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

// showDebate prints the state and the result of a debate.
func (p *program) showDebate() error {
	return p.withDebate(func(d *debate.Debate, _ configFile, _ debate.Options) error {
		r, err := d.Result(p.ctx)
		if err != nil {
			return err
		}
		if !p.json {
			status, err := d.Status(p.ctx)
			if err != nil {
				return err
			}
			calls, err := callsOf(p.ctx, d)
			if err != nil {
				return err
			}
			p.printDebate(r, status, calls)
		}
		return p.writeResult(p.ctx, d, r)
	})
}

// callsOf returns a line for each call of a tool, by the step that made it.
func callsOf(ctx context.Context, d *debate.Debate) (map[transcript.Key][]string, error) {
	r, err := report.Collect(ctx, d)
	if err != nil {
		return nil, err
	}
	calls := map[transcript.Key][]string{}
	for _, ev := range r.Tools {
		for _, c := range ev.Calls {
			calls[ev.Key] = append(calls[ev.Key], printableLine(ev.Key.Actor+" calls "+c.String()))
		}
	}
	return calls, nil
}

// printDebate prints what a debate waits for, its failure and its transcript with the calls of tools.
func (p *program) printDebate(r *debate.Result, status store.Status, calls map[transcript.Key][]string) {
	fmt.Fprintf(p.stdout, "%s\n%s, %s in round %d%s\n", printableLine(r.Topic), r.Protocol, r.State, r.Round, ending(r))
	if r.Parent.ID != "" {
		fmt.Fprintf(p.stdout, "fork of %s at entry %d\n", printableLine(r.Parent.ID), r.Parent.Seq)
	}
	fmt.Fprintln(p.stdout)
	if isAbandoned(status, time.Now()) {
		fmt.Fprintf(p.stdout, "no process runs this debate any more%s\n\n", p.nextCommand("resume", r.ID))
	}
	if q := r.Question; q != nil {
		fmt.Fprintf(p.stdout, "waiting for a decision: %s%s\n\n", q, formatChoices(q))
	}
	if len(status.Waiting) > 0 {
		fmt.Fprintf(p.stdout, "waiting for the reply of %s\n\n", strings.Join(status.Waiting, ", "))
	}
	if r.Failure != nil {
		fmt.Fprintf(p.stdout, "%v\n%s\n\n", r.Failure, hint(r.Failure))
	}
	p.printTranscript(r, calls)
	if answer(r) != "" {
		fmt.Fprint(p.stdout, "== answer ==\n\n")
	}
}

// notFound adds the store and the exit code to an error for an id that the store does not have.
func (p *program) notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return exitErrorf(exitInput, "%w in %s", err, p.storePath)
	}
	return err
}
