package debate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// apply folds in one durable event, which was committed at the given time.
func (r *record) apply(ev Event, at time.Time) error {
	stamp := ev.Event()
	if stamp.Seq != r.Seq+1 {
		return fmt.Errorf("read entry %d of debate %s: entry %d is missing", stamp.Seq, r.ID, r.Seq+1)
	}
	if err := r.sound(ev); err != nil {
		return fmt.Errorf("read entry %d of debate %s: %w", stamp.Seq, r.ID, err)
	}
	r.elapse(ev, at)
	var err error
	switch ev := ev.(type) {
	case ConfigChanged:
		err = r.configure(ev)
	case StateChanged:
		r.spend(ev.Failure)
		if ev.Question != nil {
			r.spend(ev.Question.Failure)
		}
		r.spend(ev.Lost...)
		r.move(ev)
	case PhaseStarted:
		r.Begin(ev.Phase, stamp.Seq)
		if r.parallel, r.history.wanted = ev.Parallel, ev.Summing; r.parallel {
			r.history.freeze(ev.Phase)
		}
	case TurnDone:
		err = r.turn(ev.Turn)
	case Dropped:
		if r.withdrawn == nil || r.withdrawn.Key != ev.Failure.Key { // else the question has counted it
			r.spend(ev.Failure)
		}
		r.spend(ev.Lost...)
		r.drop(ev)
	case Decided:
		r.withdrawn = nil
		if ev.Action == actDrop {
			r.withdrawn = r.question.Failure
		}
		r.question = nil
	case Annotated:
		r.annotate(ev)
	default:
		err = fmt.Errorf("type %q is no entry of a journal", stamp.Type)
	}
	if err != nil {
		return fmt.Errorf("read entry %d of debate %s: %w", stamp.Seq, r.ID, err)
	}
	r.Seq = stamp.Seq
	return nil
}

// sound refuses what no version of the library writes.
func (r *record) sound(ev Event) error {
	if _, config := ev.(ConfigChanged); r.Seq == 0 && !config {
		return errors.New("a journal begins with a configuration")
	}
	switch ev := ev.(type) {
	case StateChanged:
		if ev.On == fsm.Fail && ev.Failure == nil {
			return errors.New("it has no failure")
		}
		for _, f := range append(ev.Lost, failure(ev)) {
			if f != nil && r.past(f.Key.Round) != nil {
				return r.past(f.Key.Round)
			}
		}
	case Dropped:
		if ev.Failure == nil {
			return errors.New("it has no failure")
		}
		return r.past(ev.Failure.Key.Round)
	case TurnDone:
		return r.past(ev.Turn.Round)
	}
	return nil
}

// elapse counts running time: the gaps between entries while the debate is active, each at most the step timeout, or the
// time of a turn that sat out a rate limit. What lies before a call began, and what a viewer took of it, does not count.
func (r *record) elapse(ev Event, now time.Time) {
	if r.times.created.IsZero() {
		r.times.created = now
	}
	if r.snap.State.Active() && r.snap.State != fsm.Validating {
		since, most := r.times.updated, r.config.Limits.StepTimeout
		if t, ok := ev.(TurnDone); ok && t.Turn.Kind != transcript.Remark {
			if t.Turn.Began.After(since) {
				since = t.Turn.Began
			}
			since = since.Add(t.Turn.Viewed)
		}
		most = max(most, satOut(ev))
		r.times.running += min(max(now.Sub(since), 0), most)
	}
	r.times.updated = now
}

func (r *record) configure(ev ConfigChanged) error {
	r.format = max(r.format, ev.Format) // what a newer version wrote is its own from then on
	c, err := r.env.parse(ev.Config)
	if err != nil {
		return err
	}
	r.history.forget(r.config, &c)
	r.config = &c // a call in flight keeps its own
	if r.config.Protocol == nil {
		return errors.New("it names no protocol")
	}
	r.Topic, r.MinRounds, r.MaxRounds = r.config.Topic, r.config.Limits.MinRounds, r.config.Limits.MaxRounds
	r.bench()
	if !r.begunToSpeak() { // later ones leave the participants as they are
		r.seat()
	}
	r.valid, r.cache.briefings, r.findings.detector = false, nil, nil
	return nil
}

// bench has all judges judge.
func (r *record) bench() {
	r.Judges = nil
	for _, j := range r.config.Judges {
		r.Judges = append(r.Judges, j.Name)
	}
}

// seat gives all participants their seats.
func (r *record) seat() {
	r.Seats = nil
	for _, p := range r.config.active() {
		r.Seats = append(r.Seats, p.seat())
	}
	r.everyone, r.names, r.drops, r.cache.masks = r.Seats, names(r.Seats), nil, nil
}

func (r *record) move(ev StateChanged) {
	r.snap = fsm.Snapshot{State: ev.To}
	r.findings.list = append(r.findings.list, ev.Findings...)
	switch ev.On {
	case fsm.Responded:
		r.findings.reported.spoken = r.Cursor.Round
	case fsm.Assessed:
		r.findings.reported.judged = r.Cursor.Round
	case fsm.Pause: // the cursor stays: a pause does not move the horizon of a parallel phase
		r.snap.Left, r.question = ev.From, ev.Question
		return
	case fsm.Resume:
		return
	case fsm.Accept:
		r.valid = true
	case fsm.Start:
		r.Started = cmp.Or(r.Started, ev.At)
	case fsm.Fail:
		r.failure = ev.Failure
	case fsm.Retry:
		r.failure = nil
	case fsm.Reset:
		r.reset()
	default:
	}
	if round := r.roundAfter(ev.On, ev.To); round != r.Cursor.Round {
		r.Cursor.Round, r.times.roundBegan, r.history.frozen = round, r.times.running, nil
	}
	if ev.Ending.Outcome != "" {
		r.Ending = ev.Ending
	}
	if ev.To.Final() {
		r.times.completed = ev.At
	}
	r.question, r.history.wanted, r.times.entered = nil, nil, ev.At
	r.Cursor.Stage, r.Cursor.Phase, r.Cursor.Since = stages[ev.To], "", ev.Seq
}

// reset begins a new run: what was said before stays in the journal and is never shown.
func (r *record) reset() {
	run := r.Cursor.Run + 1
	r.Record = protocol.Record{
		ID: r.ID, Topic: r.Topic, Started: r.Started, Rating: r.Rating, MinRounds: r.MinRounds, MaxRounds: r.MaxRounds,
	}
	r.Cursor.Run = run
	r.bench()
	r.Ending, r.failure, r.cache.briefings, r.valid = transcript.Ending{}, nil, nil, false
	r.usage, r.times.running, r.times.roundBegan, r.history.tokens, r.lost = transcript.Usage{}, 0, 0, 0, nil // the budgets are a run's
	r.history.summaries, r.history.scales, r.history.frozen = nil, nil, nil
	r.findings.list, r.findings.detector, r.findings.reported.spoken, r.findings.reported.judged = nil, nil, 0, 0
	r.seat()
}

func (r *record) turn(t transcript.Turn) error {
	t.Seq = r.Seq + 1
	if r.Turns == nil {
		r.Turns = make([]transcript.Turn, 0, min((len(r.Seats)+len(r.Judges))*r.MaxRounds+2, 64))
	}
	if !r.Record.Apply(t) {
		return fmt.Errorf("turn %s stands twice", t.Key)
	}
	r.usage = r.usage.Add(t.Usage)
	r.calibrate(t.Actor, t.Attempts)
	if t.Kind == transcript.Summary {
		r.history.note(&t, r.Cursor.Round)
		r.Cursor.Phase = "" // each summary has a phase of its own
	} else {
		r.history.tokens += t.Tokens
	}
	if t.Output == protocol.PersonasContract.Name() {
		r.everyone, r.cache.briefings = r.Seats, nil // nobody drops out before
	}
	return nil
}

// spend counts what steps used that failed for good; nil: none.
func (r *record) spend(failures ...*Failure) {
	for _, f := range failures {
		if f != nil {
			r.lost = append(r.lost, f)
			r.usage = r.usage.Add(f.used())
			r.calibrate(f.Key.Actor, f.Tried)
			if begun := r.history.frozen[f.Key.Phase]; begun != nil && f.Kind == providers.ContextOverflow { // else it would fail again
				begun[f.Key.Actor] = r.history.scales[f.Key.Actor]
			}
		}
	}
}

func (r *record) drop(ev Dropped) {
	r.Record.Drop(ev.Name)
	r.names = names(r.Seats)
	r.drops = append(r.drops, ev)
}

func (r *record) annotate(ev Annotated) {
	if r.annotations == nil {
		r.annotations = map[string]json.RawMessage{}
	}
	r.annotations[ev.Name] = ev.Value
	if ev.Name == "rating" {
		r.Rating = ev.Value
	}
}

// satOut is how long a step took that had to wait for a rate limit to pass; 0: it had not, or there was none.
func satOut(ev Event) (most time.Duration) {
	if done, ok := ev.(TurnDone); ok {
		return rested(done.Turn.Attempts, done.Turn.Began, done.Turn.Ended)
	}
	failures := []*Failure{failure(ev)}
	if s, ok := ev.(StateChanged); ok {
		failures = append(failures, s.Lost...)
	}
	for _, f := range failures {
		if f != nil {
			most = max(most, rested(f.Tried, f.Began, f.At))
		}
	}
	return most
}

// rested is the time from the begin to the end of attempts of which one met a rate limit; 0: none did.
func rested(tried []transcript.Attempt, began, ended time.Time) time.Duration {
	if !slices.ContainsFunc(tried, func(a transcript.Attempt) bool { return a.Error == string(providers.RateLimit) }) {
		return 0
	}
	return ended.Round(0).Sub(began.Round(0)) // by the wall clock, as a reader of the journal has it
}

// failure is that of the step that an event is about; nil: it is about none that failed.
func failure(ev Event) *Failure {
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

// calibrate takes in what attempts have shown of an actor's tokens.
func (r *record) calibrate(actor string, attempts []transcript.Attempt) {
	if who, _, ok := r.actor(actor); ok {
		r.history.calibrate(who, actor, attempts)
	}
}
