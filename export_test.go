package debate

import (
	"context"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// FirstEntry returns the type of the first entry of a journal, which has more fields than its event.
func FirstEntry() reflect.Type {
	return reflect.TypeOf(journal.Data(ConfigChanged{Origin: &journal.Origin{}}))
}

// OpenWithProvider returns a handle on the same debate in another engine, in which every provider is p.
func (d *Debate) OpenWithProvider(t testing.TB, p providers.Provider) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store.watchedStore, Providers: map[string]providers.Provider{"m": p, "j": p}})
	require.NoError(t, err)
	other, err := e.Open(t.Context(), d.ID())
	require.NoError(t, err)
	return other
}

// OpenWithCounter returns a handle on the same debate in another engine, which counts tokens with c.
func (d *Debate) OpenWithCounter(t testing.TB, c window.TokenCounter) *Debate {
	t.Helper()
	e, err := NewEngine(Options{Store: d.engine.store.watchedStore, Providers: d.engine.providers, TokenCounter: c})
	require.NoError(t, err)
	for _, p := range d.engine.protocols.Known() {
		e.protocols.Add(d.ID(), p)
	}
	other, err := e.Open(t.Context(), d.ID())
	require.NoError(t, err)
	return other
}

// Prompt returns a function that builds the prompt of the next step and returns its number of messages.
func (d *Debate) Prompt(t testing.TB) func() int {
	t.Helper()
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	require.NoError(t, d.journal.refresh(t.Context()))
	return func() int {
		d.journal.rec.Planned.Seq = -1 // plan the step again, too
		steps := d.journal.rec.Next()
		require.NotEmpty(t, steps)
		c, err := d.engine.newExecution(d.journal.rec, steps[0])
		require.NoError(t, err)
		defer c.release()
		return len(c.run.Plan.Prompt.Messages)
	}
}

// Record returns what the handle has read of the debate, its configuration included. It is for comparison only.
func (d *Debate) Record() any { return d.journal.rec }

// FilledResults returns two results of one record that has everything that a result can hold, and the record.
func FilledResults(fill func(any)) (a, b *Result, rec any) {
	c := &Config{ID: "d", Protocol: sharing{}}
	r := core.BeforeStart(core.Seats{Config: c}, core.NoEnvironment)
	r.Profiles = []transcript.Profile{{Name: "A"}}
	r.Turns = make([]transcript.Turn, 3)
	for i := range r.Turns {
		fill(&r.Turns[i])
		r.Turns[i].Round = 0
	}
	r.Turns[0].Actor = "A"
	r.Turns[1].Kind = transcript.Assessment
	r.Turns[2].Kind = transcript.Conclusion
	r.Turns[0].Attempts[0].ErrorKind = string(providers.Network)
	verdicts := []transcript.Verdict{transcript.Verified, transcript.Altered, transcript.NotChecked}
	for i := range r.Turns {
		r.Turns[i].Citations[0] = transcript.Citation{Source: 1, Quote: "x", Verdict: verdicts[i]}
	}
	fill(&r.Agenda.Found.List)
	fill(&r.Notes.Values)
	fill(&r.Decisions.Question)
	fill(&r.Losses.Failure)
	fill(&r.Accepted.Problems)
	r.Agenda.Course = &forks.Course{Given: &journal.Course{Swap: true}}
	fill(&r.Agenda.Course.Given.Omit)
	fill(&r.Agenda.Course.Departures)
	fill(&r.Agenda.Course.Remaining)
	r.Sources.Add(transcript.Key{Actor: "A"}, 1, []tool.Record{{Sources: []tool.Source{{Number: 1, URI: "u", Title: "t", Text: "x"}}}})
	r.Config.Judges = []Participant{{Name: "A"}} // leads to a warning
	r.Config.Participants = []Participant{{Name: "A"}}
	return core.ResultOf(r), core.ResultOf(r), r
}

// sharing is a protocol whose answer shares memory with a turn.
type sharing struct{ protocol.Protocol }

func (sharing) Name() string { return "sharing/1" }

func (sharing) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: r.Turns[2].Text, Data: r.Turns[2].Data, Warnings: r.Turns[2].Attempts[0].Warnings}
}

// PerformPlanAfter plans the next calls, calls between, and then performs the plan.
func (d *Debate) PerformPlanAfter(t testing.TB, between func()) {
	t.Helper()
	dr, err := engage(t.Context(), d.engine, d.journal, nil)
	require.NoError(t, err)
	defer dr.release()
	p, err := dr.nextTask()
	require.NoError(t, err)
	require.NotEmpty(t, p.executions)
	between()
	require.NoError(t, dr.perform(p))
}

// TimeOfCommitAfter returns the time of a commit to a debate that was updated last at the given time.
func TimeOfCommitAfter(updated time.Time) time.Time {
	r := core.NewState("d", core.NoEnvironment)
	r.Times.Updated = updated
	return core.NewChange(r, time.Now()).Now
}

// ObservationAllocations returns the allocations of what an engine without a logger and an observer reports for one attempt.
func ObservationAllocations() float64 {
	p, ctx := (&Engine{log: slog.New(slog.DiscardHandler)}).newReporter(Options{}), context.Background()
	attempt, entry := &Attempt{Number: 1}, Event(StateChanged{Failure: &Failure{}, Warnings: []Warning{{}}})
	return testing.AllocsPerRun(1000, func() {
		for range 3 { // a drive, a step and an attempt
			if _, end := p.observe(ctx, Step{Debate: "d", Attempt: *attempt}); end != nil {
				end(Outcome{})
			}
		}
		p.logAttempt(ctx, "d", TurnFailed{Attempt: attempt})
		p.committed(ctx, "d", entry)
	})
}
