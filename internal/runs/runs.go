// Package runs makes the runs of evaluations, tournaments and analyses: labelled debates in a store that go on after a restart,
// under one limit of cost and of tokens. It also makes one line of the debates of a run, for lists of debates.
package runs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Config describes the runs of one evaluation, tournament or analysis.
type Config struct {
	Label       string // the key of the label that has the name, such as "eval"; ids begin with it
	What        string // what the runs belong to, such as "evaluation"
	Name        string
	MaxCost     float64
	MaxTokens   int
	Concurrency int // of tasks; defaults to 8
	Progress    func(progress.Tasks)
	Stop        <-chan struct{}
}

// Runner makes runs.
type Runner struct {
	Engine *debate.Engine

	config    Config
	options   debate.Options
	scratch   *debate.Engine // completes configurations
	schedules bool           // workers run the debates
	began     time.Time

	mu        sync.Mutex
	spent     spending // by all runs under the name
	progress  progress.Tasks
	startCost float64
}

// Open returns a runner over the store of o, which defaults to one in memory.
func Open(c Config, o debate.Options) (*Runner, error) {
	if o.Store == nil {
		o.Store = store.Memory()
	}
	engine, err := debate.NewEngine(o)
	if err != nil {
		return nil, err
	}
	scratch, err := debate.NewEngine(inMemory(o))
	if err != nil {
		return nil, err
	}
	r := &Runner{Engine: engine, config: c, options: o, scratch: scratch}
	if s, ok := o.Store.(store.Scheduler); ok {
		r.schedules = s.Schedules()
	}
	return r, nil
}

// inMemory returns options for debates that are not stored.
func inMemory(o debate.Options) debate.Options {
	o.Store = nil
	o.Observer = debate.Observer{}
	o.Logger = nil
	return o
}

// Close closes the engines.
func (r *Runner) Close(ctx context.Context) {
	_ = r.Engine.Close(context.WithoutCancel(ctx)) // nothing is driven any more
	_ = r.scratch.Close(context.WithoutCancel(ctx))
}

// Labeled returns a configuration with labels, and the id that derives from everything that determines it: the
// configuration, the name of what it belongs to, and its own names.
func (c Config) Labeled(d debate.Config, labels map[string]string, names ...string) (debate.Config, error) {
	d.ID = ""
	text, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("encode configuration of %s: %w", strings.Join(names, ", "), err)
	}
	key, err := json.Marshal(append([]string{c.Name}, names...))
	if err != nil {
		return d, fmt.Errorf("encode names of %s: %w", strings.Join(names, ", "), err)
	}
	sum := sha256.Sum256(append(append(key, 0), text...))
	d.ID = c.Label + "-" + hex.EncodeToString(sum[:16])
	d.Labels = maps.Clone(d.Labels)
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	maps.Copy(d.Labels, labels)
	d.Labels[c.Label] = c.Name
	return d, nil
}

// spending counts the tokens and the money that runs have used.
type spending struct {
	tokens int
	cost   float64
}

func (s *spending) add(u transcript.Usage) {
	s.tokens += u.Input + u.Output
	s.cost += u.Cost
}

// Spent returns what everything under the name has used.
func (r *Runner) Spent() (tokens int, cost float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent.tokens, r.spent.cost
}

// Stopped reports whether no further run or step may begin.
func (r *Runner) Stopped() bool {
	select {
	case <-r.config.Stop: // never, if it is nil
		return true
	default:
	}
	return r.Limit() != ""
}

// Limit returns the limit that is reached, or "".
func (r *Runner) Limit() string {
	tokens, cost := r.Spent()
	switch {
	case r.config.MaxCost > 0 && cost >= r.config.MaxCost:
		return fmt.Sprintf("the limit of cost, %v, is reached", r.config.MaxCost)
	case r.config.MaxTokens > 0 && tokens >= r.config.MaxTokens:
		return fmt.Sprintf("the limit of tokens, %d, is reached", r.config.MaxTokens)
	}
	return ""
}

// Each calls do for the tasks from 0 to total-1, several at the same time, until the runner is stopped. do makes the runs of
// a task, and reports whether it has made all. Each returns the first error, after which further runs are of no use.
func (r *Runner) Each(ctx context.Context, total int, do func(ctx context.Context, task int) (whole bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.began, r.startCost = time.Now(), r.spent.cost
	r.progress = progress.Tasks{TotalTasks: total}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(cmp.Or(r.config.Concurrency, 8), total) {
		workers.Go(func() {
			for task := range next {
				whole, err := do(ctx, task)
				if err != nil {
					cancel(err)
				} else if whole {
					r.advance(func(p *progress.Tasks) { p.Tasks++ })
				}
			}
		})
	}
	for task := range total {
		if r.Stopped() || ctx.Err() != nil {
			break
		}
		select {
		case next <- task:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// advance changes the progress and reports it.
func (r *Runner) advance(change func(*progress.Tasks)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.progress
	change(p)
	p.Tokens = r.spent.tokens
	p.Cost = r.spent.cost
	p.Elapsed = time.Since(r.began)
	if p.Tasks > 0 {
		left := float64(p.TotalTasks-p.Tasks) / float64(p.Tasks)
		p.RemainingTime = time.Duration(left * float64(p.Elapsed))
		p.RemainingCost = left * (p.Cost - r.startCost)
	}
	if r.config.Progress != nil {
		r.config.Progress(*p)
	}
}
