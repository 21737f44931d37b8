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

// jobArgs are the arguments of a job, which runs one plan of one debate. While a job for a plan is waiting or running,
// no second one is inserted. After it has ended, either the plan is done, or someone calls Start again.
type jobArgs struct {
	Debate  string        `json:"debate" river:"unique"`
	Created time.Time     `json:"created" river:"unique"` // tells a debate from a deleted one with the same ID
	Plan    string        `json:"plan" river:"unique"`
	Timeout time.Duration `json:"timeout"` // in nanoseconds
}

// matches reports whether h has the plan of these arguments.
func (p jobArgs) matches(h store.Status) bool {
	return p.Plan == h.Plan.Key && p.Created.Equal(h.Created)
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
	completed atomic.Bool // a commit has completed the job
}

type jobRunKey struct{}

// completesWith reports whether the job is done with a change. If the debate is paused, some of its calls may still be
// in progress, and the job lasts until they have finished.
func (t *jobRun) completesWith(c store.Change) bool {
	return !t.job.Args.matches(c.Status) && (c.Status.State != fsm.Paused || len(c.Entries) == 0)
}

// jobRunFor returns the job run that commits c, or nil if there is none or its job is completed.
func jobRunFor(ctx context.Context, c store.Change) *jobRun {
	t, _ := ctx.Value(jobRunKey{}).(*jobRun)
	if t == nil || t.job.Args.Debate != c.ID || t.completed.Load() {
		return nil
	}
	return t
}
