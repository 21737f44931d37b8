package debateriver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// GracePeriod is how much longer than the timeout of a debate's steps a job may take, before it is cancelled and rescued.
const GracePeriod = 30 * time.Second

// Defaults fills in what a River client that works on debates needs, and gives c back: the queue with 100 jobs at once,
// a worker's pause between two fetches of 5 ms (River's own 100 ms would come on top of each step), and the rescue of
// stuck jobs Grace after JobTimeout (River's own is an hour). A job of debates has a timeout of its own. What c sets
// stays.
func Defaults(c *river.Config) *river.Config {
	if _, ok := c.Queues[Queue]; !ok {
		c.Queues = maps.Clone(c.Queues)
		if c.Queues == nil {
			c.Queues = map[string]river.QueueConfig{}
		}
		c.Queues[Queue] = river.QueueConfig{MaxWorkers: 100}
	}
	c.FetchCooldown = cmp.Or(c.FetchCooldown, 5*time.Millisecond)
	c.RescueStuckJobsAfter = cmp.Or(c.RescueStuckJobsAfter, max(c.JobTimeout, river.JobTimeoutDefault)+GracePeriod)
	return c
}

// AddWorker makes the River workers drive debates, with an engine over the store that it gives back for other uses. o's
// Store is not looked at. Draining is River's: Client.Stop waits for steps in flight, StopAndCancel cuts them, and
// another worker makes them again.
func AddWorker(workers *river.Workers, s *Store, o debate.Options) (*debate.Engine, error) {
	o.Store = s
	return addWorker(workers, s, o)
}

func addWorker(workers *river.Workers, s *Store, o debate.Options) (*debate.Engine, error) {
	e, err := debate.NewEngine(o)
	if err != nil {
		return nil, err
	}
	if err := river.AddWorkerSafely(workers, &worker{engine: e, store: s, running: map[string]chan struct{}{}, handles: map[string]*debate.Debate{}}); err != nil {
		return nil, fmt.Errorf("add worker: %w", err)
	}
	return e, nil
}

type worker struct {
	river.WorkerDefaults[jobArgs]
	engine *debate.Engine
	store  *Store

	mu      sync.Mutex
	running map[string]chan struct{}  // debates that a job of this process is at work on
	handles map[string]*debate.Debate // some that it has worked on, so that their next job reads only what is new
}

// maxHandles is how many debates are kept in mind between their jobs.
const maxHandles = 256

// Timeout implements river.Worker. River's rescuer heeds it too.
func (w *worker) Timeout(job *river.Job[jobArgs]) time.Duration {
	return job.Args.Timeout + GracePeriod
}

// NextRetry implements river.Worker: after a second, then twice as long each time, up to a minute.
func (w *worker) NextRetry(job *river.Job[jobArgs]) time.Time {
	return time.Now().Add(min(time.Second<<min(max(job.Attempt-1, 0), 6), time.Minute))
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	if job.Args.Plan == "" {
		return river.JobCancel(fmt.Errorf("work on debate %s: the job names no plan", job.Args.Debate))
	}
	leave, err := w.acquire(ctx, job.Args.Debate)
	if err != nil {
		return retryDecision(ctx, err)
	}
	defer leave()
	t := &jobRun{job: job}
	err = w.work(ctx, t)
	switch {
	case t.completed.Load(), errors.Is(err, store.ErrNotFound): // what the debate ended or stopped with is in its journal
		return nil
	case err != nil:
		return retryDecision(ctx, err)
	}
	return nil
}

// work does the job's plan, until it is done.
func (w *worker) work(ctx context.Context, t *jobRun) error {
	d, err := w.open(ctx, t.job.Args.Debate) // without the task: a head that is put right here ends no job
	if err != nil {
		return err
	}
	for more := true; !t.completed.Load(); {
		status, err := d.Status(ctx)
		if err == nil && (status.Format > store.Format || status.State.Active() && status.Plan.Key == "") {
			err = debate.ErrUnsupported // what it is to do next only a newer version can tell, or one with the protocol
		}
		if err != nil {
			return err
		}
		if t.job.Args.matches(status) {
			more, err = d.RunOnce(context.WithValue(ctx, jobRunKey{}, t))
		} else { // it came late; if that is still so by then, the job is completed
			err = w.store.Commit(context.WithValue(ctx, jobRunKey{}, t), store.Change{ID: status.ID, After: status.Seq, Status: status})
		}
		if _, lost := errors.AsType[*store.Conflict](err); err != nil && !lost {
			return err
		}
		if more && t.completed.Load() {
			w.cacheHandle(d)
		}
	}
	return nil
}

// open is a debate's handle: one that knows the journal so far, where there is one.
func (w *worker) open(ctx context.Context, id string) (*debate.Debate, error) {
	w.mu.Lock()
	d := w.handles[id]
	delete(w.handles, id)
	w.mu.Unlock()
	if d != nil {
		return d, nil
	}
	return w.engine.Open(ctx, id)
}

// cacheHandle keeps a handle for the debate's next job, and forgets another where there are too many.
func (w *worker) cacheHandle(d *debate.Debate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.handles {
		if len(w.handles) < maxHandles {
			break
		}
		delete(w.handles, id)
	}
	w.handles[d.ID()] = d
}

// retryDecision says when a job that could not be done is to be tried again.
func retryDecision(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded): // as any error
		return err
	case ctx.Err() != nil, errors.Is(err, debate.ErrClosed): // by another worker, at once
		return river.JobSnooze(0)
	case errors.Is(err, debate.ErrBusy):
		return river.JobSnooze(time.Second)
	case errors.Is(err, debate.ErrUnsupported): // by a worker of a newer version, or with the protocol
		return river.JobSnooze(time.Minute)
	}
	return err
}

// acquire waits until no other job of this process works on a debate: the next plan's may come before this one's has left.
func (w *worker) acquire(ctx context.Context, id string) (leave func(), err error) {
	mine := make(chan struct{})
	for {
		w.mu.Lock()
		other := w.running[id]
		if other == nil {
			w.running[id] = mine
		}
		w.mu.Unlock()
		if other == nil {
			return func() { w.release(id, mine) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (w *worker) release(id string, mine chan struct{}) {
	w.mu.Lock()
	delete(w.running, id)
	w.mu.Unlock()
	close(mine)
}
