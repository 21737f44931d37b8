package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
)

// ChildConfig is the configuration of a child process.
type ChildConfig struct {
	Run          int    // number of the child
	Ledger       string // path of the ledger
	StoreAddress string // address of the store
	Point        string // point at which the child kills itself; empty if it is killed from outside
	Visit        int64  // number of the visit to Point at which the child kills itself
	Finish       bool   // finish the existing debates and start no new one
}

// configVariable names the environment variable with a child's configuration.
const configVariable = "DEBATE_CRASH_ORDERS"

// Child is a process that will be killed.
type Child struct {
	ChildConfig
	ledger ledger
	times  atomic.Int64
}

// ChildFromEnv returns the Child that this process is, or nil if it is none. Call it in TestMain before running tests.
func ChildFromEnv() *Child {
	text := os.Getenv(configVariable)
	if text == "" {
		return nil
	}
	c := &Child{}
	err := json.Unmarshal([]byte(text), &c.ChildConfig)
	if err == nil {
		c.ledger, err = openLedger(c.Ledger)
	}
	c.Must(err)
	go func() { // ends this process if the parent is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return c
}

// Must ends the child if err is not nil. The parent shows the error.
func (c *Child) Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *Child) writeLedger(words ...any) { c.Must(c.ledger.append(c.Run, words...)) }

// ReachPoint kills the process if point is its configured point and this is the configured visit.
func (c *Child) ReachPoint(point string) {
	if point == "" || point != c.Point || c.times.Add(1) != c.Visit {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	c.Must(err)
	c.Must(self.Kill())
	select {} // wait for the signal
}

// watchableStore is a store for trials.
type watchableStore interface {
	store.Store
	store.Watcher
}

// Store wraps s. It records the commits that s acknowledges, and reaches a point before and after each commit.
func (c *Child) Store(s watchableStore) store.Store { return &ledgerStore{watchableStore: s, child: c} }

type ledgerStore struct {
	watchableStore
	child *Child
}

func (n *ledgerStore) Commit(ctx context.Context, ch store.Change) error {
	n.child.ReachPoint("committing")
	if err := n.watchableStore.Commit(ctx, ch); err != nil {
		return err
	}
	n.child.ReachPoint("committed")
	for i := range ch.Entries {
		e := &ch.Entries[i]
		n.child.writeLedger("ack", ch.ID, e.Seq, e.Key)
		if round, ok := roundOf(e); ok {
			n.child.writeLedger("round", ch.ID, round.Key.Actor)
			for _, c := range round.Calls {
				n.child.writeLedger("result", ch.ID, c.ID)
			}
		}
	}
	n.child.ReachPoint("acknowledged")
	return nil
}

// Schedules implements store.Scheduler. It returns what the wrapped store returns.
func (n *ledgerStore) Schedules() bool {
	s, ok := n.watchableStore.(store.Scheduler)
	return ok && s.Schedules()
}

// Models returns the child's models. They give the same replies as those of an undisturbed debate.
func (c *Child) Models() map[string]providers.Provider {
	return map[string]providers.Provider{"m": c}
}

// Generate implements providers.Provider. The model's name consists of the debate's ID and the speaker.
func (c *Child) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	id, actor, _ := strings.Cut(r.Model, "/")
	c.writeLedger("call", id, actor)
	c.ReachPoint("called")
	show := r.OnChunk
	r.OnChunk = func(text string) error {
		c.ReachPoint("streaming")
		return show(text)
	}
	if kind := c.failure(); kind != "" {
		c.writeLedger("failed", id, actor)
		return providers.Response{}, &providers.Error{Kind: kind, Err: errors.New("the test fails some calls")}
	}
	resp, err := DigestModel(time.Duration(rand.IntN(3000))*time.Microsecond).Generate(ctx, r)
	if err != nil { // the call was canceled, because another step has stopped the debate
		c.writeLedger("failed", id, actor)
	}
	c.ReachPoint("answered")
	return resp, err
}

// Tools returns the tools of the child. It records each call that runs, and reaches points before and after that.
func (c *Child) Tools() []tool.Tool {
	return []tool.Tool{newTool(func(ctx context.Context, id string) {
		s, _ := debate.StepFrom(ctx)
		c.ReachPoint("calling-tool")
		c.writeLedger("tool", s.Debate, id)
		c.ReachPoint("tool-called")
	})}
}

// failure returns the kind of failure of a call, or "" for most calls. Some failures are retried at once, and others
// stop the debate or ask a question.
func (c *Child) failure() providers.ErrorKind {
	switch rand.IntN(80) {
	case 0:
		return providers.ServerError
	case 1:
		return providers.Authentication
	}
	return ""
}

// Disturb sometimes pauses a debate. Otherwise it replies for people, and makes the debate runnable if a question, a
// failure or a pause has stopped it.
func (c *Child) Disturb(ctx context.Context, d *debate.Debate) error {
	r, err := d.Result(ctx)
	if err != nil {
		return err
	}
	if hasPeople(d.ID()) && (!r.State.Active() || rand.IntN(2) == 0) {
		if err := enginetest.ReplyForPeople(ctx, d, NewConfig(d.ID())); err != nil {
			return err
		}
		r, err = d.Result(ctx)
		if err != nil {
			return err
		}
	}
	status, err := d.Status(ctx)
	if err != nil {
		return err
	}
	switch {
	case !c.Finish && isSteered(d.ID()) && (rand.IntN(6) == 0 || r.State == fsm.Error && rand.IntN(2) == 0):
		err = c.steer(ctx, d, r.State)
	case r.State == fsm.Paused && len(status.Waiting) > 0: // it replies at the next call
	case r.Question != nil:
		c.writeLedger("stopped", d.ID(), "question")
		err = d.Decide(ctx, r.Question.ID, "retry")
	case r.State == fsm.Paused:
		c.writeLedger("stopped", d.ID(), "pause")
		err = d.Resume(ctx)
	case r.State == fsm.Error:
		c.writeLedger("stopped", d.ID(), "error")
		err = d.Retry(ctx)
	case !c.Finish && r.State.Active() && rand.IntN(15) == 0:
		err = d.Pause(ctx)
	}
	if err == nil {
		return nil
	}
	if now, again := d.Result(ctx); again == nil && (now.State != r.State || now.Question != r.Question) {
		return nil // the debate, or another process, was faster
	}
	return err
}

// steer changes the course of a debate. It records what it tries, and what the store has acknowledged.
func (c *Child) steer(ctx context.Context, d *debate.Debate, state fsm.State) error {
	id, word := d.ID(), fmt.Sprintf("%016x", rand.Uint64())
	controls := map[string]func() error{
		"inject": func() error { return d.Inject(ctx, debate.Remark{From: "Zoe", Text: word}) },
		"stop":   func() error { return d.Stop(ctx) },
		"cancel": func() error { return d.Cancel(ctx) },
		"reset":  func() error { return d.Reset(ctx) },
		"edit": func() error {
			cfg := NewConfig(id)
			cfg.Topic = word
			return d.Edit(ctx, cfg)
		},
	}
	control := "inject"
	switch n := rand.IntN(20); {
	case state == fsm.Configuring:
		control = "edit"
	case state == fsm.Error:
		control = "reset"
	case n == 0:
		control = "cancel"
	case n < 3:
		control = "stop"
	}
	c.writeLedger("try", id, control, word)
	err := controls[control]()
	if _, refused := errors.AsType[*fsm.Refused](err); refused { // the debate has gone on meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	if control == "stop" {
		status, err := d.Status(ctx)
		if err != nil {
			return err
		}
		word = strconv.Itoa(status.Cursor.Round) // no round begins any more
	}
	c.writeLedger("done", id, control, word)
	if control == "reset" {
		return c.steer(ctx, d, fsm.Configuring)
	}
	return nil
}

// concurrentDebates is the number of debates that a child runs concurrently.
const concurrentDebates = 4

// run runs a debate to its end, and disturbs it.
func (c *Child) run(ctx context.Context, d *debate.Debate) {
	for final := false; !final; {
		for ev, err := range d.Run(ctx) {
			if _, failed := errors.AsType[*debate.Failure](err); !failed {
				c.Must(err)
			}
			if _, turn := ev.(debate.TurnDone); turn {
				c.Must(c.Disturb(ctx, d))
			}
		}
		status, err := d.Status(ctx)
		c.Must(err)
		final = status.State.Final()
		if !final {
			c.Must(c.Disturb(ctx, d))
		}
	}
}

// RunDebates runs the debates that have not ended, and then new ones, until the process is killed.
func (c *Child) RunDebates(s watchableStore) {
	ctx := context.Background()
	e, err := debate.NewEngine(debate.Options{Store: c.Store(s), Providers: c.Models(), Tools: c.Tools()})
	c.Must(err)
	work := make(chan *debate.Debate)
	var all sync.WaitGroup
	for range concurrentDebates {
		all.Go(func() {
			for d := range work {
				c.run(ctx, d)
			}
		})
	}
	for h, err := range s.List(ctx, store.Query{}) {
		c.Must(err)
		if !h.State.Final() {
			d, err := e.Open(ctx, h.ID)
			c.Must(err)
			work <- d
		}
	}
	for !c.Finish {
		d, err := e.Create(ctx, NewConfig(NewID()))
		c.Must(err)
		work <- d
	}
	close(work)
	all.Wait()
	select {} // until the parent closes standard input
}
