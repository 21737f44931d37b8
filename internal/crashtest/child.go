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

// ChildConfig are what a child is told.
type ChildConfig struct {
	Run          int    // its number
	Ledger       string // the file
	StoreAddress string // of the place that keeps the debates
	Point        string // where it is to kill itself; empty: it is killed from outside
	Visit        int64  // the how manieth time that it comes there
	Finish       bool   // to finish the debates that there are, and begin no new one
}

// configVariable is where a child finds its orders.
const configVariable = "DEBATE_CRASH_ORDERS"

// Child is a process that is going to be killed.
type Child struct {
	ChildConfig
	ledger ledger
	times  atomic.Int64
}

// ChildFromEnv is the child that this process is; nil: it is none. A TestMain asks before it runs tests.
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
	go func() { // where the parent is gone
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return c
}

// Must ends the child with an error that the parent shows.
func (c *Child) Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *Child) writeLedger(words ...any) { c.Must(c.ledger.append(c.Run, words...)) }

// ReachPoint kills the process where this is its point and its time has come.
func (c *Child) ReachPoint(point string) {
	if point == "" || point != c.Point || c.times.Add(1) != c.Visit {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	c.Must(err)
	c.Must(self.Kill())
	select {} // the signal is on its way
}

// watchableStore is what a store has to be.
type watchableStore interface {
	store.Store
	store.Watcher
}

// Store writes down what s acknowledges, and is a point before and after each commit.
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

// Schedules implements store.Scheduler as the store does.
func (n *ledgerStore) Schedules() bool {
	s, ok := n.watchableStore.(store.Scheduler)
	return ok && s.Schedules()
}

// Models are the child's: they say what an undisturbed debate's say.
func (c *Child) Models() map[string]providers.Provider {
	return map[string]providers.Provider{"m": c}
}

// Generate implements providers.Provider. The model's name is the debate and who speaks.
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

// DigestModel is a model whose answer is a digest of all that it was asked.
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
	b, _ := json.Marshal(v) // plain structs always encode
	return string(b)
}

// NewConfig is the configuration of a debate: A and B for three rounds, judged, one after the other or, where the id begins
// with an "s", both at the same time.
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

// NewID is an id of one of the two kinds.
func NewID() string { return fmt.Sprintf("%c%016x", "ds"[rand.IntN(2)], rand.Uint64()) }

// concurrentDebates is how many debates a child drives at the same time.
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
