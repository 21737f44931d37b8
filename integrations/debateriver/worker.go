package debateriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/store"
)

// GracePeriod is added to the timeout of a debate's steps. After that time River cancels and rescues the job. Config.JobTime is
// a part of it.
const GracePeriod = 30 * time.Second

// Defaults sets the fields of c that a River client for debates needs, unless they are already set, and returns c. It
// sets the queue [Queue] with 100 concurrent jobs, a FetchCooldown of 5 ms, because River's default of 100 ms would
// delay each step, and RescueStuckJobsAfter to JobTimeout plus [GracePeriod], because River's default is an hour. Jobs of
// debates have their own timeout.
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

// AddWorker adds a worker for debates to workers. It returns the worker's engine on the store, which you can use for
// other calls. It ignores o.Store. Use River to stop the worker: Client.Stop waits for the jobs in progress, which begin no
// further plan after Config.JobTime. StopAndCancel cancels their calls, and another worker repeats these.
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

// worker runs the jobs of debates in this process.
type worker struct {
	river.WorkerDefaults[jobArgs]
	engine *debate.Engine
	store  *Store

	mu      sync.Mutex
	running map[string]chan struct{}  // by debate ID; closed when the job of this process is done
	handles map[string]*debate.Debate // by debate ID; kept so that the next job reads only new entries
}

// maxHandles is the largest number of handles kept between jobs.
const maxHandles = 256

// maxConflicts is the number of conflicts after which the commit of a late job fails, so that River tries it later.
const maxConflicts = 100

// Timeout implements river.Worker. River's rescuer uses it too.
func (w *worker) Timeout(job *river.Job[jobArgs]) time.Duration {
	return job.Args.Timeout + GracePeriod
}

// NextRetry implements river.Worker. The delay is one second at first and doubles with each attempt, up to a minute.
func (w *worker) NextRetry(job *river.Job[jobArgs]) time.Time {
	return time.Now().Add(backoff(job.Attempt - 1))
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	if job.Args.Plan == "" {
		return river.JobCancel(fmt.Errorf("work on debate %s: the job has no plan", job.Args.Debate))
	}
	t := newJobRun(job, w.store.jobTime)
	leave, err := w.acquire(ctx, job.Args.Debate)
	if err != nil {
		return retryDecision(ctx, job, err)
	}
	defer leave()
	err = onItsOwn(func() error { return w.work(ctx, t) })
	switch {
	case t.completed.Load(), errors.Is(err, store.ErrNotFound): // the journal records how the debate ended or stopped
		return nil
	case err != nil:
		return retryDecision(ctx, job, err)
	}
	return nil
}

// onItsOwn calls f on a goroutine of its own, and returns its error. If a job ended its goroutine, River would count it as running
// for ever.
func onItsOwn(f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the goroutine ended early")
		defer func() { done <- err }()
		defer panics.Catch(&err)
		err = f()
	}()
	return <-done
}

// work runs the job's plan and those to which it goes on, until they are done.
func (w *worker) work(ctx context.Context, t *jobRun) error {
	d, err := w.open(ctx, t.job.Args.Debate) // without the job run in ctx, so that a repaired status does not complete the job
	if err != nil && !errors.Is(err, debate.ErrUnsupported) {
		return err
	}
	conflicts := 0
	for more := true; !t.completed.Load(); {
		status, err := d.Status(ctx)
		if errors.Is(err, debate.ErrUnsupported) || err == nil && status.State.Active() && status.Plan.Key == "" {
			_, err = d.RunOnce(ctx) // only a newer version, or an engine with the protocol, knows the next step: this tells the store
			err = cmp.Or(err, debate.ErrUnsupported)
		}
		if err != nil {
			return err
		}
		ran := t.runs(status)
		if ran {
			more, err = d.RunWhile(context.WithValue(ctx, jobRunKey{}, t), t.goes)
		} else { // the job is late; this commit completes it unless the status changes meanwhile
			err = w.store.Commit(context.WithValue(ctx, jobRunKey{}, t), store.Change{ID: status.ID, After: status.Seq, Status: status})
		}
		if _, lost := errors.AsType[*store.Conflict](err); lost && !ran && conflicts < maxConflicts { // the debate has just changed
			conflicts++
			continue
		}
		if err != nil {
			return err
		}
		if more && t.completed.Load() {
			w.cacheHandle(d)
		}
	}
	return nil
}

// open returns a handle of the debate. It reuses a cached one, which has already read the journal.
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

// cacheHandle keeps a handle for the debate's next job. It drops other handles if there are too many.
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

// retryDecision returns the error that tells River when to retry a job that failed with err.
func retryDecision(ctx context.Context, job *river.Job[jobArgs], err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded): // like any other error
		return err
	case ctx.Err() != nil, errors.Is(err, debate.ErrClosed): // retry at once, on another worker
		return river.JobSnooze(0)
	case errors.Is(err, debate.ErrBusy):
		return river.JobSnooze(time.Second)
	case errors.Is(err, debate.ErrUnsupported): // leave it to a worker that has what is missing
		return river.JobSnooze(backoff(snoozes(job) / 4))
	}
	return err
}

// backoff returns a delay that is one second for n = 0, doubles with n, and is at most a minute.
func backoff(n int) time.Duration { return min(time.Second<<min(max(n, 0), 6), time.Minute) }

// snoozes returns how often a job was snoozed.
func snoozes(job *river.Job[jobArgs]) int {
	var metadata struct {
		Snoozes int `json:"snoozes"` // River counts them
	}
	_ = json.Unmarshal(job.Metadata, &metadata) // 0 if there is no count
	return metadata.Snoozes
}

// acquire waits until no other job of this process works on the debate. The next plan's job may arrive before the
// previous one has returned.
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

// release lets the next job of the debate run.
func (w *worker) release(id string, mine chan struct{}) {
	w.mu.Lock()
	delete(w.running, id)
	w.mu.Unlock()
	close(mine)
}
