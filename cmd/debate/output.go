package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// writeResult writes the result of a debate to stdout and to the files that the flags name.
func (p *program) writeResult(ctx context.Context, d *debate.Debate, r *debate.Result) error {
	if p.verbose && !p.quiet {
		p.listTurns(r)
	}
	p.say(fmt.Sprintf("%s in round %d%s; %d turns, %d input tokens, %d output tokens%s, %s",
		r.State, r.Round, ending(r), r.Total.Turns, r.Total.Usage.Input, r.Total.Usage.Output, p.spent(r.Total.Usage), seconds(r.RunningTime)))
	all, err := report.Collect(ctx, d)
	if err != nil {
		return err
	}
	for _, path := range p.reports {
		if err := writeReport(path, all); err != nil {
			p.warnf("cannot write report: %v", err)
		} else {
			fmt.Fprintf(p.stderr, "report written to %s\n", path)
		}
	}
	programs := all.Answer(p.currency)
	state, err := p.stateOf(all, &programs)
	if err != nil {
		return err
	}
	p.tellActions(all, programs.Findings)
	if err := p.writeSARIF(&programs); err != nil {
		return err
	}
	for _, warning := range r.Answer.Warnings {
		p.warnf("%s", printableLine(warning))
	}
	answer := answer(r)
	switch {
	case p.json:
		_, err = p.stdout.Write(state)
	case answer != "":
		_, err = io.WriteString(p.stdout, answer)
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := p.saveOutput(state, answer); err != nil {
		return err
	}
	if r.State != fsm.Completed {
		return nil // the reason why there is no answer decides about the exit code
	}
	return p.judge(&programs)
}

// stateOf returns the JSON of --json: the answer for programs, and below it the complete state, unless only the answer is wanted.
func (p *program) stateOf(all *report.Report, answer *report.Answer) ([]byte, error) {
	type top struct {
		Answer *report.Answer `json:"answer"`
		*report.Report
	}
	if p.quiet && p.json {
		return encodeJSON(answer)
	}
	return encodeJSON(top{answer, all})
}

// writeSARIF writes the file of --sarif.
func (p *program) writeSARIF(answer *report.Answer) error {
	if p.sarif == "" {
		return nil
	}
	b, err := sarifOf(answer.ID, answer.Findings)
	if err != nil {
		return err
	}
	return writeFile(p.sarif, b)
}

// saveOutput writes the file of --output: the complete state, or the answer if there is one.
func (p *program) saveOutput(state []byte, answer string) error {
	switch {
	case strings.EqualFold(filepath.Ext(p.output), ".json"):
		return writeFile(p.output, state)
	case p.output != "" && answer != "":
		return writeFile(p.output, []byte(answer))
	}
	return nil
}

func writeReport(path string, all *report.Report) error {
	render := report.Markdown
	if strings.EqualFold(filepath.Ext(path), ".html") {
		render = report.HTML
	}
	var b bytes.Buffer
	if err := render(&b, all); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

// printTranscript prints the turns of a debate, each after the calls of its step.
func (p *program) printTranscript(r *debate.Result, calls map[transcript.Key][]string) {
	title := ""
	for _, t := range r.Turns {
		if now := stageTitle(t.Kind, t.Round); now != title {
			title = now
			fmt.Fprintf(p.stdout, "== %s ==\n\n", title)
		}
		for _, line := range calls[t.Key] {
			fmt.Fprintln(p.stdout, line)
		}
		heading := fmt.Sprintf("%s (%s)", printableLine(readmodel.Label(t.Key)), t.Phase)
		if quotes := sources.Count(t.Citations); quotes != "" {
			heading += ", " + quotes
		}
		if t.Kind == transcript.Silence {
			fmt.Fprintf(p.stdout, "%s: silent in this fork\n\n", heading)
			continue
		}
		fmt.Fprintf(p.stdout, "%s:\n%s\n\n", heading, strings.TrimSpace(t.Text))
		read := sources.Read(&t)
		for _, line := range read {
			fmt.Fprintln(p.stdout, printableLine(t.Actor+": "+line))
		}
		if read != nil {
			fmt.Fprintln(p.stdout)
		}
	}
	p.printSources(r.Sources)
}

// printSources prints the sources that somebody cites.
func (p *program) printSources(list []evidence.Source) {
	title := "== sources ==\n\n"
	for i := range list {
		s := &list[i]
		if s.CitedBy == nil {
			continue
		}
		fmt.Fprintln(p.stdout, title+printableLine(sources.Line(s)))
		title = ""
	}
	if title == "" {
		fmt.Fprintln(p.stdout)
	}
}

// answer returns the answer of a completed debate, or an empty string.
func answer(r *debate.Result) string {
	text := strings.TrimSpace(r.Answer.Text)
	if r.State != fsm.Completed || text == "" {
		return ""
	}
	return text + "\n"
}

// spent returns a text for a cost, or an empty string if no price is known.
func (p *program) spent(u transcript.Usage) string {
	amount := strings.TrimSpace(formatAmount(u.Cost)+" "+p.currency) + " spent"
	switch {
	case u.Cost == 0:
		return ""
	case u.Unpriced:
		return ", at least " + amount
	}
	return ", " + amount
}

func ending(r *debate.Result) string {
	if r.Ending.Outcome == "" {
		return ""
	}
	return ": " + string(r.Ending.Outcome)
}

// printJSON prints a value as JSON.
func (p *program) printJSON(v any) error {
	b, err := encodeJSON(v)
	if err == nil {
		_, err = p.stdout.Write(b)
	}
	return err
}

// listTurns prints a table of the turns and a table of the prompt sources.
func (p *program) listTurns(r *debate.Result) {
	var turns table
	turns.add("SEQ", "ROUND", "PHASE", "ACTOR", "MODEL", "INPUT TOKENS", "OUTPUT TOKENS", "DURATION")
	for _, t := range r.Turns {
		turns.add(t.Seq, t.Round, t.Phase, printableLine(readmodel.Label(t.Key)), printableLine(modelOf(t)), t.Usage.Input, t.Usage.Output,
			seconds(t.Ended.Sub(t.Started)))
	}
	var agents table
	agents.add("AGENT", "PROMPT SOURCE")
	sources := promptSources(r)
	for _, s := range r.Participants {
		source := sources[s.Name]
		if source == "" {
			source = "built-in"
		}
		agents.add(printableLine(s.Name), printableLine(source))
	}
	_ = turns.print(p.stderr) // where a warning would go too
	fmt.Fprintln(p.stderr)
	_ = agents.print(p.stderr)
}

// modelOf returns the provider and the model of a turn.
func modelOf(t transcript.Turn) string {
	if len(t.Attempts) == 0 {
		return ""
	}
	last := t.Attempts[len(t.Attempts)-1]
	return strings.Trim(last.Provider+"/"+last.Model, "/")
}

// promptSources returns the sources of the role prompts by participant.
func promptSources(r *debate.Result) map[string]string {
	by := map[string]string{}
	var data refine.Result
	if json.Unmarshal(r.Answer.Data, &data) == nil {
		for _, a := range data.Roles {
			by[a.Agent] = a.Role + ": " + a.Source
		}
	}
	return by
}

// formatAmount formats an amount with at most six decimals.
func formatAmount(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 6, 64), "0"), ".")
}
