package debate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// record is the fold of a journal: all that is known of a debate. It changes by apply alone, in place.
type record struct {
	protocol.Record

	format      int
	config      *Config
	snap        fsm.Snapshot
	parallel    bool      // the phase at hand runs its steps all at once
	valid       bool      // the configuration was accepted, and is unchanged since
	failure     *Failure  // what led to the error that the debate is in
	question    *Question // that is open
	answered    *Failure  // somebody decided to go on without whom it is about
	drops       []Dropped
	lost        []*Failure // steps that failed for good, also where somebody tried again
	annotations map[string]json.RawMessage
	findings    []detect.Finding
	looked      struct{ spoken, judged int } // rounds whose findings stand in the journal
	watch       *watching
	answer      func(transcript.Turn) string
	count       func(model, text string) int // tokens
	prompts     *prompts.Set
	named       func(provider string) string // its name where it is left out
	summaries   []summary
	wanted      *window.Summing                          // the summary that is to be made now; nil: none
	scales      map[string]window.Calibration            // of actors' tokens
	atBegin     map[string]map[string]window.Calibration // as phases of the round at hand began with them
	planned     store.Plan                               // as the stored head has it
	usage       transcript.Usage
	running     time.Duration
	roundBegan  time.Duration // running time at the begin of the round at hand

	created, updated, completed time.Time
	entered                     time.Time // when the state at hand was entered, pauses apart

	names    []string               // of those who are still in
	everyone []transcript.Seat      // in the order of the configuration, those who dropped out too
	asked    int64                  // the seq that steps were asked for
	steps    []protocol.Step        // what may run at it
	said     []string               // by seq: a turn as others read it, once somebody has
	history  int                    // tokens of all turns
	shown    []int                  // what visible found last
	tokens   []int                  // likewise
	covered  []window.Summary       // what told found last
	briefs   map[briefKey]*briefing // what is the same in all prompts of a reader
	masks    map[maskKey]*mask
	parse    func(json.RawMessage) (Config, error)
}

type briefKey struct {
	actor, prompt string
	blind, swap   bool
}

// briefing is the part of a reader's prompts that does not change.
type briefing struct {
	system string
	tokens int // of the system prompt
	schema int // of the reply's schema
	data   prompts.Data
	mask   *mask // nil: the reader knows who is who
}

// stages are the states in which a protocol has work.
var stages = map[fsm.State]transcript.Kind{
	fsm.Initializing: transcript.Prelude, fsm.Awaiting: transcript.Speech,
	fsm.Judging: transcript.Assessment, fsm.Completing: transcript.Conclusion,
}

func newRecord(id string, parse func(json.RawMessage) (Config, error)) *record {
	r := &record{parse: parse, format: store.Format, snap: fsm.Snapshot{State: fsm.Configuring}, config: &Config{}}
	r.count = func(_, text string) int { return window.Estimate(text) }
	r.named = func(name string) string { return name }
	r.ID, r.Cursor.Run = id, 1
	return r
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

// past refuses a round that has not begun.
func (r *record) past(round int) error {
	if round < 0 || round > r.Cursor.Round {
		return fmt.Errorf("it is of round %d, the debate is in round %d", round, r.Cursor.Round)
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

// begunToSpeak says whether a model has made a turn; a person's remark binds nobody.
func (r *record) begunToSpeak() bool {
	return slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind != transcript.Remark })
}

// seat gives all participants their seats.
func (r *record) seat() {
	r.Seats = nil
	for _, p := range r.config.active() {
		r.Seats = append(r.Seats, p.seat())
	}
	r.everyone, r.names, r.drops, r.masks = r.Seats, names(r.Seats), nil, nil
}

func names(seats []transcript.Seat) []string {
	list := make([]string, len(seats))
	for i, s := range seats {
		list[i] = s.Name
	}
	return list
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

// supported says whether this version of the library may add to the journal.
func (r *record) supported() error {
	if r.format <= store.Format {
		return nil
	}
	return fmt.Errorf("its journal has format %d, this version of the library knows formats up to %d: %w", r.format, store.Format, ErrUnsupported)
}

// roundAfter is the round at hand after a transition. A debate that was retried passes through to the round it was in.
func (r *record) roundAfter(on fsm.Event, to fsm.State) int {
	if to == fsm.Awaiting && (on == fsm.Advance || r.Cursor.Round == 0) {
		return r.Cursor.Round + 1
	}
	return r.Cursor.Round
}

// drivable says whether this engine has what it takes to drive the debate.
func (r *record) drivable() error {
	if u, ok := r.config.Protocol.(unknown); ok && !r.snap.State.Final() {
		return fmt.Errorf("protocol %q is not among Options.Protocols: %w", u.name, ErrUnsupported)
	}
	return nil
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
