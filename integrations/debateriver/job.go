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

// plan is the arguments of a job: one plan of one debate. Where a job of a plan is waiting or running no second one is
// inserted; where it has ended, the plan has, or somebody asks for the debate to go on.
type plan struct {
	Debate  string        `json:"debate" river:"unique"`
	Created time.Time     `json:"created" river:"unique"` // the debate: one under the id of a deleted one is another
	Plan    string        `json:"plan" river:"unique"`
	Within  time.Duration `json:"within"` // in nanoseconds
}

// of says whether a head's plan is this one.
func (p plan) of(h store.Head) bool { return p.Plan == h.Plan.Key && p.Created.Equal(h.Created) }

// Kind implements river.JobArgs.
func (plan) Kind() string { return "debate_plan" }

// maxAttempts is how often a job is tried: a database that fails for more than a day ends it, and Start makes a new
// one. A debate's own failures are none of the job's.
const maxAttempts = 2000

// active are the states of a job that is still to do its plan.
var active = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// task is the job that a commit's context works for.
type task struct {
	job  *river.Job[plan]
	done atomic.Bool // it was completed together with a commit
}

type taskKey struct{}

// ends says whether the job is done with a change. Where somebody has paused the debate, calls of it may be in flight:
// it lasts until they have come down.
func (t *task) ends(c store.Change) bool {
	return !t.job.Args.of(c.Head) && (c.Head.State != fsm.Paused || len(c.Entries) == 0)
}

// taskOf is the job that a change is made for, until it is done; nil: it is made for none.
func taskOf(ctx context.Context, c store.Change) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	if t == nil || t.job.Args.Debate != c.ID || t.done.Load() {
		return nil
	}
	return t
}
