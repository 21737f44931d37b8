package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/audit"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// auditJudge measures judges on pairs of answers, and writes the report.
func (p *program) auditJudge() error {
	pairs, err := p.readPairs()
	if err != nil {
		return err
	}
	a := audit.Audit{
		Name: cmp.Or(p.eval.name, p.operandName()), Pairs: pairs, Repeats: p.audit.repeats, Challenge: p.audit.challenge,
		Target:  p.audit.target,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("judgments"),
	}
	a.Plants, err = p.chosenPlants()
	if err != nil {
		return err
	}
	return p.withConfigFile(func(s configFile) error {
		return p.withRuns(s, func(o *debate.Options) (err error) {
			a.Judges, err = p.auditedJudges(s, o)
			return err
		}, func(o debate.Options, results io.Writer) error {
			a.Results = results
			report, err := a.Run(p.ctx, o)
			if err != nil {
				return err
			}
			return p.writeAudit(report)
		})
	})
}

// readPairs reads the pairs of the operand.
func (p *program) readPairs() ([]audit.Pair, error) {
	f, err := p.openOperand("pairs")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	pairs, err := audit.Format{Name: p.eval.format}.Read(f)
	if err != nil {
		return nil, exitErrorf(exitInput, "%s: %w", p.operands[0], err)
	}
	return pairs, nil
}

// chosenPlants returns the plants of --plant.
func (p *program) chosenPlants() (list []audit.Plant, err error) {
	for _, name := range p.audit.plants {
		switch plant := audit.Plant(name); {
		case name == "all":
			return audit.Plants, nil
		case !slices.Contains(audit.Plants, plant):
			return nil, exitErrorf(exitInput, "read arguments: --plant %s, want all or one of %v", name, audit.Plants)
		default:
			list = append(list, plant)
		}
	}
	return list, nil
}

// notInNames matches what names of judges must not have.
var notInNames = regexp.MustCompile(`[^\pL\pN._-]+`)

// auditedJudges returns the judges of --judge, and opens their providers. s is the configuration file of the command.
func (p *program) auditedJudges(s configFile, o *debate.Options) (judges []audit.Judge, err error) {
	if len(p.audit.judges) == 0 {
		return nil, exitErrorf(exitInput,
			"read arguments: --judge is missing, use for example --judge openai/gpt-5-mini or --judge strict=strict.json")
	}
	all := s
	all.providers = maps.Clone(s.providers)
	var configs []*debate.Config
	for _, text := range p.audit.judges {
		name, c, own, err := p.judgeConfig(text, s)
		if err != nil {
			return nil, err
		}
		if err := all.addProviders("judge "+name, own); err != nil {
			return nil, err
		}
		configs = append(configs, &c)
		judges = append(judges, audit.Judge{Name: name, Family: p.audit.family})
	}
	err = p.setRunModels(all, o, configs...)
	for i, c := range configs {
		if err != nil {
			return nil, err
		}
		err = p.usePrompts(o, c)
		judges[i].Config = *c
	}
	return judges, err
}

// judgeConfig returns the name and the configuration of a judge of --judge. own is the configuration file that it names.
func (p *program) judgeConfig(text string, s configFile) (name string, c debate.Config, own configFile, err error) {
	name, what, named := strings.Cut(text, "=")
	if !named {
		what = text
		name = baseName(what)
		if !fileExists(what) {
			name = what
		}
	}
	name = strings.TrimLeft(notInNames.ReplaceAllString(name, "-"), "0123456789._-")
	if fileExists(what) {
		own, err = readConfigFile(what)
		if err == nil {
			c, err = p.buildConfig(own, "a pair of answers")
		}
		c.Participants, c.Protocol = nil, nil
		if err == nil && len(c.Judges) != 1 {
			err = exitErrorf(exitInput, "read judge %s: %s has %d judges, want 1", name, what, len(c.Judges))
		}
		return name, c, own, err
	}
	m, err := p.parseChoice("judge", what, s)
	if err != nil {
		return name, c, own, exitErrorf(exitInput, "%w, or a configuration file with one judge", err)
	}
	c.Judges = []debate.Participant{{Name: "Judge", Provider: m.provider, Model: m.model}}
	return name, c, own, nil
}

// writeAudit writes the report and the records. It returns an error if runs are missing.
func (p *program) writeAudit(report *audit.Report) error {
	if p.audit.records != "" {
		records, err := encodeJSON(report.Records())
		if err == nil {
			err = writeFile(p.audit.records, records)
		}
		if err != nil {
			return err
		}
	}
	return p.writePages(report, "audit "+report.Audit, report.Incomplete)
}

// label draws a sample of pairs or debates, asks for labels on the terminal, and writes those that there are.
func (p *program) label() error {
	l := audit.Labeling{Name: cmp.Or(p.eval.name, "debates"), Size: p.audit.size, Seed: p.audit.seed, Judge: p.audit.person, Stop: p.interrupted}
	if len(p.operands) > 0 {
		pairs, err := p.readPairs()
		if err != nil {
			return err
		}
		l.Name, l.Pairs = cmp.Or(p.eval.name, p.operandName()), pairs
	}
	return p.withStore(func(_ configFile, o debate.Options) (err error) {
		if len(l.Pairs) == 0 {
			l.Debates, err = p.judgedDebates(o.Store)
			if err != nil {
				return err
			}
		}
		labels, err := l.Run(p.ctx, o)
		for again := true; err == nil && again && len(labels.Waiting) > 0; {
			again, err = p.askLabels(labels, o)
			if err == nil {
				labels, err = l.Run(p.ctx, o)
			}
		}
		if err != nil {
			return err
		}
		return p.writeLabels(labels)
	})
}

// judgedDebates returns the ids of the debates that the filters select and that have ended, without those that ask for labels.
func (p *program) judgedDebates(s store.Store) (ids []string, err error) {
	q, err := p.filters.query()
	if err != nil {
		return nil, err
	}
	if q.States == nil {
		q.States = []fsm.State{fsm.Completed}
	}
	for head, err := range s.List(p.ctx, q) {
		if err != nil {
			return nil, err
		}
		if head.Labels["labels"] == "" {
			ids = append(ids, head.ID)
		}
	}
	if len(ids) == 0 {
		return nil, exitErrorf(exitInput, "label debates: the filters select none that has ended")
	}
	return ids, nil
}

// askLabels asks on the terminal for the labels that are missing. It returns false if there is no terminal, or if the person leaves the
// rest for later.
func (p *program) askLabels(l *audit.Labels, o debate.Options) (again bool, err error) {
	engine, err := debate.NewEngine(o)
	if err != nil {
		return false, err
	}
	p.me = []string{l.Judge}
	for i, id := range l.Waiting {
		p.shown, p.briefed = nil, nil // of another debate
		d, err := engine.Open(p.ctx, id)
		if err == nil && p.canAsk() {
			fmt.Fprintf(p.stderr, "\n%d of %d to label\n", i+1, len(l.Waiting))
		}
		if err == nil {
			again, err = p.askPeople(d)
		}
		if err != nil || !again {
			return false, err
		}
	}
	return true, nil
}

// writeLabels writes the labels, and prints how many there are.
func (p *program) writeLabels(l *audit.Labels) error {
	if p.output != "" {
		var lines bytes.Buffer
		if err := l.Write(&lines); err != nil {
			return err
		}
		if err := writeFile(p.output, lines.Bytes()); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(l)
	}
	fmt.Fprintf(p.stdout, "labels %s: %s\n", printableLine(l.Name), printableLine(l.String()))
	if len(l.Waiting) > 0 {
		p.say("The same command on a terminal asks for the rest, and so does the inbox of debate inspect --controls" + p.storeWords + ".")
	}
	return nil
}
