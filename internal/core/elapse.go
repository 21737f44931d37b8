package core

import (
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/transcript"
)

// elapse adds to the running time. It adds the gaps between entries while the debate is active. Each gap counts at
// most the step timeout, or the duration of a step that waited for a rate limit. Time before a call began and time
// that the viewer took do not count, nor do the wait between rounds and the time before a fork.
func elapse(r *State, ev journal.Event, now time.Time) {
	if r.Times.Created.IsZero() {
		r.Times.Created = now
	}
	waits := r.Lifecycle.State == fsm.Validating || r.Lifecycle.State == fsm.RoundComplete
	if r.Lifecycle.State.Active() && !waits {
		gap := max(now.Sub(workBegan(ev, r.Times.Updated)), 0)
		if isOutage(ev) {
			r.Times.Outage += gap
		} else {
			r.Times.running += min(gap, mostCounted(r, ev))
		}
	}
	r.Times.Updated = now
}

// workBegan returns when the work for an event began: with the entry before it, or with the first call of its step if that came
// later. What the viewer took is added, so that it does not count as work.
func workBegan(ev journal.Event, last time.Time) time.Time {
	switch ev := ev.(type) {
	case journal.TurnDone:
		if ev.Turn.Kind == transcript.Remark {
			return last
		}
		return later(last, ev.Turn.Started).Add(ev.Turn.ViewerTime)
	case journal.ToolsCalled:
		if len(ev.Attempts) > 0 {
			return later(last, ev.Attempts[0].Began)
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// mostCounted returns how much of the gap before an event may count as running time. Nothing counts of the time before a fork.
func mostCounted(r *State, ev journal.Event) time.Duration {
	if r.Fork.ID != "" && ev.Meta().Seq == r.Fork.Seq+1 {
		return 0
	}
	return max(r.Config.Limits.StepTimeout, rateLimitWait(ev))
}

// OutageNote names the note in the journal that reports a provider that cannot be reached.
const OutageNote = "outage"

// isOutage reports whether an event ends a wait for a provider that could not be reached. The wait takes no running
// time, so that the debate can continue after it.
func isOutage(ev journal.Event) bool {
	if note, ok := ev.(journal.Annotated); ok {
		return note.Name == OutageNote
	}
	f := FailureOf(ev)
	return f != nil && f.Unreachable
}

// rateLimitWait returns the duration of a step that waited for a rate limit, or 0 if the event has no such step.
func rateLimitWait(ev journal.Event) (most time.Duration) {
	if done, ok := ev.(journal.TurnDone); ok {
		return turns.RateLimitWait(done.Turn.Attempts, done.Turn.Started, done.Turn.Ended)
	}
	for _, f := range journal.Failures(ev) {
		most = max(most, turns.RateLimitWait(f.AttemptDetails, f.Started, f.At))
	}
	return most
}

// FailureOf returns the failure that an event reports, or nil if there is none.
func FailureOf(ev journal.Event) *journal.Failure {
	switch ev := ev.(type) {
	case journal.StateChanged:
		if ev.Question != nil {
			return ev.Question.Failure
		}
		return ev.Failure
	case journal.Dropped:
		return ev.Failure
	}
	return nil
}
