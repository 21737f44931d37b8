package engines

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/drivetest"
	"github.com/elenchus-go/debate/store"
)

// wake is the signal that a debate may have something to do. Send it with SignalWithStartWorkflow, and the debate's id as the
// id of the workflow, after Create and after each control.
const wake = "wake"

// Drive is the workflow. It ends when there is nothing to do, so a debate that waits for a person costs nothing.
func Drive(ctx workflow.Context, id string) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour,        // above the timeout of the debate's steps
		HeartbeatTimeout:    30 * time.Second, // after which another worker gets the activity of a killed one
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, MaximumInterval: time.Minute,
			MaximumAttempts: math.MaxInt32, // a server has no limit without it, but the environment for tests takes 10
		},
	})
	signals := workflow.GetSignalChannel(ctx, wake)
	for {
		more := false
		if err := workflow.ExecuteActivity(ctx, "Do", id).Get(ctx, &more); err != nil {
			return err
		}
		if !more && !signals.ReceiveAsync(nil) {
			return nil
		}
	}
}

// temporalServer stands for a server and its task queue: the SDK's environment for tests runs one workflow.
type temporalServer struct {
	workers chan *temporalWorker // one for each worker

	mu      sync.Mutex
	running map[string]*temporalRun // by debate
	closed  chan struct{}
	ended   sync.WaitGroup
}

// temporalRun is a workflow that runs.
type temporalRun struct {
	*testsuite.TestWorkflowEnvironment
	started  chan struct{} // closed when it takes signals
	signaled bool
}

type temporalWorker struct {
	engine *debate.Engine
	ctx    context.Context
	busy   sync.WaitGroup
}

// do runs the next plan of a debate, as the activity. It sends heartbeats meanwhile.
func (w *temporalWorker) do(ctx context.Context, id string) (bool, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	go func() {
		beat := time.NewTicker(10 * time.Second)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				activity.RecordHeartbeat(ctx)
			case <-within.Done():
				return
			}
		}
	}()
	return do(within, w.engine, id)
}

// do gives the activity to the next worker. Workers that are killed take no further one. They report nothing: a server gives their
// activity to another worker when their heartbeats have ended.
func (s *temporalServer) do(ctx context.Context, id string) (bool, error) {
	for {
		select {
		case <-s.closed:
			return false, temporal.NewNonRetryableApplicationError("the test has ended", "", nil)
		case w := <-s.workers:
			if w.ctx.Err() != nil {
				continue
			}
			w.busy.Add(1)
			s.workers <- w
			more, err := w.do(ctx, id)
			w.busy.Done()
			if w.ctx.Err() == nil {
				return more, err
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// drive sends the signal, and starts the workflow unless it runs, like SignalWithStartWorkflow.
func (s *temporalServer) drive(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.running[id]; r != nil {
		<-r.started
		r.SignalWorkflow(wake, nil)
		r.signaled = true
		return
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	r := &temporalRun{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), started: make(chan struct{})}
	r.SetTestTimeout(10 * time.Minute)
	// A server has no limit. Here the clock skips the waits between tries, so that a day passes in some milliseconds.
	r.SetWorkflowRunTimeout(100 * 365 * 24 * time.Hour)
	r.RegisterActivityWithOptions(s.do, activity.RegisterOptions{Name: "Do"})
	started := sync.OnceFunc(func() { close(r.started) })
	r.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { started() })
	s.running[id] = r
	s.ended.Go(func() {
		r.ExecuteWorkflow(Drive, id)
		s.mu.Lock()
		delete(s.running, id)
		again := r.signaled // this environment loses a signal that comes while the workflow ends; a server does not
		s.mu.Unlock()
		if again {
			s.drive(id)
		}
	})
}

func TestTemporal(t *testing.T) {
	drivetest.Run(t, func(t testing.TB) drivetest.System {
		memory := store.Memory()
		s := &temporalServer{running: map[string]*temporalRun{}, workers: make(chan *temporalWorker, 100), closed: make(chan struct{})}
		t.Cleanup(func() {
			close(s.closed)
			s.ended.Wait()
		})
		return drivetest.System{
			Store: memory,
			Start: func(t testing.TB, o debate.Options) drivetest.Process {
				ctx, kill := context.WithCancel(context.Background())
				w := &temporalWorker{engine: newEngine(t, o, memory), ctx: ctx}
				s.workers <- w
				return drivetest.Process{Kill: func() {
					kill()
					w.busy.Wait()
				}}
			},
			Drive: func(_ testing.TB, id string) { s.drive(id) },
		}
	})
}
