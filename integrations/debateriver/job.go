package debateriver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// Queue is the River queue for the jobs of all debates.
const Queue = "debates"

// jobArgs holds the arguments of a job, which runs a plan of one debate and then may go on to the next ones. While a job for a
// plan is waiting or running, no second one is inserted. After it has ended, either the plan is done, or someone calls Start
// again.
type jobArgs struct {
	Debate  string        `json:"debate" river:"unique"`
	Created time.Time     `json:"created" river:"unique"` // tells a debate from a deleted one with the same ID
	Plan    string        `json:"plan" river:"unique"`
	Timeout time.Duration `json:"timeout"` // in nanoseconds
}

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return "debate_plan" }

// maxAttempts is the number of attempts of a job. It suffices for a database outage of more than a day. After that River
// ends the job, and Start inserts a new one. Failures of a debate do not count as failures of its job.
const maxAttempts = 2000

// activeStates are the states of a job whose plan is not done yet.
var activeStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// jobRun is one run of a job. Commits find it in their context.
type jobRun struct {
	job       *river.Job[jobArgs]
	until     time.Time              // the job begins no further plan after this time
	plan      atomic.Pointer[string] // key of the plan that it runs
	completed atomic.Bool            // a commit has completed the job
}

type jobRunKey struct{}

func newJobRun(job *river.Job[jobArgs], within time.Duration) *jobRun {
	t := &jobRun{job: job, until: time.Now().Add(within)}
	t.plan.Store(&job.Args.Plan)
	return t
}

// runs reports whether the job runs the plan of h.
func (t *jobRun) runs(h store.Status) bool {
	return *t.plan.Load() == h.Plan.Key && t.job.Args.Created.Equal(h.Created)
}

// goes reports whether the job runs the plan of h, after others.
func (t *jobRun) goes(h store.Status) bool { return !t.completed.Load() && t.runs(h) }

// endsPlan reports whether the job's plan is done with a change. If the debate is paused, some of its calls may still be in
// progress, and the plan lasts until they have finished.
func (t *jobRun) endsPlan(c store.Change) bool {
	return !t.runs(c.Status) && (c.Status.State != fsm.Paused || len(c.Entries) == 0)
}

// goesOn reports whether the job runs the next plan too. A plan that may take longer than this one or begins later gets a job
// of its own. So does what others have planned: without entries, the change is that of a late job.
func (t *jobRun) goesOn(c store.Change) bool {
	next, now := c.Status.Plan, time.Now()
	return next.Key != "" && len(c.Entries) > 0 && next.Timeout <= t.job.Args.Timeout && !next.NotBefore.After(now) && now.Before(t.until)
}

// jobRunFor returns the job run that commits c, or nil if there is none or its job is completed.
func jobRunFor(ctx context.Context, c store.Change) *jobRun {
	t, _ := ctx.Value(jobRunKey{}).(*jobRun)
	if t == nil || t.job.Args.Debate != c.ID || t.completed.Load() {
		return nil
	}
	return t
}
