package debate

import (
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// elapse adds to the running time. It adds the gaps between entries while the debate is active. Each gap counts at
// most the step timeout, or the duration of a step that waited for a rate limit. Time before a call began and time
// that the viewer took do not count, nor do the wait between rounds and the time before a fork.
func (r *record) elapse(ev Event, now time.Time) {
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
		return waitedFor(done.Turn.Attempts, done.Turn.Started, done.Turn.Ended)
	}
	failures := []*Failure{failureOf(ev)}
	if s, ok := ev.(StateChanged); ok {
		failures = append(failures, s.OtherFailures...)
	}
	for _, f := range failures {
		if f != nil {
			most = max(most, waitedFor(f.AttemptDetails, f.Started, f.At))
		}
	}
	return most
}

// waitedFor returns the time from the start to the end of the attempts if any of them met a rate limit, otherwise 0.
func waitedFor(tried []transcript.Attempt, began, ended time.Time) time.Duration {
	if !slices.ContainsFunc(tried, func(a transcript.Attempt) bool { return a.ErrorKind == string(providers.RateLimit) }) {
		return 0
	}
	return ended.Round(0).Sub(began.Round(0)) // by the wall clock, as when read from the journal
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
