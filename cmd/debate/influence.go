package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/influence"
)

// findInfluence asks the judges of a debate again without each of its turns or seats, and writes the report.
func (p *program) findInfluence() error {
	return p.withDebate(func(d *debate.Debate, s configFile, o debate.Options) error {
		a, err := p.analysis(d, s, &o)
		if err != nil {
			return err
		}
		plan, err := a.Plan(p.ctx, o)
		if err != nil {
			return p.influenceError(err)
		}
		fmt.Fprintln(p.stderr, printableLine(plan.String()))
		if p.influence.plan {
			return nil
		}
		report, err := a.Run(p.ctx, o)
		if err != nil {
			return p.influenceError(err)
		}
		return p.writePages(report, "analysis of debate "+report.ID, report.Incomplete)
	})
}

// influenceError returns an error with its exit code.
func (p *program) influenceError(err error) error {
	if failure, ok := errors.AsType[*debate.Failure](err); ok {
		return exitErrorf(exitProvider, "%w\n%s", err, hint(failure))
	}
	return err
}

// analysis returns the analysis of the flags, and opens the models of the debate.
func (p *program) analysis(d *debate.Debate, s configFile, o *debate.Options) (a influence.Analysis, err error) {
	f := &p.influence
	a = influence.Analysis{
		ID: d.ID(), Seats: f.seats, Samples: f.samples, Largest: f.largest, Pairs: f.pairs, Continued: f.continued,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("samples"),
	}
	if p.flagGiven["samples"] && f.samples < 1 || f.largest < 1 {
		return a, exitErrorf(exitInput, "read arguments: --samples %d --largest %d, use 1 or more", f.samples, f.largest)
	}
	c, err := p.configAt(d, 0)
	if err != nil {
		return a, err
	}
	r, err := d.Result(p.ctx)
	if err != nil {
		return a, err
	}
	if slices.Equal(f.items, []string{"all"}) {
		a.Largest = math.MaxInt
	} else {
		a.Items, err = p.omitted("items", f.items, r, c)
	}
	if err != nil {
		return a, err
	}
	if err := p.chooseModels(s, &c); err != nil {
		return a, err
	}
	if len(p.judgeModels) > 0 {
		err = p.setRunModels(s, o, &c)
		a.Judges = c.Judges
		a.Prices = c.Prices
	} else {
		o.Providers, _, err = p.openProviders(s, usedProviders(c))
	}
	if err != nil {
		return a, err
	}
	if p.flagGiven["judge-temperature"] {
		a.Judges = p.withTemperature(c.Judges)
	}
	if err := p.usePrompts(o, &c); err != nil {
		return a, err
	}
	return a, p.openDocuments(o, &c)
}
