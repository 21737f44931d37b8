package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
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

// configVariable is the environment variable with a child's configuration.
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
	for _, e := range ch.Entries {
		n.child.writeLedger("ack", ch.ID, e.Seq, e.Key)
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
	resp, err := DigestModel(time.Duration(rand.IntN(3000))*time.Microsecond).Generate(ctx, r)
	c.ReachPoint("answered")
	return resp, err
}

// DigestModel returns a model that answers each request with a digest of the whole request.
func DigestModel(latency time.Duration) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: answer(r), Chunks: 3, Latency: latency}
	}}
}

func answer(r providers.Request) string {
	h := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintf(h, "%s|%s\n", m.Role, m.Text)
	}
	var v any
	switch r.SchemaName {
	case judge.AssessmentContract.Name():
		v = judge.Assessment{
			ShouldContinue: true, Quality: 5, Reasoning: fmt.Sprint(h.Sum64()),
			Participants: []judge.ParticipantAssessment{{Name: "A", Criteria: judge.Rubric(nil).UniformScores(5)}, {Name: "B", Criteria: judge.Rubric(nil).UniformScores(6)}},
		}
	case judge.VerdictContract.Name():
		v = judge.Verdict{Summary: fmt.Sprint(h.Sum64()), Quality: 50}
	default:
		return fmt.Sprintf("%016x", h.Sum64())
	}
	b, _ := json.Marshal(v) // cannot fail for these structs
	return string(b)
}

// NewConfig returns the configuration of a judged debate of A and B over three rounds. It is sequential, or
// simultaneous if the ID begins with "s".
func NewConfig(id string) debate.Config {
	p := panel.Protocol{}
	if strings.HasPrefix(id, "s") {
		p.Mode = panel.Simultaneous
	}
	who := func(name string) debate.Participant {
		return debate.Participant{Name: name, Provider: "m", Model: id + "/" + name}
	}
	return debate.Config{
		ID: id, Topic: "Is it there still?", Protocol: p,
		Participants: []debate.Participant{who("A"), who("B")}, Judges: []debate.Participant{who("J")},
		Limits: debate.Limits{MaxRounds: 3, StepTimeout: time.Second},
	}
}

// NewID returns a random ID of one of the two kinds.
func NewID() string { return fmt.Sprintf("%c%016x", "ds"[rand.IntN(2)], rand.Uint64()) }

// concurrentDebates is the number of debates that a child runs concurrently.
const concurrentDebates = 4

// RunDebates runs the debates that have not ended, and then new ones, until the process is killed.
func (c *Child) RunDebates(s watchableStore) {
	ctx := context.Background()
	e, err := debate.NewEngine(debate.Options{Store: c.Store(s), Providers: c.Models()})
	c.Must(err)
	work := make(chan *debate.Debate)
	var all sync.WaitGroup
	for range concurrentDebates {
		all.Go(func() {
			for d := range work {
				for _, err := range d.Run(ctx) {
					c.Must(err)
				}
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
