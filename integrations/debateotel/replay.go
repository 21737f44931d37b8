package debateotel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Replay records the spans of a debate as far as it is stored, with the times of its journal. They have the names,
// attributes and events that an engine's spans have, except what a journal does not hold:
//
//   - the settings and prompts of requests; replies only if Options.KeepReplies of the engine was set
//   - attempts and calls of tools of steps that were canceled and then repeated, or that waited for a person's decision about a
//     call, before they went on
//   - calls of tools of steps that read a private document
//   - when and why a drive ended without a transition, such as between two calls of RunOnce or at a crash
//   - the error of a drive, beyond the failure or the refusal that its last transition names
//
// Metrics are not recorded. The spans of the drives are children of the span in ctx, if there is one.
func (t *Telemetry) Replay(ctx context.Context, d *debate.Debate) error {
	status, err := d.Status(ctx)
	if err != nil {
		return fmt.Errorf("replay debate %s: %w", d.ID(), err)
	}
	r := &replay{t: &t.tracing, id: d.ID()}
	r.status.Protocol, r.status.Topic = status.Protocol, status.Topic
	for ev, err := range d.Watch(ctx, 0) {
		if err != nil {
			return fmt.Errorf("replay debate %s: %w", d.ID(), err)
		}
		r.add(ev)
		if m := ev.Meta(); !m.Live && m.Seq >= status.Seq { // it may still run
			break
		}
	}
	var previous trace.SpanContext
	for _, s := range r.drives {
		previous = s.record(ctx, &t.tracing, d.ID(), previous)
	}
	return nil
}

// replay reads a journal.
type replay struct {
	t        *tracing
	id       string
	status   store.Status        // what the journal says of it so far
	roles    map[string]string   // by actor
	phase    debate.PhaseStarted // the latest
	warnings []debate.Warning    // that belong to the next entry
	pending  []note              // transitions since the last drive
	drives   []*replayedDrive
	driven   bool                 // the last of them goes on
	last     transcript.Key       // of the latest step
	phases   int                  // that had steps so far
	rounds   []debate.ToolsCalled // of steps that have not ended
}

// replayedDrive is a drive as far as the journal tells.
type replayedDrive struct {
	began, ended time.Time
	notes        []note
	steps        []replayedStep
	status       store.Status // at its end
	kind         string       // why it failed; empty if it did not
}

// replayedStep is a step that has ended.
type replayedStep struct {
	debate.Step
	phase        int // number of its phase in the journal
	began, ended time.Time
	attempts     []transcript.Attempt
	calls        []tool.Record
	end          stepEnd
}

// add adds an event.
func (r *replay) add(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.Warning:
		r.warnings = append(r.warnings, ev)
	case debate.ConfigChanged:
		r.configure(ev.Config)
	case debate.PhaseStarted:
		r.phase = ev
	case debate.StateChanged:
		r.transition(ev)
	case debate.Dropped:
		r.fail(append([]*debate.Failure{ev.Failure}, ev.OtherFailures...)...)
		r.note(ev, ev.At)
	case debate.ToolsCalled:
		same := func(before debate.ToolsCalled) bool { return before.Key == ev.Key && before.Number == ev.Number }
		r.rounds = append(slices.DeleteFunc(r.rounds, same), ev) // a call that has waited has two entries
	case debate.TurnDone:
		r.turn(&ev.Turn, ev.At)
	}
	if !ev.Meta().Live {
		r.warnings = nil
	}
}

// configure reads the roles of the actors.
func (r *replay) configure(config json.RawMessage) {
	type actor struct {
		Name string `json:"name"`
		Role string `json:"role"`
	}
	var c struct {
		Participants []actor `json:"participants"`
		Judges       []actor `json:"judges"`
	}
	_ = json.Unmarshal(config, &c) // only roles are missing then
	r.roles = map[string]string{}
	for _, a := range slices.Concat(c.Participants, c.Judges) {
		r.roles[a.Name] = a.Role
	}
}

// drive returns the last drive. It begins one if there is none, or if the last one is over and a new one is due.
func (r *replay) drive(at time.Time, due bool) *replayedDrive {
	if len(r.drives) == 0 || due && !r.driven {
		r.drives = append(r.drives, &replayedDrive{began: at, ended: at, notes: r.pending})
		r.driven, r.pending = true, nil
	}
	return r.drives[len(r.drives)-1]
}

// note adds an event and the warnings about it to the last drive, or to the next one if none is open.
func (r *replay) note(ev debate.Event, at time.Time) {
	list := &r.pending
	if r.driven {
		d := r.drive(at, false)
		d.status = r.status
		d.extend(at)
		list = &d.notes
	}
	for _, w := range r.warnings {
		n, _ := r.t.noteOf(w, at)
		*list = append(*list, n)
	}
	if n, ok := r.t.noteOf(ev, at); ok {
		*list = append(*list, n)
	}
}

// transition follows a transition.
func (r *replay) transition(ev debate.StateChanged) {
	r.status.State, r.status.Cursor.Round = ev.To, ev.Round
	if r.status.Cursor.Run == 0 || ev.On == fsm.Reset {
		r.status.Cursor.Run++
		r.status.Usage = transcript.Usage{}
	}
	if ev.Ending.Outcome != "" || ev.On == fsm.Reset {
		r.status.Ending = ev.Ending
	}
	if ev.To.Active() {
		r.drive(ev.At, true)
	}
	failures := append([]*debate.Failure{ev.Failure}, ev.OtherFailures...)
	if ev.Question != nil {
		failures = append(failures, ev.Question.Failure)
	}
	r.fail(failures...)
	r.note(ev, ev.At)
	if ev.To.Active() || ev.To == fsm.Ready || !r.driven { // the driver that accepts a configuration also starts the debate
		return
	}
	r.driven = false
	switch {
	case ev.On == fsm.Reject:
		r.drive(ev.At, false).kind = rejected
	case ev.To == fsm.Error && ev.Failure != nil:
		r.drive(ev.At, false).kind = string(ev.Failure.Kind)
	}
}

// turn adds the step of a turn. A turn without an attempt has no step: a person gave it.
func (r *replay) turn(u *transcript.Turn, at time.Time) {
	if len(u.Attempts) == 0 {
		return
	}
	r.status.Usage = r.status.Usage.Add(u.Usage)
	r.step(u.Key, u.Kind, replayedStep{began: u.Started, ended: u.Ended, attempts: u.Attempts, end: stepEnd{turn: u}})
	d := r.drive(at, false) // after a pause, its last calls still end
	d.status = r.status
	d.extend(at)
	for _, w := range r.warnings {
		n, _ := r.t.noteOf(w, at)
		d.notes = append(d.notes, n)
	}
}

// fail adds the steps of failures.
func (r *replay) fail(list ...*debate.Failure) {
	for _, f := range list {
		if f == nil || len(f.AttemptDetails) == 0 {
			continue
		}
		for _, a := range f.AttemptDetails {
			r.status.Usage = r.status.Usage.Add(a.Usage)
		}
		kind := transcript.Speech
		if r.phase.Phase == f.Key.Phase {
			kind = r.phase.Stage
		}
		r.step(f.Key, kind, replayedStep{
			began: cmp.Or(f.Started, f.At), ended: f.At, attempts: f.AttemptDetails, end: stepEnd{kind: string(f.Kind), message: f.Error()},
		})
	}
}

// step adds a step to the last drive. If it began before that, a resume came before the last calls had ended: then the last
// two drives were one.
func (r *replay) step(k transcript.Key, kind transcript.Kind, s replayedStep) {
	s.Step = debate.Step{Debate: r.id, Attempt: debate.Attempt{Key: k, Kind: kind, Role: r.roles[k.Actor]}}
	if r.last.Run != k.Run || r.last.Round != k.Round || r.last.Phase != k.Phase {
		r.phases++
	}
	r.last, s.phase = k, r.phases
	d := r.drive(s.began, false)
	if n := len(r.drives); n > 1 && s.began.Before(d.began) {
		before := r.drives[n-2]
		before.notes, before.steps = append(before.notes, d.notes...), append(before.steps, d.steps...)
		before.ended = d.ended
		before.status = d.status
		before.kind = d.kind
		r.drives, d = r.drives[:n-1], before
	}
	r.rounds = slices.DeleteFunc(r.rounds, func(round debate.ToolsCalled) bool {
		if round.Key != k {
			return false
		}
		s.calls = append(s.calls, round.Calls...)
		return true
	})
	d.steps = append(d.steps, s)
	d.extend(s.ended)
}

// extend lets the drive last at least until a time. Times of entries are rounded down, and those of steps are not.
func (s *replayedDrive) extend(at time.Time) {
	if at.After(s.ended) {
		s.ended = at
	}
}

// record records the spans of a drive.
func (s *replayedDrive) record(ctx context.Context, t *tracing, id string, previous trace.SpanContext) trace.SpanContext {
	d := t.startDrive(ctx, id, s.began, previous)
	for _, n := range s.notes {
		d.note(n)
	}
	slices.SortStableFunc(s.steps, func(a, b replayedStep) int { // a journal has the steps of a parallel phase as they ended
		return cmp.Or(cmp.Compare(a.phase, b.phase), a.began.Compare(b.began))
	})
	for _, u := range s.steps {
		x := d.startStep(u.Step, u.began) //nolint:contextcheck // the drive has a context with its span
		for _, a := range u.attempts {
			began := cmp.Or(a.Began, u.began) // a journal may be older than the field
			if began.Before(u.began) {
				continue
			}
			x.startCall(began, a.Provider, a.Requested).end(callEnd{attempt: &a, kind: a.ErrorKind}, began.Add(a.Duration))
		}
		for i := range u.calls {
			x.replayTool(&u.calls[i], u.began)
		}
		x.end(u.end, u.ended)
	}
	d.end(s.status, s.kind, "", s.ended)
	return d.span.SpanContext()
}
