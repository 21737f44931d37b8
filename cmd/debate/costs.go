package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// needDocuments returns an error if a review has nothing to read.
func (p *program) needDocuments(c debate.Config) error {
	searches := slices.ContainsFunc(c.Participants, func(a debate.Participant) bool { return len(a.Tools) > 0 })
	if p.purpose != reviewPurpose || len(c.Documents) > 0 || searches {
		return nil
	}
	return exitErrorf(exitInput, "choose purpose: --for %s needs something to read, name files or folders with --docs", reviewPurpose)
}

// confirmCost asks on a terminal whether to begin a debate that can cost more than --confirm-above.
func (p *program) confirmCost(d *debate.Debate) error {
	if p.yes || !p.canAsk() {
		return nil
	}
	e, err := d.Estimate(p.ctx)
	if err != nil {
		return err
	}
	if e.Worst.Cost <= p.confirmAbove {
		return nil
	}
	question := fmt.Sprintf("This debate costs about %s, and at most %s.", p.amount(e.Likely.Cost), p.amount(e.Worst.Cost))
	if len(e.Unpriced) > 0 {
		question += fmt.Sprintf(" That is without %s, whose prices are not known.", strings.Join(printableLines(e.Unpriced), ", "))
	}
	if err := p.confirm(question + " Begin?"); err != nil {
		return fmt.Errorf("begin debate: %w; --max-cost limits what it may cost", err)
	}
	return nil
}

// printEstimate prints what a debate costs. It calls no provider.
func (p *program) printEstimate(c debate.Config, o debate.Options) error {
	engine, err := debate.NewEngine(o) // in memory
	if err != nil {
		return err
	}
	d, err := engine.Create(p.ctx, c)
	if err != nil {
		return err
	}
	e, err := d.Estimate(p.ctx)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(e)
	}
	var t table
	t.add("SEAT", "MODEL", "LONGEST PROMPT", "CALLS", "LIKELY COST", "WORST COST")
	for _, s := range e.Seats {
		t.add(printableLine(s.Name), printableLine(modelName(s)), fmt.Sprintf("%d tokens", s.Prompt),
			span(s.Likely.Calls, s.Worst.Calls), p.amount(s.Likely.Cost), p.amount(s.Worst.Cost))
	}
	if err := t.print(p.stdout); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "\nlikely: %s for %s\nat most: %s for %s, without failed calls\n", p.amount(e.Likely.Cost), expense(e.Likely),
		p.amount(e.Worst.Cost), expense(e.Worst))
	if len(e.Unpriced) > 0 {
		fmt.Fprintf(p.stdout, "no price is known for %s; see debate prices\n", strings.Join(printableLines(e.Unpriced), ", "))
	}
	return nil
}

// modelName returns the provider and the model of a seat.
func modelName(s debate.SeatEstimate) string {
	return strings.TrimSuffix(s.Provider+"/"+s.Model, "/")
}

// expense returns calls and tokens as text.
func expense(x debate.Expense) string {
	return fmt.Sprintf("%d calls, %d tokens of prompts and %d of replies", x.Calls, x.Input, x.Output)
}

// span returns two numbers as text, or one if they are equal.
func span(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// amount returns a cost with its currency.
func (p *program) amount(cost float64) string {
	digits := 4
	if cost >= 1 {
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, cost, p.currency))
}

// printableLines returns texts without control characters.
func printableLines(list []string) []string {
	clean := make([]string, len(list))
	for i, text := range list {
		clean[i] = printableLine(text)
	}
	return clean
}
