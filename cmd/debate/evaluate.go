package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/protocol/vote"
)

// evaluate runs an evaluation and writes its report.
func (p *program) evaluate() error {
	tasks, err := p.readTasks()
	if err != nil {
		return err
	}
	var o debate.Options
	e := eval.Evaluation{
		Name: p.eval.name, Tasks: tasks, Baseline: p.eval.baseline, Budget: eval.Budget(p.eval.budget), Require: p.eval.required,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("tasks"),
	}
	if e.Name == "" {
		e.Name = strings.TrimSuffix(filepath.Base(p.operands[0]), filepath.Ext(p.operands[0]))
	}
	err = p.withConfigFile(func(s configFile) (err error) {
		p.chooseStore(s)
		e.Arms, err = p.buildArms(s, &o)
		return err
	})
	if err == nil {
		err = p.checkFiles()
	}
	if err != nil {
		return err
	}
	done, err := p.openStore(&o)
	if err != nil {
		return err
	}
	defer done()
	if p.output != "" {
		f, err := os.OpenFile(p.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("write %s: %w", p.output, err)
		}
		defer f.Close() //nolint:errcheck // Run reports errors of writing
		e.Results = f
	}
	report, err := e.Run(p.ctx, o)
	if err != nil {
		if failure, ok := errors.AsType[*debate.Failure](err); ok {
			return exitErrorf(exitProvider, "%w\n%s", err, hint(failure))
		}
		return err
	}
	return p.writeEvaluation(report)
}

// readTasks reads the tasks of the operand.
func (p *program) readTasks() ([]eval.Task, error) {
	format := eval.Format{Name: p.eval.format, Fields: map[string]string{}}
	for _, text := range p.eval.fields {
		ours, theirs, found := strings.Cut(text, "=")
		if !found {
			return nil, exitErrorf(exitArguments, "read arguments: --field %s, want a pair such as topic=prompt", text)
		}
		format.Fields[ours] = theirs
	}
	f, err := os.Open(p.operands[0])
	if err != nil {
		return nil, exitErrorf(exitArguments, "read tasks: %w", err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	tasks, err := format.Read(f)
	if err != nil {
		return nil, exitErrorf(exitArguments, "%s: %w", p.operands[0], err)
	}
	return tasks, nil
}

// buildArms returns the arms of --arm, and opens their providers. s is the configuration file of arms without one.
func (p *program) buildArms(s configFile, o *debate.Options) (arms []eval.Arm, err error) {
	if len(p.eval.arms) == 0 {
		return nil, exitErrorf(exitArguments, "read arguments: --arm is missing, use for example --arm single --arm vote")
	}
	all := s
	all.providers = maps.Clone(s.providers)
	var configs []*debate.Config
	for _, text := range p.eval.arms {
		name, c, own, err := p.armConfig(text)
		if err != nil {
			return nil, err
		}
		if err := all.addProviders("arm "+name, own); err != nil {
			return nil, err
		}
		if err := p.chooseModels(all, &c); err != nil {
			return nil, err
		}
		configs = append(configs, &c)
		arms = append(arms, eval.Arm{Name: name})
	}
	limit := p.maxCost
	p.maxCost = 0 // it is the limit of the whole evaluation, not of a debate
	err = p.setModels(all, o, nil, configs...)
	p.maxCost = limit
	if err == nil {
		err = p.usePrompts(o, configs[0])
	}
	for i := range arms {
		if err != nil {
			return nil, err
		}
		if arms[i].Config, err = eval.Template(*configs[i]); err != nil {
			err = exitErrorf(exitConfiguration, "read arm %s: %w", arms[i].Name, err)
		}
	}
	return arms, err
}

// armConfig returns the name and the configuration of an arm of --arm. own is the configuration file that it names.
func (p *program) armConfig(text string) (name string, c debate.Config, own configFile, err error) {
	name, what, named := strings.Cut(text, "=")
	if !named {
		what = text
		name = strings.TrimSuffix(filepath.Base(strings.ReplaceAll(what, ":", "-")), filepath.Ext(what))
	}
	kind, count, _ := strings.Cut(what, ":")
	k, err := strconv.Atoi(count)
	switch _, isPreset := presets[kind]; {
	case what == "single":
		return name, eval.Samples(debate.Participant{Name: "Agent"}, 1), own, nil
	case kind == "self-consistency" && err == nil:
		return name, eval.Samples(debate.Participant{Name: "Agent"}, k), own, nil
	case isPreset && what == kind:
		before := p.protocol
		p.protocol = kind
		c, err = p.buildConfig(configFile{}, "{{question}}")
		p.protocol = before
		if voting, ok := c.Protocol.(vote.Protocol); ok {
			voting.Extract = "{{extract}}"
			c.Protocol = voting
		}
		return name, c, own, err
	case !fileExists(what):
		return name, c, own, exitErrorf(exitArguments, "read arguments: --arm %s: want single, self-consistency:K, one of %s, or a configuration file", text, strings.Join(sortedKeys(presets), ", "))
	}
	if own, err = readConfigFile(what); err == nil {
		c, err = p.buildConfig(own, "{{question}}")
	}
	return name, c, own, err
}

// showProgress returns a function that prints the progress of an evaluation or a tournament, at most twenty times.
func (p *program) showProgress(tasks string) func(eval.Progress) {
	shown := 0
	return func(g eval.Progress) {
		step := 20 * g.Tasks / max(g.TotalTasks, 1)
		if step <= shown {
			return
		}
		shown = step
		text := fmt.Sprintf("%d of %d %s, %d tokens", g.Tasks, g.TotalTasks, tasks, g.Tokens)
		if g.Cost > 0 {
			text += fmt.Sprintf(", cost %.4g, about %.4g more", g.Cost, g.RemainingCost)
		}
		if g.Failed > 0 {
			text += fmt.Sprintf(", %d runs failed", g.Failed)
		}
		if g.Tasks < g.TotalTasks {
			text += ", about " + g.RemainingTime.Round(time.Second).String() + " left"
		}
		fmt.Fprintln(p.stderr, text)
	}
}

// writeEvaluation writes the report. It returns an error if runs are missing or a requirement is not met.
func (p *program) writeEvaluation(report *eval.Report) error {
	if err := p.writePages(report, report); err != nil {
		return err
	}
	switch {
	case report.Incomplete != "":
		return p.incomplete("evaluation "+printableLine(report.Eval), report.Incomplete)
	case len(report.Unmet) > 0:
		return errors.New(strings.Join(slices.Clone(report.Unmet), "\n"))
	}
	return nil
}

// rendering is a report of an evaluation or a tournament.
type rendering interface {
	Markdown(w io.Writer) error
	HTML(w io.Writer) error
}

// writePages writes a report to the files of --report, and prints it as Markdown, or its data as JSON.
func (p *program) writePages(report rendering, data any) error {
	for _, path := range p.reports {
		write := report.Markdown
		if strings.EqualFold(filepath.Ext(path), ".html") {
			write = report.HTML
		}
		var b strings.Builder
		if err := write(&b); err != nil {
			return err
		}
		if err := writeFile(path, []byte(b.String())); err != nil {
			return err
		}
	}
	if !p.json {
		return report.Markdown(p.stdout)
	}
	text, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, string(text)+"\n")
	return err
}

// incomplete returns the error of an evaluation or a tournament that is not complete.
func (p *program) incomplete(what, why string) error {
	if p.storePath != "" {
		return fmt.Errorf("%s is not complete: %s; the same command continues it", what, why)
	}
	return fmt.Errorf("%s is not complete: %s", what, why)
}
