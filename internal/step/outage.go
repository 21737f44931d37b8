package step

import (
	"cmp"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// The wait before the nth retry is random, between minBackoff and a bound that doubles up to maxBackoff.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// mayWaitForProvider reports whether the step may wait for a provider that it cannot reach. If the configuration says how
// often it tries, and not for how long, it does not wait.
func (r *Run) mayWaitForProvider() bool {
	n, set := r.Plan.Retries[providers.Network]
	l := &r.Plan.Limits
	return l.Outage > 0 && (!set || n > 0 && l.OutageTime > 0)
}

// waitForProvider returns the wait before the next attempt to reach a provider. It is negative if the step gives up. Then
// either nobody could go on, and the failure is that of an outage, or it is a failure like others.
func (r *Run) waitForProvider(e *providers.Error) time.Duration {
	left, giveUp := r.patience()
	rest := max(e.RetryAfter, maxBackoff)
	if giveUp == nil { // one more attempt follows when the time is over
		rest = min(rest, left)
	}
	switch {
	case giveUp != nil && rest >= left:
		r.attempts.waitError = giveUp
		return -1
	case rest < minBackoff:
		return -1
	}
	r.attempts.ordinary = giveUp == nil
	return r.waitOutside(rest, true) // one attempt follows each wait
}

// waitOutside returns a wait that counts towards the debate's time, not the step's. It is negative if the wait is longer than this job:
// the next job continues to wait then. outage reports whether the provider cannot be reached.
func (r *Run) waitOutside(wait time.Duration, outage bool) time.Duration {
	if r.exceedsTimeout(wait) {
		r.attempts.waitError = ErrNextJob
		return -1
	}
	r.timing.stop()
	r.timing.waited = true
	r.attempts.outage = outage
	return wait
}

// patience returns how long the step may still wait for its provider, and what ends it then: errUnreachable, or nil for a
// failure like others.
func (r *Run) patience() (left time.Duration, giveUp error) {
	l := &r.Plan.Limits
	waited := r.waitedSoFar()
	most := l.OutageTime
	if most == 0 {
		switch r.host.Others(r.ctx, r.query.model.Provider, r.attempts.lost) {
		case OthersAnswer:
			return 0, nil
		case OthersUnknown:
			most = l.OutageUnknown
		case OthersWait:
		}
		if r.neverReached() {
			return 0, errUnreachable
		}
	}
	if most > 0 && most < l.Outage {
		return most - waited, nil
	}
	return l.Outage - waited, errUnreachable
}

// firstContact is the time in which a first run retries calls to a provider that has never answered, counted from the
// step's start. If connections are refused, the step fails within 15 s, and if none is made in the time that the providers
// give it, within 30 s. A person who has just configured the provider waits for the answer.
const firstContact = 10 * time.Second

// mayWaitFirst reports whether the step may wait before its next attempt. It may not wait longer than firstContact for a
// provider that this engine has never reached.
func (r *Run) mayWaitFirst(wait time.Duration) bool {
	return !r.neverReached() || r.waitedSoFar()+wait <= firstContact
}

// neverReached reports whether the provider cannot be reached and has never answered this engine, in a first run. Its
// address is probably wrong: to wait for it would only hide that.
func (r *Run) neverReached() bool {
	first := r.Plan.FirstRun
	return first != nil && first.Load() && r.Plan.Limits.OutageTime == 0 && r.mayWaitForProvider() &&
		r.Unreachable() && !r.Plan.Answers.since(r.query.model.Provider, time.Time{})
}

// noteAnswer records whether a call that began at the given time has reached the provider. err is the error of the call.
func (r *Run) noteAnswer(began time.Time, err error) {
	failed := providers.AsError(err)
	s := &r.attempts
	s.recovered = false
	switch {
	case failed == nil || failed.Partial.Text != "":
	case failed.Kind == providers.Network:
		now := time.Now()
		s.unreachableSince = cmp.Or(s.unreachable, now)
		s.unreachable = now
		s.lost = cmp.Or(s.lost, now)
		if s.outage && r.isBack() { // the outage is over: this is a first failure
			s.outage = false
			s.recoveries++
			s.recovered = true
		}
		return
	case failed.Kind == providers.Timeout:
		return
	}
	r.noteReached()
	r.Plan.Answers.add(r.query.model.Provider, began)
}

// noteReached records that the provider of the next call is not known to be unreachable.
func (r *Run) noteReached() {
	s := &r.attempts
	s.lost = time.Time{}
	s.unreachable = time.Time{}
	s.unreachableSince = time.Time{}
	s.outage = false
	s.recoveries = 0
}

// maxRecoveries is the number of outages after which a step whose calls still fail is alone with that. Others may be
// answered between two outages.
const maxRecoveries = 2

// isBack reports whether the provider has answered a call of others that began after the last but one failure of the step.
// Then others can reach it, or could before another outage began.
func (r *Run) isBack() bool {
	return r.Plan.Answers.since(r.query.model.Provider, r.attempts.unreachableSince)
}

// exceedsTimeout reports whether a wait is longer than the remaining time of a worker's job.
func (r *Run) exceedsTimeout(wait time.Duration) bool {
	end, ok := r.ctx.Deadline()
	return ok && time.Until(end) <= wait
}
