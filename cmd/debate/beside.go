package main

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/report"
)

// checkRunFlags returns an error for a wrong --me or --prompts. It is called before a debate with this configuration is
// made from another one, whether or not it will run at once.
func (p *program) checkRunFlags(c debate.Config) error {
	if p.prompts != "" {
		if err := checkPrompts(p.prompts); err != nil {
			return err
		}
	}
	return p.checkSeats(c)
}

// runBeside runs a debate that was made from another one, and says what changed. o has the providers that flags have chosen.
func (p *program) runBeside(parent, made *debate.Debate, s configFile, o debate.Options) error {
	if err := p.continueDebate(made, s, o); err != nil {
		return err
	}
	engine, err := debate.NewEngine(debate.Options{Store: o.Store})
	if err != nil {
		return err
	}
	again, err := engine.Open(p.ctx, made.ID()) // another engine has run it
	if err != nil {
		return err
	}
	after, err := report.Collect(p.ctx, again)
	if err != nil {
		return err
	}
	before, err := report.Collect(p.ctx, parent)
	if err != nil || p.json {
		return err
	}
	p.compareAnswers(before, after)
	return nil
}

// compareAnswers prints what changed between the answers of two debates.
func (p *program) compareAnswers(original, made *report.Report) {
	before := original.Result
	after := made.Result
	was := decisionOf(&before)
	is := decisionOf(&after)
	fmt.Fprintf(p.stdout, "\n== beside %s ==\n\n", printableLine(before.ID))
	changed := false
	line := func(what, old, now string) {
		if old != now {
			changed = true
			fmt.Fprintf(p.stdout, "%s: %s instead of %s\n", what, said(now), said(old))
		}
	}
	line("topic", before.Topic, after.Topic)
	line("decision", was.Choice, is.Choice)
	line("winner", was.Winner, is.Winner)
	line("confidence", confidence(was), confidence(is))
	line("ending", string(before.Ending.Outcome), string(after.Ending.Outcome))
	old := strings.TrimSpace(before.Answer.Text)
	if old == strings.TrimSpace(after.Answer.Text) {
		fmt.Fprintln(p.stdout, "The answer is the same.")
		return
	}
	if changed {
		fmt.Fprintln(p.stdout)
	}
	fmt.Fprintf(p.stdout, "The answer was:\n\n%s\n", said(old))
}

// said returns a value for readers.
func said(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// decisionOf returns what a debate has decided, or nothing if it has not ended.
func decisionOf(r *debate.Result) protocol.Outcome {
	if !r.State.Final() {
		return protocol.Outcome{}
	}
	return r.Outcome
}

func confidence(d protocol.Outcome) string {
	if d.Confidence == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", d.Confidence)
}
