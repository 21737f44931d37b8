package debate

import (
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/transcript"
)

// elapse adds to the running time. It adds the gaps between entries while the debate is active. Each gap counts at
// most the step timeout, or the duration of a step that waited for a rate limit. Time before a call began and time
// that the viewer took do not count, nor do the wait between rounds and the time before a fork.
func elapse(r *record, ev Event, now time.Time) {
	if r.times.created.IsZero() {
		r.times.created = now
	}
	if r.lifecycle.State.Active() && r.lifecycle.State != fsm.Validating && r.lifecycle.State != fsm.RoundComplete {
		since, most := r.times.updated, r.config.Limits.StepTimeout
		if t, ok := ev.(TurnDone); ok && t.Turn.Kind != transcript.Remark {
			if t.Turn.Started.After(since) {
				since = t.Turn.Started
			}
			since = since.Add(t.Turn.ViewerTime)
		}
		if t, ok := ev.(ToolsCalled); ok && len(t.Attempts) > 0 && t.Attempts[0].Began.After(since) {
			since = t.Attempts[0].Began
		}
		if most = max(most, rateLimitWait(ev)); r.fork.begins(ev) {
			most = 0
		}
		if gap := max(now.Sub(since), 0); isOutage(ev) {
			r.times.outage += gap
		} else {
			r.times.running += min(gap, most)
		}
	}
	r.times.updated = now
}

// changed returns when the debate was last changed. The entries that a fork has from its parent are older than the fork.
func (t *times) changed() time.Time {
	if t.updated.Before(t.created) {
		return t.created
	}
	return t.updated
}

// outageNote names the note in the journal that reports a provider that cannot be reached.
const outageNote = "outage"

// isOutage reports whether an event ends a wait for a provider that could not be reached. The wait takes no running
// time, so that the debate can continue after it.
func isOutage(ev Event) bool {
	if note, ok := ev.(Annotated); ok {
		return note.Name == outageNote
	}
	f := failureOf(ev)
	return f != nil && f.Unreachable
}

// rateLimitWait returns the duration of a step that waited for a rate limit, or 0 if the event has no such step.
func rateLimitWait(ev Event) (most time.Duration) {
	if done, ok := ev.(TurnDone); ok {
		return turns.RateLimitWait(done.Turn.Attempts, done.Turn.Started, done.Turn.Ended)
	}
	failures := []*Failure{failureOf(ev)}
	if s, ok := ev.(StateChanged); ok {
		failures = append(failures, s.OtherFailures...)
	}
	for _, f := range failures {
		if f != nil {
			most = max(most, turns.RateLimitWait(f.AttemptDetails, f.Started, f.At))
		}
	}
	return most
}

// failureOf returns the failure that an event reports, or nil if there is none.
func failureOf(ev Event) *Failure {
	switch ev := ev.(type) {
	case StateChanged:
		if ev.Question != nil {
			return ev.Question.Failure
		}
		return ev.Failure
	case Dropped:
		return ev.Failure
	}
	return nil
}
