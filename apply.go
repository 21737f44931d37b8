package debate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// head is the record summed up.
func (r *record) head() store.Head {
	return store.Head{
		ID: r.ID, Seq: r.Seq, State: r.snap.State, Cursor: r.Cursor, Rounds: r.MaxRounds, Ending: r.Ending,
		Topic: r.config.Topic, Protocol: r.config.Protocol.Name(), Labels: maps.Clone(r.config.Labels),
		Usage: r.usage, Running: r.running, Format: r.format, Created: r.created, Updated: r.updated, Plan: r.plan(),
	}
}

// plan is what may run now, under a name that a crash, a pause, a remark or a part that is done does not change.
func (r *record) plan() (p store.Plan) {
	if !r.snap.State.Active() {
		return p
	}
	if r.drivable() != nil && r.snap.State != fsm.Validating { // what is to come only an engine with the protocol can tell
		return r.planned
	}
	at := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: string(r.snap.State)}
	switch {
	case r.snap.State == fsm.RoundComplete:
		p.Due = r.due()
	case r.begun() && !r.parallel:
		at = r.next()[0].Key
	case r.begun():
		at.Phase = r.Cursor.Phase
	}
	p.Key, p.Within = at.String(), r.config.Limits.StepTimeout*time.Duration(r.turnsOfOne())
	return p
}

// turnsOfOne is the most steps of what may run now that one actor performs, one after the other.
func (r *record) turnsOfOne() int {
	if len(r.next()) < 2 {
		return 1
	}
	count := map[string]int{"": 1}
	for _, s := range r.next() {
		count[s.Actor]++
	}
	return slices.Max(slices.Collect(maps.Values(count)))
}

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
		if r.parallel, r.wanted = ev.Parallel, ev.Summing; r.parallel {
			r.freeze(ev.Phase)
		}
	case TurnDone:
		err = r.turn(ev.Turn)
	case Dropped:
		if r.answered == nil || r.answered.Key != ev.Failure.Key { // else the question has counted it
			r.spend(ev.Failure)
		}
		r.spend(ev.Lost...)
		r.drop(ev)
	case Decided:
		r.answered = nil
		if ev.Action == actDrop {
			r.answered = r.question.Failure
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
	if r.created.IsZero() {
		r.created = now
	}
	if r.snap.State.Active() && r.snap.State != fsm.Validating {
		since, most := r.updated, r.config.Limits.StepTimeout
		if t, ok := ev.(TurnDone); ok && t.Turn.Kind != transcript.Remark {
			if t.Turn.Began.After(since) {
				since = t.Turn.Began
			}
			since = since.Add(t.Turn.Viewed)
		}
		most = max(most, satOut(ev))
		r.running += min(max(now.Sub(since), 0), most)
	}
	r.updated = now
}

func (r *record) configure(ev ConfigChanged) error {
	r.format = max(r.format, ev.Format) // what a newer version wrote is its own from then on
	c, err := r.parse(ev.Config)
	if err != nil {
		return err
	}
	r.recount(&c)
	r.config = &c // a call in flight keeps its own
	if r.config.Protocol == nil {
		return errors.New("it names no protocol")
	}
	r.Topic, r.MinRounds, r.MaxRounds = r.config.Topic, r.config.Limits.MinRounds, r.config.Limits.MaxRounds
	r.bench()
	if !r.begunToSpeak() { // later ones leave the participants as they are
		r.seat()
	}
	r.valid, r.briefs, r.watch = false, nil, nil
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
	r.everyone, r.names, r.drops, r.masks = r.Seats, names(r.Seats), nil, nil
}

func (r *record) move(ev StateChanged) {
	r.snap = fsm.Snapshot{State: ev.To}
	r.findings = append(r.findings, ev.Findings...)
	switch ev.On {
	case fsm.Responded:
		r.looked.spoken = r.Cursor.Round
	case fsm.Assessed:
		r.looked.judged = r.Cursor.Round
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
		r.Cursor.Round, r.roundBegan, r.atBegin = round, r.running, nil
	}
	if ev.Ending.Outcome != "" {
		r.Ending = ev.Ending
	}
	if ev.To.Final() {
		r.completed = ev.At
	}
	r.question, r.wanted, r.entered = nil, nil, ev.At
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
	r.Ending, r.failure, r.briefs, r.valid = transcript.Ending{}, nil, nil, false
	r.usage, r.running, r.roundBegan, r.history, r.lost = transcript.Usage{}, 0, 0, 0, nil // the budgets are a run's
	r.summaries, r.scales, r.atBegin = nil, nil, nil
	r.findings, r.watch, r.looked.spoken, r.looked.judged = nil, nil, 0, 0
	r.seat()
}

func (r *record) turn(t transcript.Turn) error {
	t.Seq = r.Seq + 1
	if !r.Record.Apply(t) {
		return fmt.Errorf("turn %s stands twice", t.Key)
	}
	r.usage = r.usage.Add(t.Usage)
	r.calibrate(t.Actor, t.Attempts)
	if t.Kind == transcript.Summary {
		r.noteSummary(&t)
		r.Cursor.Phase = "" // each summary has a phase of its own
	} else {
		r.history += t.Tokens
	}
	r.said = append(r.said, make([]string, int(t.Seq)+1-len(r.said))...)
	if t.Output == protocol.PersonasContract.Name() {
		r.everyone, r.briefs = r.Seats, nil // nobody drops out before
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
			if begun := r.atBegin[f.Key.Phase]; begun != nil && f.Kind == providers.ContextOverflow { // else it would fail again
				begun[f.Key.Actor] = r.scales[f.Key.Actor]
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

func (r *record) result() *Result {
	res := &Result{
		ID: r.ID, Topic: r.config.Topic, Background: r.config.Background, Protocol: r.config.Protocol.Name(), State: r.snap.State,
		Ending: r.Ending, Round: r.Cursor.Round, Turns: slices.Clone(r.Turns), Sides: map[string]Totals{},
		Rounds: make([]Totals, r.Cursor.Round+1), Annotations: maps.Clone(r.annotations), Question: r.question, Failure: r.failure,
		Running: r.running, Created: r.created, Started: r.Started, Updated: r.updated, Completed: r.completed,
	}
	res.Findings, res.Warnings = slices.Clone(r.findings), r.config.kinship(r.named)
	sides := map[string]string{}
	for _, s := range r.everyone {
		sides[s.Name] = cmp.Or(s.Side, s.Name)
		res.Participants = append(res.Participants, r.status(s.Name))
	}
	for _, f := range r.lost {
		res.lose(f, sides[f.Key.Actor])
	}
	for i := range res.Turns {
		t := &res.Turns[i]
		side := sides[t.Actor]
		res.Sides[side] = res.Sides[side].add(t)
		res.Rounds[t.Round] = res.Rounds[t.Round].add(t)
		res.Total = res.Total.add(t)
		for _, w := range warnings(t) {
			res.Warnings = append(res.Warnings, fmt.Sprintf("round %d, %s of %s: %s", t.Round, t.Phase, t.Actor, w))
		}
		switch t.Kind {
		case transcript.Assessment:
			res.Assessments = append(res.Assessments, *t)
		case transcript.Conclusion:
			if res.Verdict == nil || res.Verdict.Phase != t.Phase || !slices.Contains(t.Flags, transcript.Fallback) {
				res.Verdict = t
			}
		case transcript.Prelude, transcript.Speech, transcript.Remark, transcript.Summary, transcript.Vectors:
		}
	}
	res.Answer = r.concluded(res.Verdict)
	return res
}

// concluded is what the debate came to.
func (r *record) concluded(verdict *transcript.Turn) (a protocol.Answer) {
	if p, ok := r.config.Protocol.(protocol.Answerer); ok {
		return p.Answer(&r.Record)
	}
	if verdict != nil {
		a.Text, a.Data = verdict.Text, verdict.Data
	}
	return a
}
