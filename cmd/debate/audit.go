package main

import (
	"cmp"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/audit"
)

// auditJudge measures judges on pairs of answers, and writes the report.
func (p *program) auditJudge() error {
	pairs, err := p.readPairs()
	if err != nil {
		return err
	}
	a := audit.Audit{
		Name: cmp.Or(p.eval.name, baseName(p.operands[0])), Pairs: pairs, Repeats: p.audit.repeats, Challenge: p.audit.challenge, Target: p.audit.target,
		MaxCost: p.maxCost, MaxTokens: p.eval.tokens, Concurrency: p.eval.atOnce, Stop: p.interrupted, Progress: p.showProgress("judgments"),
	}
	if a.Plants, err = p.chosenPlants(); err != nil {
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
	f, err := os.Open(p.operands[0])
	if err != nil {
		return nil, exitErrorf(exitArguments, "read pairs: %w", err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	pairs, err := audit.Format{Name: p.eval.format}.Read(f)
	if err != nil {
		return nil, exitErrorf(exitArguments, "%s: %w", p.operands[0], err)
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
			return nil, exitErrorf(exitArguments, "read arguments: --plant %s, want all or one of %v", name, audit.Plants)
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
		return nil, exitErrorf(exitArguments, "read arguments: --judge is missing, use for example --judge openai/gpt-5-mini or --judge strict=strict.json")
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
		if own, err = readConfigFile(what); err == nil {
			c, err = p.buildConfig(own, "a pair of answers")
		}
		c.Participants, c.Protocol = nil, nil
		if err == nil && len(c.Judges) != 1 {
			err = exitErrorf(exitConfiguration, "read judge %s: %s has %d judges, want 1", name, what, len(c.Judges))
		}
		return name, c, own, err
	}
	m, err := p.parseChoice("judge", what, s)
	if err != nil {
		return name, c, own, exitErrorf(exitArguments, "%w, or a configuration file with one judge", err)
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
