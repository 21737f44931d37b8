// Package drivetest tests programs that drive debates with Debate.RunOnce: queues, schedulers and engines of workflows. A
// [System] is correct if [Run] passes. docs/reliability.md says what such a program must do.
//
//	func TestMyQueue(t *testing.T) {
//		drivetest.Run(t, func(t testing.TB) drivetest.System { return newSystem(t) })
//	}
//
// Run tests that debates end, that a process may die, that several processes may drive a debate, that signals may come late,
// that nobody needs to wait for a person, and that debates wait for a process that has what they need.
package drivetest

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// System is a program that drives debates, under test. It has a store of its own.
type System struct {
	// Store holds the debates. It must keep store.Heartbeats, as all stores of the library do.
	Store store.Store
	// Start starts a process that drives debates with an engine made from o. It sets o.Store: to Store, or to a connection
	// of the process to the same database. The process ends with the test at the latest.
	Start func(t testing.TB, o debate.Options) Process
	// Drive tells the system that a debate may have something to do. Run calls it after Create, and after each control that
	// lets a debate go on. It also calls it too often: while the debate is driven, is paused or waits for a person, and after
	// it has ended. No process may be running.
	Drive func(t testing.TB, id string)
	// Sleep lets time pass. If it is nil, the tests that need a day do not wait.
	Sleep func(time.Duration)
}

// Process is a process of a System.
type Process struct {
	// Kill ends the process at once: the contexts of its calls end, and it reports nothing to the system. It returns when its
	// calls have ended. It is called at most once.
	Kill func()
}

// Run tests a system. empty returns one without debates, for one test; it can use t.Cleanup.
func Run(t *testing.T, empty func(t testing.TB) System) {
	for name, test := range Cases(empty) {
		t.Run(name, test)
	}
}

// Cases returns the tests of Run with their names. Use it to run each in a bubble of testing/synctest, with time.Sleep as
// the Sleep of the system.
func Cases(empty func(t testing.TB) System) map[string]func(t *testing.T) {
	cases := map[string]func(t *testing.T){}
	for name, test := range map[string]func(*suite){
		"a debate ends":                                  (*suite).ends,
		"a process is killed":                            (*suite).killed,
		"two processes":                                  (*suite).twoProcesses,
		"no process is running yet":                      (*suite).noProcessYet,
		"a late signal":                                  (*suite).lateSignal,
		"a person answers after a day":                   (*suite).person,
		"a process without the provider":                 (*suite).withoutProvider,
		"a journal of a newer version":                   (*suite).newerVersion,
		"a failed debate is left alone until it retries": (*suite).failure,
		"a rejected configuration":                       (*suite).rejected,
		"a deleted debate":                               (*suite).deleted,
	} {
		cases[name] = func(t *testing.T) {
			s := &suite{T: t, System: empty(t)}
			var err error
			s.client, err = debate.NewEngine(debate.Options{Store: s.Store})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.client.Close(context.Background())) })
			test(s)
		}
	}
	return cases
}

// suite is one test.
type suite struct {
	*testing.T
	System
	client *debate.Engine // controls debates, and cannot drive them: it has no providers
}

// start starts a process with a model.
func (s *suite) start(m *model) Process {
	s.Helper()
	return s.Start(s.T, debate.Options{Providers: map[string]providers.Provider{"m": m}})
}

// create creates a debate and hands it over.
func (s *suite) create(c debate.Config) *debate.Debate {
	s.Helper()
	d, err := s.client.Create(s.Context(), c)
	require.NoError(s, err)
	s.Drive(s.T, d.ID())
	return d
}

// until waits until the stored status of a debate holds. Heartbeats are no events, so Watch does not tell of them.
func (s *suite) until(d *debate.Debate, what string, holds func(store.Status) bool) {
	s.Helper()
	require.Eventually(s, func() bool { return holds(s.status(d)) }, testTimeout, 5*time.Millisecond, what)
}

// status returns the stored status of a debate.
func (s *suite) status(d *debate.Debate) store.Status {
	s.Helper()
	h, _, err := s.Store.Load(s.Context(), d.ID(), math.MaxInt64)
	require.NoError(s, err)
	return h
}

func isIn(state fsm.State) func(store.Status) bool {
	return func(h store.Status) bool { return h.State == state }
}

// requireEnd waits until a debate has ended, and requires that it has the text of an undisturbed one.
func (s *suite) requireEnd(d *debate.Debate, c debate.Config) *debate.Result {
	s.Helper()
	s.until(d, "the debate ends", func(h store.Status) bool { return h.State.Final() })
	r, err := d.Result(s.Context())
	require.NoError(s, err)
	c.ID = d.ID() // it decides the pseudonyms that the judge sees
	require.Equal(s, undisturbed(s.T, c), textOf(r))
	return r
}

func (s *suite) ends() {
	m := &model{}
	s.start(m)
	c := config()
	one, other := s.create(c), s.create(c)
	r := s.requireEnd(one, c)
	s.requireEnd(other, c)
	require.Equal(s, 2*len(r.Turns), m.callCount(), "each step has one call")
}

// The next process makes only the call in flight again.
func (s *suite) killed() {
	m, g := gated("B")
	first := s.start(m)
	c := config()
	d := s.create(c)
	g.wait(s.T)
	first.Kill()
	before := m.callCount()
	g.open()
	s.start(m)
	r := s.requireEnd(d, c)
	require.Equal(s, 2, before, "A's call and B's")
	require.Equal(s, len(r.Turns)+1, m.callCount(), "only B's call is made again")
}

func (s *suite) twoProcesses() {
	s.start(&model{})
	s.start(&model{})
	c := config()
	d := s.create(c)
	for range 3 {
		s.Drive(s.T, d.ID())
	}
	s.requireEnd(d, c)
}

func (s *suite) noProcessYet() {
	c := config()
	d := s.create(c)
	s.start(&model{})
	s.requireEnd(d, c)
}

// A signal may come before the system has noticed the pause, twice, or after the end.
func (s *suite) lateSignal() {
	m, g := gated("B")
	s.start(m)
	c := config()
	d := s.create(c)
	g.wait(s.T)
	require.NoError(s, d.Pause(s.Context()))
	s.Drive(s.T, d.ID())
	g.open()
	s.until(d, "it has paused", isIn(fsm.Paused))
	s.Drive(s.T, d.ID()) // there is nothing to do
	require.NoError(s, d.Resume(s.Context()))
	s.Drive(s.T, d.ID())
	r := s.requireEnd(d, c)
	s.Drive(s.T, d.ID())
	require.Equal(s, len(r.Turns), m.callCount())
}

// While a debate waits for a person, nothing runs. The system goes on when it is told of the reply.
func (s *suite) person() {
	m := &model{}
	s.start(m)
	c := config()
	c.Participants[1] = debate.Participant{Name: "B", Human: true}
	d := s.create(c)
	for round := range c.Limits.MaxRounds {
		s.until(d, "B is asked", func(h store.Status) bool { return len(h.Waiting) == 1 })
		s.Drive(s.T, d.ID()) // there is nothing to do
		if s.Sleep != nil {
			s.Sleep(24 * time.Hour)
		}
		require.Equal(s, 1+2*round, m.callCount(), "calls until B is asked")
		asked, err := d.Waiting(s.Context())
		require.NoError(s, err)
		require.Len(s, asked, 1)
		require.NoError(s, d.Answer(s.Context(), asked[0].Key, "I am B.", "B"))
		s.Drive(s.T, d.ID())
	}
	s.until(d, "the debate ends", isIn(fsm.Completed))
}

// A process that cannot drive a debate leaves it alone, until another one can.
func (s *suite) withoutProvider() {
	other := &model{}
	s.Start(s.T, debate.Options{Providers: map[string]providers.Provider{"other": other}})
	c := config()
	d := s.create(c)
	s.until(d, "the process says what it lacks", func(h store.Status) bool { return len(h.Driver.Missing) > 0 })
	require.LessOrEqual(s, s.status(d).Seq, int64(2), "it is as it was created, or has begun to be checked")
	m := &model{}
	s.start(m)
	s.requireEnd(d, c)
	require.Zero(s, other.callCount())
}

// A journal of a newer version is left alone, and the process goes on with other debates.
func (s *suite) newerVersion() {
	s.start(&model{})
	d, err := s.client.Create(s.Context(), config())
	require.NoError(s, err)
	newer := s.makeNewer(d)
	s.Drive(s.T, d.ID())
	c := config()
	s.requireEnd(s.create(c), c)
	stored := s.status(d)
	stored.Driver = store.Heartbeat{}
	require.Equal(s, newer, stored)
}

// A failure is in the journal. Trying again without being told pays for nothing.
func (s *suite) failure() {
	m := &model{}
	m.refuse("B", &providers.Error{Kind: providers.Authentication})
	s.start(m)
	c := config()
	d := s.create(c)
	s.until(d, "it has failed", isIn(fsm.Error))
	s.Drive(s.T, d.ID())
	if s.Sleep != nil {
		s.Sleep(24 * time.Hour)
	}
	require.Equal(s, 2, m.callCount(), "A's call, and one of B")
	m.refuse("", nil)
	require.NoError(s, d.Retry(s.Context()))
	s.Drive(s.T, d.ID())
	r := s.requireEnd(d, c)
	require.Equal(s, len(r.Turns)+1, m.callCount())
}

// A configuration that the process rejects waits for an edit.
func (s *suite) rejected() {
	m := &model{}
	m.reject(true)
	s.start(m)
	c := config()
	d := s.create(c)
	s.until(d, "it is rejected", func(h store.Status) bool { return len(h.Problems) > 0 })
	require.Zero(s, m.callCount())
	m.reject(false)
	require.NoError(s, d.Edit(s.Context(), c))
	s.Drive(s.T, d.ID())
	s.requireEnd(d, c)
}

func (s *suite) deleted() {
	m, g := gated("B")
	s.start(m)
	gone := s.create(config())
	g.wait(s.T)
	require.NoError(s, s.client.Delete(s.Context(), gone.ID()))
	g.open()
	s.Drive(s.T, gone.ID()) // this must do no harm
	c := config()
	s.requireEnd(s.create(c), c)
	_, _, err := s.Store.Load(s.Context(), gone.ID(), 0)
	require.ErrorIs(s, err, store.ErrNotFound)
}

// makeNewer continues the journal of a debate as a newer version would, and returns its status.
func (s *suite) makeNewer(d *debate.Debate) store.Status {
	s.Helper()
	status, entries, err := s.Store.Load(s.Context(), d.ID(), 0)
	require.NoError(s, err)
	raw, err := json.Marshal(entries[0].Data)
	require.NoError(s, err)
	var configured map[string]any
	require.NoError(s, json.Unmarshal(raw, &configured))
	after := status.Seq
	configured["seq"], configured["format"] = after+1, store.Format+1
	status.Seq = after + 2
	status.Format = store.Format + 1
	status.State = fsm.Validating
	status.Plan = store.Plan{Key: "of a newer version"}
	status.Driver = store.Heartbeat{}
	at := entries[0].At
	entry := func(kind string, data map[string]any) store.Entry {
		raw, err := json.Marshal(data)
		require.NoError(s, err)
		return store.Entry{Seq: data["seq"].(int64), Type: kind, At: at, Data: json.RawMessage(raw)}
	}
	require.NoError(s, s.Store.Commit(s.Context(), store.Change{ID: d.ID(), After: after, Status: status, Entries: []store.Entry{
		entry("config", configured), entry("novelty", map[string]any{"type": "novelty", "seq": after + 2}),
	}}))
	return status
}
