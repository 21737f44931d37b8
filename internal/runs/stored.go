package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// inMemory returns options for debates that are not part of the evaluation.
func inMemory(o debate.Options) debate.Options {
	o.Store, o.Observer, o.Logger = nil, debate.Observer{}, nil
	return o
}

// checkConfigs returns an error if the configuration of a run is not valid, or if this engine lacks what the first run of
// an arm needs.
func (r *runner) checkConfigs(ctx context.Context) error {
	for i := range r.Arms {
		a := &r.Arms[i]
		for n, t := range r.Tasks {
			c, err := r.config(a, t, 1)
			if err != nil {
				return err
			}
			if _, err = r.complete(ctx, c); err == nil && n == 0 && !r.schedules {
				_, err = debate.New(ctx, c, inMemory(r.options))
			}
			if err != nil {
				return fmt.Errorf("check arm %s for task %s: %w", a.Name, t.ID, err)
			}
		}
	}
	return nil
}

// complete returns the JSON of a configuration with all defaults, as it would be stored. It returns an error if the
// configuration is not valid, or if it has no price for a model and there is a limit of cost.
func (r *runner) complete(ctx context.Context, c debate.Config) (json.RawMessage, error) {
	if r.MaxCost > 0 {
		priced := c
		priced.ID, priced.Limits.Cost = c.ID+".priced", 1e15
		if _, err := r.stored(ctx, priced); err != nil {
			return nil, err
		}
	}
	return r.stored(ctx, c)
}

// stored returns the JSON of a configuration as the engine stores it.
func (r *runner) stored(ctx context.Context, c debate.Config) (json.RawMessage, error) {
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

// readStored adds up what the runs in the store have used. It returns an error if a run of an arm has another
// configuration than the arm.
func (r *runner) readStored(ctx context.Context) error {
	tasks := make(map[string]int, len(r.Tasks))
	for i, t := range r.Tasks {
		tasks[t.ID] = i
	}
	for s, err := range r.engine.List(ctx, store.Query{Labels: map[string]string{labelEval: r.Name}}) {
		if err != nil {
			return fmt.Errorf("read evaluation %s: %w", r.Name, err)
		}
		r.spent.add(s.Usage)
		a, known := r.arm(s.Labels[labelArm]), false
		var at int
		if a != nil {
			at, known = tasks[s.Labels[labelTask]]
		}
		sample, err := strconv.Atoi(s.Labels[labelSample])
		if !known || err != nil {
			continue
		}
		c, err := r.config(a, r.Tasks[at], sample)
		if err != nil {
			return err
		}
		if c.ID != s.ID {
			return r.changed(ctx, a, s, c)
		}
	}
	return nil
}

// changed returns an error that names what differs between a stored run and its arm.
func (r *runner) changed(ctx context.Context, a *Arm, s store.Status, c debate.Config) error {
	d, err := r.engine.Open(ctx, s.ID)
	if err != nil {
		return err
	}
	stored, err := configOf(ctx, d)
	if err != nil {
		return err
	}
	now, err := r.complete(ctx, c)
	if err != nil {
		return fmt.Errorf("check arm %s for task %s: %w", a.Name, s.Labels[labelTask], err)
	}
	difference, err := firstDifference(stored, now)
	if err != nil {
		return err
	}
	return fmt.Errorf("run evaluation %s: arm %s has runs with another configuration: %s for task %s; give the arm or the evaluation another name", r.Name, a.Name, difference, s.Labels[labelTask])
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
