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

// Queue is the River queue of all debates' jobs.
const Queue = "debates"

// jobArgs is the arguments of a job: one jobArgs of one debate. Where a job of a jobArgs is waiting or running no second one is
// inserted; where it has ended, the jobArgs has, or somebody asks for the debate to go on.
type jobArgs struct {
	Debate  string        `json:"debate" river:"unique"`
	Created time.Time     `json:"created" river:"unique"` // the debate: one under the id of a deleted one is another
	Plan    string        `json:"plan" river:"unique"`
	Timeout time.Duration `json:"timeout"` // in nanoseconds
}

// matches says whether a head's plan is this one.
func (p jobArgs) matches(h store.Status) bool {
	return p.Plan == h.Plan.Key && p.Created.Equal(h.Created)
}

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return "debate_plan" }

// maxAttempts is how often a job is tried: a database that fails for more than a day ends it, and Start makes a new
// one. A debate's own failures are none of the job's.
const maxAttempts = 2000

// activeStates are the states of a job that is still to do its plan.
var activeStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// jobRun is the job that a commit's context works for.
type jobRun struct {
	job       *river.Job[jobArgs]
	completed atomic.Bool // it was completed together with a commit
}

type jobRunKey struct{}

// completesWith says whether the job is done with a change. Where somebody has paused the debate, calls of it may be in flight:
// it lasts until they have come down.
func (t *jobRun) completesWith(c store.Change) bool {
	return !t.job.Args.matches(c.Status) && (c.Status.State != fsm.Paused || len(c.Entries) == 0)
}

// jobRunFor is the job that a change is made for, until it is done; nil: it is made for none.
func jobRunFor(ctx context.Context, c store.Change) *jobRun {
	t, _ := ctx.Value(jobRunKey{}).(*jobRun)
	if t == nil || t.job.Args.Debate != c.ID || t.completed.Load() {
		return nil
	}
	return t
}
