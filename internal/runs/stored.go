package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Check returns an error if a configuration is not valid or, with whole, if this engine lacks what the debate needs.
func (r *Runner) Check(ctx context.Context, c debate.Config, whole bool) error {
	_, err := r.complete(ctx, c)
	if err == nil && whole && !r.schedules {
		_, err = debate.New(ctx, c, inMemory(r.options))
	}
	return err
}

// ReadStored adds up what the runs in the store have used. It calls expect with the labels of each run; expect returns the
// configuration that the run should have, and false if it is none of the present ones. ReadStored returns a [Changed] if the
// run has another one.
func (r *Runner) ReadStored(ctx context.Context, expect func(labels map[string]string) (debate.Config, bool, error)) error {
	for s, err := range r.Engine.List(ctx, store.Query{Labels: map[string]string{r.config.Label: r.config.Name}}) {
		if err != nil {
			return fmt.Errorf("read %s %s: %w", r.config.What, r.config.Name, err)
		}
		d, err := r.Engine.Open(ctx, s.ID)
		if err != nil {
			return err
		}
		own, err := used(ctx, d, s)
		if err != nil {
			return err
		}
		r.spent.add(own)
		c, known, err := expect(s.Labels)
		switch {
		case err != nil:
			return err
		case known && c.ID != s.ID:
			return r.changed(ctx, s, c)
		}
	}
	return nil
}

// used returns what a run has used itself up to a status: a fork has the usage of its parent too, and a rejudged debate that of the
// turns and failures that it repeats.
func used(ctx context.Context, d *debate.Debate, s store.Status) (own transcript.Usage, err error) {
	if s.Parent.ID == "" {
		return s.Usage, nil
	}
	before := transcript.Usage{}
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return own, err
		}
		now := m.Status().Usage
		switch meta := m.Event.Meta(); {
		case meta.Seq > s.Seq:
			return own, nil
		case meta.Seq > s.Parent.Seq && meta.Repeats == 0:
			more := minus(now, before)
			turn, _ := m.Event.(debate.TurnDone)
			more.Unpriced = now.Unpriced && !before.Unpriced || turn.Turn.Usage.Unpriced
			own = own.Add(more)
		}
		before = now
	}
	return own, nil
}

// minus returns the tokens and the cost of a without those of b.
func minus(a, b transcript.Usage) transcript.Usage {
	return transcript.Usage{Input: a.Input - b.Input, Output: a.Output - b.Output, Cost: a.Cost - b.Cost}
}

// Changed says that a stored run has another configuration than it should.
type Changed struct {
	Labels     map[string]string // of the run
	Difference string            // the first field that differs, with both values
}

// Error returns the difference.
func (c *Changed) Error() string { return "a stored run has another configuration: " + c.Difference }

// changed returns an error that names what differs between a stored run and its configuration.
func (r *Runner) changed(ctx context.Context, s store.Status, c debate.Config) error {
	d, err := r.Engine.Open(ctx, s.ID)
	if err != nil {
		return err
	}
	stored, err := configOf(ctx, d)
	if err != nil {
		return err
	}
	now, err := r.complete(ctx, c)
	if err != nil {
		return err
	}
	difference, err := firstDifference(stored, now)
	if err != nil {
		return err
	}
	return &Changed{s.Labels, difference}
}

// complete returns the JSON of a configuration with all defaults, as it would be stored. It returns an error if the
// configuration is not valid, or if it has no price for a model and there is a limit of cost.
func (r *Runner) complete(ctx context.Context, c debate.Config) (json.RawMessage, error) {
	if r.config.MaxCost > 0 {
		priced := c
		priced.ID, priced.Limits.Cost = c.ID+".priced", 1e15
		if _, err := r.stored(ctx, priced); err != nil {
			return nil, err
		}
	}
	return r.stored(ctx, c)
}

// stored returns the JSON of a configuration as the engine stores it.
func (r *Runner) stored(ctx context.Context, c debate.Config) (json.RawMessage, error) {
	d, err := r.scratch.Create(ctx, c)
	if err != nil {
		return nil, err
	}
	text, err := configOf(ctx, d)
	if err == nil {
		err = r.scratch.Delete(ctx, c.ID)
	}
	return text, err
}

// configOf returns the present configuration of a debate.
func configOf(ctx context.Context, d *debate.Debate) (text json.RawMessage, err error) {
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return nil, err
		}
		if c, ok := m.Event.(debate.ConfigChanged); ok {
			text = bytes.Clone(c.Config)
		}
	}
	return text, nil
}

// firstDifference describes the first field in which two configurations differ, apart from their names.
func firstDifference(stored, now json.RawMessage) (string, error) {
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal(stored, &a), json.Unmarshal(now, &b)); err != nil {
		return "", fmt.Errorf("compare configurations: %w", err)
	}
	for _, name := range []string{"id", "seed", "labels"} {
		delete(a, name)
		delete(b, name)
	}
	derived := []map[string]any{{"limits": a["limits"]}, {"limits": b["limits"]}} // their defaults follow from other fields
	delete(a, "limits")
	delete(b, "limits")
	if text := cmp.Or(differ("", a, b), differ("", derived[0], derived[1])); text != "" {
		return text, nil
	}
	return "a field that is not shown, such as a seed or a default that is now given,", nil
}

// differ describes the first difference between two decoded values at a path, or returns "".
func differ(path string, a, b any) string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(x)
		maps.Copy(both, y)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			if text := differ(strings.TrimPrefix(path+"."+name, "."), x[name], y[name]); text != "" {
				return text
			}
		}
		return ""
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if text := differ(fmt.Sprintf("%s[%d]", path, i), x[i], y[i]); text != "" {
				return text
			}
		}
		return ""
	default:
		if a == b {
			return ""
		}
	}
	return fmt.Sprintf("%s was %s and is %s", path, show(a), show(b))
}

// show returns a decoded value as JSON, shortened.
func show(v any) string {
	text, err := json.Marshal(v)
	if v == nil || err != nil {
		return "not set"
	}
	if r := []rune(string(text)); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return string(text)
}
