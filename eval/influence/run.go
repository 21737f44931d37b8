package influence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Plan returns what the analysis will ask. It calls no model. Plan returns an error if the debate cannot be analyzed.
func (a Analysis) Plan(ctx context.Context, o debate.Options) (*Plan, error) {
	r, err := a.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.Close(ctx)
	return &r.plan, nil
}

// Run makes the samples that are missing in the store of o, goes on with those that were interrupted, and returns the report of
// all. It makes an engine with o.
//
// Before the first call, Run returns an error if the debate cannot be analyzed, such as one that has not ended, that no judge
// decides, or that people judge. It ends early if a service rejects a key or an account has no money, if the store fails, and
// with the error of ctx if ctx ends; nothing that is committed is lost. At a limit, or after Stop, there is no error: the report
// says what is missing. The debate keeps in the note "influence" what was found about its turns, which the inspector shows.
func (a Analysis) Run(ctx context.Context, o debate.Options) (*Report, error) {
	return a.report(ctx, o, true)
}

// Report returns the report of what is stored. It calls no model.
func (a Analysis) Report(ctx context.Context, o debate.Options) (*Report, error) {
	return a.report(ctx, o, false)
}

// report reads the samples of each stage. With run, it makes them before, and notes on the debate what was found.
func (a Analysis) report(ctx context.Context, o debate.Options, run bool) (*Report, error) {
	r, err := a.open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.Close(ctx)
	if err := r.ReadStored(ctx, func(map[string]string) (debate.Config, bool, error) { return debate.Config{}, false, nil }); err != nil {
		return nil, err
	}
	m := r.measurement()
	for stage := range r.plan.Stages {
		list := m.next()
		if run {
			if err := r.sample(ctx, stage, list); err != nil {
				return nil, fmt.Errorf("analyze debate %s: %w", a.ID, err)
			}
		}
		for i := range list {
			if err := r.read(ctx, m, stage, &list[i]); err != nil {
				return nil, err
			}
		}
		m.add(list)
	}
	p := m.report()
	p.ID, p.Topic = r.ID, r.debate.Topic
	tokens, cost := r.Spent()
	p.Tokens, p.Cost = tokens, math.Round(cost*1e9)/1e9
	p.Incomplete = runs.Incomplete(r.Limit(), m.missing, "sample")
	if m.waits != "" {
		p.Incomplete += "; debates with the label influence=" + r.ID + " wait for a decision: " + m.waits
	}
	if run {
		d, err := r.Engine.Open(ctx, r.ID)
		if err == nil {
			err = d.Annotate(ctx, noteName, p.note())
		}
		if err != nil {
			return nil, fmt.Errorf("analyze debate %s: note what was found: %w", a.ID, err)
		}
	}
	return p, nil
}

// sample makes the samples of a stage, so that one that ends early has about as many of each item.
func (r *runner) sample(ctx context.Context, stage int, list []comparison) error {
	var all []arm
	for _, c := range list {
		for _, x := range []arm{c.whole, c.without} {
			if !slices.ContainsFunc(all, func(y arm) bool { return x.name == y.name }) {
				all = append(all, x)
			}
		}
	}
	return r.Each(ctx, len(all)*r.plan.Stages[stage].Samples, func(ctx context.Context, task int) (bool, error) {
		x, n := all[task%len(all)], task/len(all)
		id, err := r.idOf(stage, x, n)
		if err != nil {
			return false, err
		}
		_, err = r.DriveFork(ctx, id, func(ctx context.Context) (*debate.Debate, error) { return r.make(ctx, id, x, n) })
		return err == nil && !r.Stopped(), err
	})
}

// idOf returns the id of a sample, which derives from what determines it. Samples by which somebody may have chosen items are no
// samples of an analysis of these items.
func (r *runner) idOf(stage int, x arm, n int) (string, error) {
	text, err := json.Marshal([]any{r.ID, r.Judges, stage, len(r.plan.Stages), r.plan.first, r.chosen(), x.name, x.omit, n, r.Continued})
	if err != nil {
		return "", fmt.Errorf("encode sample: %w", err)
	}
	sum := sha256.Sum256(text)
	return label + "-" + hex.EncodeToString(sum[:16]), nil
}

// make makes the debate of a sample.
func (r *runner) make(ctx context.Context, id string, x arm, n int) (*debate.Debate, error) {
	labels := map[string]string{label: r.ID, labelItem: x.name, labelSample: strconv.Itoa(n + 1)}
	if r.Continued {
		return r.Engine.Fork(ctx, r.ID, x.from, debate.Edits{ID: id, Labels: labels, Config: r.continuing(x, n), Silent: x.omit})
	}
	return r.Engine.Rejudge(ctx, r.ID, debate.Rejudge{
		ID: id, Omit: x.omit, Swap: n%2 == 1, Judges: r.judges(x, n), Prices: r.Prices,
		Labels: labels,
	})
}

// judges returns the judges of a sample. The same seed would give the same reply, so each sample has its own.
func (r *runner) judges(x arm, n int) []debate.Participant {
	if !slices.ContainsFunc(r.config.Judges, func(j debate.Participant) bool { return j.Seed != nil }) {
		return r.Judges
	}
	return x.seeded(r.config.Judges, n)
}

// seeded returns the participants with the seeds of a sample.
func (x arm) seeded(list []debate.Participant, n int) []debate.Participant {
	list = slices.Clone(list)
	for i := range list {
		if s := list[i].Seed; s != nil {
			list[i].Seed = new(*s + int64(n) + 1_000_003*x.number)
		}
	}
	return list
}

// continuing returns the configuration of a debate that goes on: the last one of the debate, without questions to people.
func (r *runner) continuing(x arm, n int) *debate.Config {
	c := r.config
	c.AskBeforeRounds = false
	c.AskBeforeVerdict = false
	c.AskAboveCost = 0
	c.Participants, c.Judges = x.seeded(c.Participants, n), x.seeded(c.Judges, n)
	return &c
}

// read reads the samples of a comparison.
func (r *runner) read(ctx context.Context, m *measurement, stage int, c *comparison) error {
	for _, x := range []*arm{&c.whole, &c.without} {
		for n := range r.plan.Stages[stage].Samples {
			id, err := r.idOf(stage, *x, n)
			if err != nil {
				return err
			}
			if err := r.readSample(ctx, m, x, id, n%r.plan.orders()); err != nil {
				return err
			}
		}
	}
	return nil
}

// failureOf says why a sample does not count. It returns "" if it does.
func (r *runner) failureOf(sample *debate.Result) string {
	is, was := sample.Ending, r.debate.Ending
	switch failure := runs.FailureOf(sample); {
	case sample.State != fsm.Completed || r.Continued && failure != "":
		return failure
	case !r.Continued && (is.Outcome != was.Outcome || is.Round != was.Round):
		return fmt.Sprintf("it ended in round %d with %s: a limit of the debate left no room for these judges", is.Round, is.Outcome)
	}
	for _, t := range sample.Turns {
		if slices.Contains(r.deciding, t.Phase) && slices.Contains(t.Flags, transcript.Defaulted) {
			return fmt.Sprintf("%s gave no valid reply", t.Actor)
		}
	}
	return ""
}

// readSample reads a sample, which may be missing. order is 0 or 1.
func (r *runner) readSample(ctx context.Context, m *measurement, x *arm, id string, order int) error {
	if m.seen[id] == nil {
		s := &sample{order: order}
		m.seen[id] = s
		d, err := r.Engine.Open(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			m.missing++
			return nil
		}
		if err != nil {
			return err
		}
		result, err := d.Result(ctx)
		if err != nil {
			return err
		}
		switch failure := r.failureOf(result); {
		case result.State == fsm.Paused || result.State.Active():
			m.missing++
			if result.Question != nil {
				m.waits = result.Question.Cause
			}
		case failure != "":
			m.failures = append(m.failures, x.name+": "+failure)
		default:
			if result.Rejudged != nil {
				s.remains = len(result.Rejudged.Remains) > 0
			}
			o, known := outcomeOf(result, r.deciding)
			if known {
				s.ended, s.won = true, o.winner == r.outcome.winner
				s.score, s.scored = o.score(m.of)
			}
			if !known {
				m.failures = append(m.failures, x.name+": the judges have not decided")
			} else if len(r.outcome.scores) > 0 && !s.scored {
				m.failures = append(m.failures, x.name+": the judges have given no score")
			}
		}
	}
	if s := m.seen[id]; s.ended {
		x.samples = append(x.samples, *s)
	}
	return nil
}
