package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

// envTimeout ends waits that would never end. It is long enough for slow machines and disks.
const envTimeout = 2 * time.Minute

// env is a storage that several simulated processes use.
type env struct {
	*testing.T
	ctx     context.Context
	backend storetest.Backend
}

func newEnv(t *testing.T, place storetest.Backend) *env {
	ctx, cancel := context.WithTimeout(t.Context(), envTimeout)
	t.Cleanup(cancel)
	return &env{T: t, ctx: ctx, backend: place}
}

// runSubtest runs a subtest with the same storage.
func (s *env) runSubtest(name string, test func(*env)) {
	s.Run(name, func(t *testing.T) { test(newEnv(t, s.backend)) })
}

// moments returns the sample of the moments at which a test interrupts debates. It has fewer on a database, which is slow.
func (s *env) moments() *Sample {
	if s.backend.Corruption == nil {
		return NewSample(s, 4)
	}
	return NewSample(s, 16)
}

// process is a simulated program that has the storage open.
type process struct {
	*debate.Engine
	store store.Store
	model *model
}

// newProcess starts another process. Its model plays all participants unless change sets another one.
func (s *env) newProcess(change ...func(*debate.Options)) *process {
	s.Helper()
	return s.newProcessOver(s.backend.Open(s), change...)
}

func (s *env) newProcessOver(st store.Store, change ...func(*debate.Options)) *process {
	s.Helper()
	p := &process{store: st, model: &model{}}
	o := debate.Options{Store: st, Providers: map[string]providers.Provider{"m": p.model}}
	for _, f := range change {
		f(&o)
	}
	var err error
	p.Engine, err = debate.NewEngine(o)
	require.NoError(s, err)
	return p
}

// pair returns a debate of A and B over two rounds, judged by J.
func pair(p protocol.Protocol) debate.Config {
	who := func(name string) debate.Participant { return debate.Participant{Name: name, Model: "model-" + name} }
	return debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Limits: debate.Limits{MaxRounds: 2},
		Participants: []debate.Participant{who("A"), who("B")}, Judges: []debate.Participant{who("J")},
	}
}

// modes lists a sequential and a simultaneous panel.
var modes = map[string]protocol.Protocol{
	"in sequence": panel.Protocol{}, "in parallel": panel.Protocol{Mode: panel.Simultaneous},
}

// forEachMode runs a subtest for each mode, with a debate and the result of an undisturbed run.
func (s *env) forEachMode(test func(s *env, cfg debate.Config, want reference)) {
	for name, p := range modes {
		s.runSubtest(name, func(s *env) {
			cfg := pair(p)
			cfg.ID = string(name[3])
			test(s, cfg, s.runInMemory(cfg))
		})
	}
}

// reference is the result of a debate that ran undisturbed in memory. It is valid only for debates with the same ID,
// because judges' pseudonyms depend on it.
type reference struct {
	text    string   // transcript
	events  []string // the types of the durable events after the creation
	commits int      // after the creation
}

func (s *env) runInMemory(cfg debate.Config) (r reference) {
	s.Helper()
	m := &failingStore{Store: store.Memory()}
	d := s.create(s.newProcessOver(m), cfg)
	r.events = types(durable(s.runToEnd(d)))
	r.text, r.commits = s.transcript(d), int(m.commits.Load())-1
	return r
}

// types returns the types of events.
func types(events []debate.Event) (list []string) {
	for _, ev := range events {
		list = append(list, ev.Meta().Type)
	}
	return list
}

func (s *env) create(p *process, cfg debate.Config) *debate.Debate {
	s.Helper()
	d, err := p.Create(s.ctx, cfg)
	require.NoError(s, err)
	return d
}

func (s *env) open(p *process, id string) *debate.Debate {
	s.Helper()
	d, err := p.Open(s.ctx, id)
	require.NoError(s, err)
	return d
}

// openInNewProcess opens a debate in another new process.
func (s *env) openInNewProcess(id string) *debate.Debate {
	s.Helper()
	return s.open(s.newProcess(), id)
}

// runOutcome is the result of a loop over events.
type runOutcome struct {
	events []debate.Event
	err    error
}

func (s *env) runDebate(d *debate.Debate) (o runOutcome) {
	for ev, err := range d.Run(s.ctx) {
		if err != nil {
			o.err = err
			continue
		}
		o.events = append(o.events, ev)
	}
	return o
}

// runInBackground runs a debate in the background.
func (s *env) runInBackground(d *debate.Debate) <-chan runOutcome {
	done := make(chan runOutcome, 1)
	go func() { done <- s.runDebate(d) }()
	return done
}

// runToEnd runs a debate to its end.
func (s *env) runToEnd(d *debate.Debate) []debate.Event {
	s.Helper()
	o := s.runDebate(d)
	require.NoError(s, o.err)
	require.NotEmpty(s, o.events)
	require.IsType(s, debate.Ended{}, o.events[len(o.events)-1], "the last event is Ended")
	return o.events
}

// runUntilEvent runs a debate until its nth durable event. It returns false if the debate ended before.
func (s *env) runUntilEvent(d *debate.Debate, n int) bool {
	s.Helper()
	for ev, err := range d.Run(s.ctx) {
		require.NoError(s, err)
		n -= len(durable([]debate.Event{ev}))
		if n == 0 {
			return true
		}
	}
	return false
}

func durable(events []debate.Event) (list []debate.Event) {
	for _, ev := range events {
		if !ev.Meta().Live {
			list = append(list, ev)
		}
	}
	return list
}

func (s *env) status(d *debate.Debate) store.Status {
	s.Helper()
	h, err := d.Status(s.ctx)
	require.NoError(s, err)
	return h
}

func (s *env) result(d *debate.Debate) *debate.Result {
	s.Helper()
	r, err := d.Result(s.ctx)
	require.NoError(s, err)
	return r
}

// transcript returns all turns in order, and the ending.
func (s *env) transcript(d *debate.Debate) (text string) {
	s.Helper()
	r := s.result(d)
	for _, t := range r.Turns {
		text += fmt.Sprintln(t.Key, t.Kind, t.Order, t.Text)
	}
	return text + fmt.Sprintln(r.State, r.Ending)
}

// turnKeys returns the keys of all turns, in order.
func (s *env) turnKeys(d *debate.Debate) (list []string) {
	s.Helper()
	for _, t := range s.result(d).Turns {
		list = append(list, t.Key.String())
	}
	return list
}

// listedStatus returns the status of a debate that a list shows.
func (s *env) listedStatus(id string) store.Status {
	s.Helper()
	for h, err := range s.newProcess().List(s.ctx, store.Query{}) {
		require.NoError(s, err)
		if h.ID == id {
			return h
		}
	}
	require.Fail(s, "the debate is not listed", id)
	return store.Status{}
}

// stored returns everything that the store has of a debate after a seq, except heartbeats, as JSON.
func (s *env) stored(id string, after int64) string {
	s.Helper()
	status, entries, err := s.backend.Open(s).Load(s.ctx, id, after)
	require.NoError(s, err)
	status.Driver = store.Heartbeat{}
	return s.json([]any{status, entries})
}

// json returns v as JSON with sorted fields.
func (s *env) json(v any) string {
	s.Helper()
	b, err := json.Marshal(v)
	require.NoError(s, err)
	var plain any
	require.NoError(s, json.Unmarshal(b, &plain))
	b, err = json.Marshal(plain)
	require.NoError(s, err)
	return string(b)
}

// await receives a value, or fails the test after envTimeout.
func await[T any](s *env, from <-chan T, what string) (v T) {
	s.Helper()
	select {
	case v = <-from:
	case <-s.ctx.Done():
		require.Fail(s, "timeout waiting for", what)
	}
	return v
}
