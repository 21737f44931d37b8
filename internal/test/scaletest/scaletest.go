// Package scaletest measures stores that hold many debates.
package scaletest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Sizes of the store. The environment variables in brackets change them. The defaults are small, so that the benchmarks show
// that they work; make proofs ONLY=scale sets large ones.
var (
	debates  = size("DEBATE_SCALE_DEBATES", 200)   // debates with a whole journal
	statuses = size("DEBATE_SCALE_STATUSES", 1000) // all debates; those without a whole journal have one entry
	rounds   = size("DEBATE_SCALE_ROUNDS", 1000)   // rounds of the long debate, each of which has eight entries
	writers  = 8                                   // goroutines that fill the store
)

func size(variable string, small int) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return small
	}
	return n
}

// page is the number of debates in a page of a list.
const page = 50

// Bench fills s, which must be empty, and measures pages of lists for each filter, counts, opening a debate, commits while
// old debates are deleted, and a long journal. size returns the size of the database in bytes.
func Bench(b *testing.B, s store.Store, size func() int64) {
	f := newFixture(b)
	start := time.Now()
	f.fill(b, s)
	took := time.Since(start).Seconds()
	b.Run("fill", func(b *testing.B) {
		for b.Loop() { // the store is filled once
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(statuses)/took, "debates/s")
		b.ReportMetric(float64(size())/1e6, "MB")
		f.report(b)
	})
	for _, q := range f.queries() {
		b.Run("list/"+q.name, func(b *testing.B) { benchList(b, s, q.query) })
	}
	b.Run("count/all", func(b *testing.B) { benchCount(b, s, store.Query{}) })
	b.Run("count/label", func(b *testing.B) { benchCount(b, s, store.Query{Labels: map[string]string{"team": "7"}}) })
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			_, entries, err := s.Load(context.Background(), id(rand.IntN(debates)), 0)
			require.NoError(b, err)
			require.Len(b, entries, len(f.entries))
		}
	})
	b.Run("open", func(b *testing.B) { f.benchOpen(b, s, func() string { return id(rand.IntN(debates)) }) })
	b.Run("handle", func(b *testing.B) { benchHandles(b, s) })
	b.Run("commit/alone", func(b *testing.B) { f.benchCommits(b, s, func(context.Context) int { return 0 }) })
	b.Run("commit/while-deleting", func(b *testing.B) { f.benchCommits(b, s, f.deleter(b, s)) })
	long := f.long(b, s)
	b.Run("long/load", func(b *testing.B) {
		for b.Loop() {
			_, entries, err := s.Load(context.Background(), long, 0)
			require.NoError(b, err)
			b.ReportMetric(float64(len(entries)), "entries")
		}
	})
	b.Run("long/open", func(b *testing.B) { f.benchOpen(b, s, func() string { return long }) })
}

// fixture holds the journal that every debate of the store has.
type fixture struct {
	status  store.Status
	entries []store.Entry
	created time.Time // of the first debate
	commits int       // that the debate has made
}

// template is the ID of the debate in entries. It is as long as all other IDs.
var template = id(99_999_999)

// id returns the ID of debate n.
func id(n int) string { return fmt.Sprintf("scale-%08d", n) }

// newFixture holds a debate of nine rounds. It has 79 entries, of which 28 are turns, with replies of about 300 tokens.
func newFixture(b *testing.B) *fixture {
	b.Helper()
	s := &counted{Store: store.Memory()}
	f := &fixture{created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	hold(b, newEngine(b, s), template, 9)
	f.commits = int(s.commits.Load())
	status, entries, err := s.Load(context.Background(), template, 0)
	require.NoError(b, err)
	f.status = status
	for _, e := range entries {
		data, err := json.Marshal(e.Data)
		require.NoError(b, err)
		e.Data = json.RawMessage(data)
		f.entries = append(f.entries, e)
	}
	return f
}

// counted counts the commits of a store.
type counted struct {
	store.Store

	commits atomic.Int64
}

func (s *counted) Commit(ctx context.Context, c store.Change) error {
	s.commits.Add(1)
	return s.Store.Commit(ctx, c)
}

// report reports what each debate with a whole journal has.
func (f *fixture) report(b *testing.B) {
	turns, size := 0, 0
	for _, e := range f.entries {
		size += len(e.Data.(json.RawMessage))
		if e.Type == "turn" {
			turns++
		}
	}
	b.ReportMetric(float64(len(f.entries)), "entries/debate")
	b.ReportMetric(float64(turns), "turns/debate")
	b.ReportMetric(float64(size)/1000, "kB-JSON/debate")
	b.ReportMetric(float64(f.commits), "commits/debate")
}

// newEngine returns an engine whose model answers at once.
func newEngine(b *testing.B, s store.Store) *debate.Engine {
	b.Helper()
	speech := strings.Repeat("A closed centre is a quiet centre, and trade follows people. ", 20)
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		if r.Schema != nil {
			return scripted.Values{}.Reply(r)
		}
		return scripted.Reply{Text: speech}
	}}
	e, err := debate.NewEngine(debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}})
	require.NoError(b, err)
	return e
}

// hold holds a debate of two participants and a judge in the given number of rounds.
func hold(b *testing.B, e *debate.Engine, id string, rounds int) {
	b.Helper()
	ctx := context.Background()
	member := func(name string) debate.Participant {
		return debate.Participant{Name: name, Provider: "m", Window: 8000, MaxTokens: 1000}
	}
	d, err := e.Create(ctx, debate.Config{
		ID: id, Topic: "Should cities ban cars?", Protocol: panel.Protocol{Format: panel.RoundLimited},
		Participants: []debate.Participant{member("Ann"), member("Bob")}, Judges: []debate.Participant{member("Cem")},
		Limits: debate.Limits{MaxRounds: rounds, OutputTokens: 1 << 50, RunningTime: 1 << 54},
	})
	require.NoError(b, err)
	for _, err := range d.Run(ctx) {
		require.NoError(b, err)
	}
}

// fill commits the debates of the store, several at once.
func (f *fixture) fill(b *testing.B, s store.Store) {
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := w; n < statuses && !b.Failed(); n += writers {
				if err := s.Commit(context.Background(), f.change(n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// change returns the change that creates debate n. One debate in 1,000 is in error, one in 100 is a fork, and each belongs to
// one of 100 teams.
func (f *fixture) change(n int) store.Change {
	h := f.status
	h.ID, h.Created = id(n), f.created.Add(time.Duration(n)*time.Second)
	h.Updated = h.Created.Add(time.Minute)
	h.Labels = map[string]string{"team": strconv.Itoa(n % 100)}
	if n%1000 == 0 {
		h.State, h.FailureKind = fsm.Error, "rate_limit"
	}
	if n%1000 == 1 {
		h.State, h.Waiting = fsm.Paused, []string{"Judy"}
	}
	if n%100 == 2 {
		h.Parent = transcript.Parent{ID: id(n / 10000)}
	}
	entries := slices.Clone(f.entries)
	if n >= debates {
		entries = entries[:1]
	}
	for i := range entries {
		entries[i].Data = json.RawMessage(bytes.ReplaceAll(entries[i].Data.(json.RawMessage), []byte(template), []byte(h.ID)))
	}
	h.Seq = int64(len(entries))
	return store.Change{ID: h.ID, Entries: entries, Status: h}
}

// A named query.
type named struct {
	name  string
	query store.Query
}

// queries returns a query for the first page of each filter, and some for a page in the middle.
func (f *fixture) queries() []named {
	recent := f.created.Add(time.Duration(statuses-page/2) * time.Second).Add(time.Minute)
	middle := store.Query{CreatedBefore: f.created.Add(time.Duration(statuses/2) * time.Second), BeforeID: id(statuses / 2)}
	with := func(q store.Query, set func(q *store.Query)) store.Query { set(&q); return q }
	var list []named
	for _, at := range []named{{"first", store.Query{}}, {"middle", middle}} {
		list = append(list,
			named{at.name + "/all", at.query},
			named{at.name + "/common-state", with(at.query, func(q *store.Query) { q.States = []fsm.State{fsm.Completed} })},
			named{at.name + "/rare-state", with(at.query, func(q *store.Query) { q.States = []fsm.State{fsm.Error} })},
			named{at.name + "/outcome", with(at.query, func(q *store.Query) { q.Outcomes = []transcript.Outcome{f.status.Ending.Outcome} })},
			named{at.name + "/failure", with(at.query, func(q *store.Query) { q.FailureKinds = []string{"rate_limit"} })},
			named{at.name + "/label", with(at.query, func(q *store.Query) { q.Labels = map[string]string{"team": "7"} })},
			named{at.name + "/waiting", with(at.query, func(q *store.Query) { q.Waiting = "Judy" })},
			named{at.name + "/parent", with(at.query, func(q *store.Query) { q.Parent = id(0) })},
			named{at.name + "/updated", with(at.query, func(q *store.Query) { q.UpdatedBefore = f.created.Add(time.Duration(statuses/4) * time.Second) })},
			named{at.name + "/updated-since", with(at.query, func(q *store.Query) { q.UpdatedSince = recent })}, // less than a page: it reads all debates
			named{at.name + "/state-and-label", with(at.query, func(q *store.Query) {
				q.States, q.Labels = []fsm.State{fsm.Error}, map[string]string{"team": "0"}
			})},
		)
	}
	return list
}

func benchList(b *testing.B, s store.Store, q store.Query) {
	q.Limit = page
	n := 0
	for b.Loop() {
		n = 0
		for _, err := range s.List(context.Background(), q) {
			require.NoError(b, err)
			n++
		}
	}
	b.ReportMetric(float64(n), "debates")
}

func benchCount(b *testing.B, s store.Store, q store.Query) {
	for b.Loop() {
		counts, err := s.Count(context.Background(), q)
		require.NoError(b, err)
		require.NotEmpty(b, counts)
	}
}

// benchOpen opens debates and reads their results.
func (f *fixture) benchOpen(b *testing.B, s store.Store, id func() string) {
	e := newEngine(b, s)
	for b.Loop() {
		d, err := e.Open(context.Background(), id())
		require.NoError(b, err)
		_, err = d.Result(context.Background())
		require.NoError(b, err)
	}
}

// benchHandles measures the memory of debates that are open.
func benchHandles(b *testing.B, s store.Store) {
	e := newEngine(b, s)
	list := make([]*debate.Debate, min(debates, 200))
	for b.Loop() {
		clear(list)
		before := heap()
		for n := range list {
			d, err := e.Open(context.Background(), id(n))
			require.NoError(b, err)
			list[n] = d
		}
		b.ReportMetric(float64(heap()-before)/1000/float64(len(list)), "kB/handle")
	}
	runtime.KeepAlive(list)
}

// heap returns the bytes that the heap holds.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// benchCommits measures how long commits of one turn take, one after the other, while meanwhile runs.
func (f *fixture) benchCommits(b *testing.B, s store.Store, meanwhile func(context.Context) (deleted int)) {
	ctx, stop := context.WithCancel(context.Background())
	var other sync.WaitGroup
	deleted := 0
	other.Go(func() { deleted = meanwhile(ctx) })
	h := f.status
	h.ID = "commits-" + strconv.FormatUint(rand.Uint64(), 36)
	h.Created = time.Now().UTC()
	h.Updated = time.Now().UTC()
	h.Labels = nil
	turn := f.entries[1]
	var took []time.Duration
	for b.Loop() {
		turn.Seq, turn.Key = h.Seq-f.status.Seq+1, fmt.Sprint("turn ", h.Seq)
		c := store.Change{ID: h.ID, After: turn.Seq - 1, Entries: []store.Entry{turn}, Status: h}
		c.Status.Seq = turn.Seq
		start := time.Now()
		require.NoError(b, s.Commit(context.Background(), c))
		took = append(took, time.Since(start))
		h.Seq++
	}
	rate := b.Elapsed().Seconds()
	stop()
	other.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(float64(deleted)/rate, "deleted/s")
}

// deleter returns a function that deletes completed debates, oldest first, in batches, until its context ends.
func (f *fixture) deleter(b *testing.B, s store.Store) func(context.Context) int {
	const batch = 1000
	until := f.created
	return func(ctx context.Context) (deleted int) {
		for ctx.Err() == nil {
			until = until.Add(batch * time.Second)
			q := store.Query{States: []fsm.State{fsm.Completed}, CreatedBefore: until}
			n, err := q.Delete(ctx, s)
			if err != nil && ctx.Err() == nil {
				b.Error(err)
				return deleted
			}
			deleted += n
		}
		return deleted
	}
}

// long holds a debate with a long journal and returns its ID.
func (f *fixture) long(b *testing.B, s store.Store) string {
	b.Helper()
	const long = "long"
	memory := store.Memory()
	hold(b, newEngine(b, memory), long, rounds)
	h, entries, err := memory.Load(context.Background(), long, 0)
	require.NoError(b, err)
	require.NoError(b, s.Commit(context.Background(), store.Change{ID: long, Entries: entries, Status: h}))
	return long
}
