package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol/pairwise"
)

// Run makes the runs that are missing in the store of o, and returns the report of all. It behaves as the Run of
// [eval.Evaluation] does.
func (a Audit) Run(ctx context.Context, o debate.Options) (*Report, error) {
	return a.measure(o, func(e eval.Evaluation) (*eval.Report, error) { return e.Run(ctx, o) })
}

// Report returns the report of what is stored. It makes no run.
func (a Audit) Report(ctx context.Context, o debate.Options) (*Report, error) {
	return a.measure(o, func(e eval.Evaluation) (*eval.Report, error) { return e.Report(ctx, o) })
}

// measure runs the evaluation and reads its runs.
func (a *Audit) measure(o debate.Options, run func(eval.Evaluation) (*eval.Report, error)) (*Report, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	hashes := make([]string, len(a.Judges))
	for i, j := range a.Judges {
		var err error
		hashes[i], err = promptsOf(j.Config, o)
		if err != nil {
			return nil, fmt.Errorf("read prompts of judge %s: %w", j.Name, err)
		}
	}
	results := map[string]pairwise.Result{}
	e := a.evaluation(func(run string, x pairwise.Result) { results[run] = x })
	lines := &runs{results: results}
	e.Results = lines
	ran, err := run(e)
	if err != nil {
		return nil, err
	}
	seen := a.collect(lines.list, results)
	if err := a.write(seen); err != nil {
		return nil, err
	}
	return a.report(ran, seen, hashes), nil
}

// promptsOf returns the hash of a judge's prompts.
func promptsOf(c debate.Config, o debate.Options) (string, error) {
	folder := o.Prompts
	if c.Prompts != "" {
		folder = o.PromptSets[c.Prompts]
	}
	set, err := prompts.Load(folder)
	if err != nil {
		return "", err
	}
	return measured.PromptsHash(set.Version(), c.Judges[0].Persona, c.Judges[0].Instructions), nil
}

// report returns the report of what was seen.
func (a *Audit) report(ran *eval.Report, all []seen, hashes []string) *Report {
	p := &Report{Format: formatVersion, Audit: a.Name, Pairs: len(a.Pairs), Incomplete: ran.Incomplete, Tokens: ran.Tokens, Cost: ran.Cost}
	for i, s := range all {
		p.Judges = append(p.Judges, a.figures(a.Judges[i], s, hashes[i]))
	}
	if len(a.Judges) > 1 {
		jury := agreement.Summarize(a.items(all), a.names()...)
		p.Jury = &jury
	}
	if a.Target > 0 {
		c, err := agreement.Calibrate(a.items(all), a.Target, a.names()...)
		switch {
		case err == nil:
			p.Calibration = &c
		case errors.Is(err, agreement.ErrRefused):
			p.Refused = refusal(err)
		default:
			p.Refused = err.Error()
		}
	}
	p.Summary = p.sentences()
	return p
}

// figures returns what was measured about a judge.
func (a *Audit) figures(j Judge, s seen, hash string) Figures {
	f := measure(s.pairs, j.family())
	unreadable := 0
	for _, x := range s.pairs {
		for _, d := range x.decisions {
			unreadable += int(indicator(d == agreement.None))
		}
	}
	return Figures{
		Name:   j.Name,
		Record: measured.Record{Model: j.Config.Judges[0].Model, Prompts: hash, Pairs: len(s.pairs), Accuracy: f.accuracy, Biases: f.biases},
		Failed: s.failed, Failures: s.failures, Unreadable: unreadable,
		Agreement: f.agreement, First: f.first, Consistency: f.consistency, Turned: f.turned, TurnedWrong: f.turnedWrong, TurnedRight: f.turnedRight,
		Tokens: s.tokens, Cost: s.cost,
	}
}
