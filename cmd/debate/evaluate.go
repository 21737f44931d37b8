package main

import (
	"bytes"
	"cmp"
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
	"github.com/elenchus-go/debate/report/progress"
)

// evaluate runs an evaluation and writes its report.
func (p *program) evaluate() error {
	if p.eval.oversight && p.eval.format == "" {
		p.eval.format = "quality"
	}
	tasks, err := p.readTasks()
	if err != nil {
		return err
	}
	if p.eval.oversight {
		p.setOversight()
	}
	e := eval.Evaluation{
		Seed: p.eval.seed, Against: p.eval.against,
		Name: cmp.Or(p.eval.name, p.operandName()), Tasks: tasks, Baseline: p.eval.baseline, Budget: eval.Budget(p.eval.budget),
		Require: p.eval.required,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("tasks"),
	}
	return p.withConfigFile(func(s configFile) error {
		return p.withRuns(s, func(o *debate.Options) (err error) {
			e.Arms, err = p.buildArms(s, o)
			return err
		}, func(o debate.Options, results io.Writer) error {
			e.Results = results
			report, err := e.Run(p.ctx, o)
			if err != nil {
				return err
			}
			return p.writeEvaluation(report)
		})
	})
}

// setOversight sets the arms of --oversight, unless --arm chooses some of them, and what they are compared with.
func (p *program) setOversight() {
	if len(p.eval.arms) == 0 {
		for name := range eval.Oversight() {
			p.eval.arms = append(p.eval.arms, name)
		}
	}
	if slices.Contains(p.eval.arms, "direct-text") {
		p.eval.against = []string{"direct-text"}
	}
	p.eval.budget = cmp.Or(p.eval.budget, string(eval.NoBudget))
}

// readTasks reads the tasks of the operand.
func (p *program) readTasks() ([]eval.Task, error) {
	format := eval.Format{Name: p.eval.format, Fields: map[string]string{}}
	for _, text := range p.eval.fields {
		ours, theirs, found := strings.Cut(text, "=")
		if !found {
			return nil, exitErrorf(exitInput, "read arguments: --field %s, want a pair such as topic=prompt", text)
		}
		format.Fields[ours] = theirs
	}
	f, err := p.openOperand("tasks")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	tasks, err := format.Read(f)
	if err != nil {
		return nil, exitErrorf(exitInput, "%s: %w", p.operands[0], err)
	}
	return tasks, nil
}

// buildArms returns the arms of --arm, and opens their providers. s is the configuration file of arms without one.
func (p *program) buildArms(s configFile, o *debate.Options) (arms []eval.Arm, err error) {
	if len(p.eval.arms) == 0 {
		return nil, exitErrorf(exitInput, "read arguments: --arm is missing, use for example --arm single --arm vote")
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
	err = p.setRunModels(all, o, configs...)
	if err == nil {
		err = p.usePrompts(o, configs[0])
	}
	for i := range arms {
		if err != nil {
			return nil, err
		}
		arms[i].Config, err = eval.Template(*configs[i])
		if err != nil {
			err = exitErrorf(exitInput, "read arm %s: %w", arms[i].Name, err)
		}
	}
	return arms, err
}

// armConfig returns the name and the configuration of an arm of --arm. own is the configuration file that it names.
func (p *program) armConfig(text string) (name string, c debate.Config, own configFile, err error) {
	name, what, named := strings.Cut(text, "=")
	if !named {
		what = text
		name = baseName(strings.ReplaceAll(what, ":", "-"))
	}
	if p.eval.oversight {
		for mode, c := range eval.Oversight() {
			if mode == what {
				return name, c, own, nil
			}
		}
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
		return name, c, own, exitErrorf(exitInput,
			"read arguments: --arm %s: want single, self-consistency:K, one of %s, or a configuration file",
			text, strings.Join(sortedKeys(presets), ", "))
	}
	own, err = readConfigFile(what)
	if err == nil {
		c, err = p.buildConfig(own, "{{question}}")
	}
	return name, c, own, err
}

// showProgress returns a function that prints the progress of an evaluation or a tournament, at most twenty times.
func (p *program) showProgress(tasks string) func(progress.Tasks) {
	shown := 0
	return func(g progress.Tasks) {
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
	if err := p.writePages(report, "evaluation "+report.Eval, report.Incomplete); err != nil {
		return err
	}
	if len(report.Unmet) > 0 {
		return errors.New(strings.Join(report.Unmet, "\n"))
	}
	return nil
}

// withRuns opens what the runs of an evaluation, a tournament or an audit need, and calls run. prepare builds the runs and
// sets the providers. results is the file of --output, or nil. s is the configuration file.
func (p *program) withRuns(s configFile, prepare func(*debate.Options) error, run func(o debate.Options, results io.Writer) error) error {
	p.chooseStore(s)
	var o debate.Options
	if err := prepare(&o); err != nil {
		return err
	}
	if err := p.checkFiles(); err != nil {
		return err
	}
	done, err := p.openStore(&o)
	if err != nil {
		return err
	}
	defer done()
	var results io.Writer
	if p.output != "" {
		f, err := os.OpenFile(p.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("write %s: %w", p.output, err)
		}
		defer f.Close() //nolint:errcheck // run reports errors of writing
		results = f
	}
	err = run(o, results)
	if failure, ok := errors.AsType[*debate.Failure](err); ok {
		return exitErrorf(exitProvider, "%w\n%s", err, hint(failure))
	}
	return err
}

// setRunModels opens the providers of the configurations of runs. --max-cost limits all runs together, and none alone.
func (p *program) setRunModels(s configFile, o *debate.Options, configs ...*debate.Config) error {
	limit := p.maxCost
	defer func() { p.maxCost = limit }()
	p.maxCost = 0
	return p.setModels(s, o, nil, configs...)
}

// rendering is a report of an evaluation, a tournament or an audit.
type rendering interface {
	Markdown(w io.Writer) error
	HTML(w io.Writer) error
}

// writePages writes a report to the files of --report, and prints it as Markdown, or its data as JSON. It returns an error if
// incomplete says that runs of what the report is about are missing.
func (p *program) writePages(report rendering, about, incomplete string) error {
	for _, path := range p.reports {
		write := report.Markdown
		if strings.EqualFold(filepath.Ext(path), ".html") {
			write = report.HTML
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := writeFile(path, b.Bytes()); err != nil {
			return err
		}
	}
	show := func() error { return report.Markdown(p.stdout) }
	if p.json {
		show = func() error { return p.printJSON(report) }
	}
	switch err := show(); {
	case err != nil || incomplete == "":
		return err
	case p.storePath != "":
		return fmt.Errorf("%s is not complete: %s; the same command continues it", printableLine(about), incomplete)
	}
	return fmt.Errorf("%s is not complete: %s", printableLine(about), incomplete)
}
