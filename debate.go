package debate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// control commits a change that does not come from the driver. A change that was already made is not an error. If a
// hook panics, control returns a *Failure.
func (d *Debate) control(ctx context.Context, verb string, f func(*transaction) error) (err error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s debate %s: %w", verb, d.ID(), err)
		}
	}()
	defer catchFailure(&err, transcript.Key{})
	if err := d.journal.change(ctx, f); err != nil {
		return err
	}
	if d.journal.driver != nil { // the store does not notify the handle of its own commits
		d.journal.driver.recheck()
	}
	return nil
}

// Debate is a handle on one debate. Many handles, in many processes, may refer to the same debate. A handle is safe
// for concurrent use.
//
// You may repeat Start, Pause, Resume, Stop, Cancel, Retry, Reset and Decide, and Inject with the same Remark.ID: if the
// call has taken effect before, it returns nil and changes nothing. If the debate's state does not allow a call, it
// changes nothing and returns *fsm.Refused, which lists the methods that are possible.
type Debate struct {
	engine  *Engine
	journal *openJournal
}

// handleOn returns a handle on a debate that nothing has read yet.
func handleOn(e *Engine, id string) *Debate { return &Debate{engine: e, journal: openJournalOf(e, id)} }

// Start drives the debate in the background, until it has ended or failed. If the debate is paused, driving continues
// after Resume. If the store schedules debates, workers drive it; otherwise this engine does. Use Watch to follow it.
// Starting a debate that is already running is not an error. A paused debate needs Resume instead, except a fork that nobody
// has started.
//
// Start returns ErrUnsupported and changes nothing if the debate needs something that Options does not provide. If
// workers drive the debate, Start does not check this, because workers have their own Options.
func (d *Debate) Start(ctx context.Context) error {
	workers := d.engine.schedules
	err := d.control(ctx, "start", func(c *transaction) error {
		c.schedule = workers
		if !workers && c.rec.drivable() {
			if err := lackError(d.engine.lacks(c.rec.seats())); err != nil {
				return err
			}
		}
		if c.rec.lifecycle.State.Active() {
			return nil
		}
		return c.start()
	})
	if err != nil || workers {
		d.engine.tellLack(ctx, d.ID(), err)
		return err
	}
	return startBackground(context.WithoutCancel(ctx), d.engine, openJournalOf(d.engine, d.ID()), false)
}

// Recover drives the debate in the background if it is running and the engine that drove it has gone, as [Engine.Recover]
// does for all debates. Otherwise it changes nothing: it never ends a pause.
func (d *Debate) Recover(ctx context.Context) error {
	s, err := d.Status(ctx)
	if !s.State.Active() || d.engine.drivers.Drives(s.ID) || !d.engine.heartbeats.IsGone(s) {
		return err
	}
	return takeOver(ctx, d.engine, s.ID)
}

// controlAndDrive commits a change as control does. It then drives the debate in the background if an engine did so until it was
// paused and that engine has gone.
func (d *Debate) controlAndDrive(ctx context.Context, verb string, f func(*transaction) error) error {
	if err := d.control(ctx, verb, f); err != nil {
		return err
	}
	s, err := d.Status(ctx)
	if s.Driver.Name == "" || len(s.Driver.Missing) > 0 || !s.State.Active() ||
		d.engine.drivers.Drives(s.ID) {
		return err
	}
	return takeOver(ctx, d.engine, s.ID)
}

// takeOver drives a debate in the background, unless another engine does so first.
func takeOver(ctx context.Context, e *Engine, id string) error {
	d := handleOn(e, id)
	if e.schedules { // workers drive it
		return d.Start(ctx)
	}
	claimed, err := e.heartbeats.Claim(ctx, id)
	if len(claimed) == 0 {
		return err
	}
	err = d.Start(ctx)
	if err != nil {
		e.heartbeats.Disclaim(ctx, id, errors.Is(err, ErrUnsupported))
	}
	if _, over := errors.AsType[*fsm.Refused](err); over { // it has just ended or was paused
		return nil
	}
	return err
}

// ID returns the debate's id.
func (d *Debate) ID() string { return d.journal.id }

// Status returns a short summary of the debate's state. Its Driver is the last heartbeat of the engine that drives the
// debate, in any process, or tells what an engine lacks to drive it.
func (d *Debate) Status(ctx context.Context) (store.Status, error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return store.Status{}, err
	}
	s := statusOf(d.journal.rec)
	s.Driver = d.journal.rec.stored.driver
	return withoutPastDriver(s), nil
}

// Waiting returns what the debate waits for people for, in the order of the steps. Answer or Decline each by its Key. Waiting
// returns ErrUnsupported if the engine lacks the debate's protocol.
func (d *Debate) Waiting(ctx context.Context) (list []Asked, err error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return nil, err
	}
	if err := d.journal.rec.canContinue(); err != nil {
		return nil, fmt.Errorf("read what debate %s waits for: %w", d.ID(), err)
	}
	for _, a := range d.journal.rec.waiting() {
		q := deepcopy.Of(*a)
		if err := brief(d.journal.rec, &q); err != nil {
			return nil, fmt.Errorf("read what debate %s waits for: %w", d.ID(), err)
		}
		list = append(list, q)
	}
	return list, nil
}

// read brings the record up to date and has f read it.
func (d *Debate) read(ctx context.Context, f func(*record)) error {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return err
	}
	f(d.journal.rec)
	return nil
}

// Document returns the text of a document for a participant or a judge who reads it, with the names that this seat sees.
// Whoever asks must speak for the seat; check that first. It returns *Problems if the seat reads no such document, and
// ErrUnsupported if Options.Documents does not give the text.
func (d *Debate) Document(ctx context.Context, seat, name string) (string, error) {
	var m *judge.Pseudonyms
	var list []evidence.Document
	var labels map[string]string
	err := d.read(ctx, func(r *record) {
		var who Participant
		if p := r.config.Actor(seat); p != nil {
			who = *p
		}
		m = r.Pseudonyms(&protocol.Step{Key: transcript.Key{Actor: seat}, Blind: who.Blind})
		list = r.seats().DocumentsOf(seat)
		labels = r.config.Labels
	})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(x evidence.Document) bool {
		return m.Hide(x.Name) == name || x.Name == name
	})
	if at < 0 {
		return "", problemOf("document", "name", "%q is no document that %q reads", name, seat)
	}
	text := list[at].Text
	if list[at].IsPrivate() {
		text, err = d.engine.readDocument(ctx, d.ID(), labels, list[at])
		if err != nil {
			return "", fmt.Errorf("read document of debate %s: %w", d.ID(), err)
		}
	}
	return m.Hide(text), nil
}

// Blind returns the people of the debate who must not know who says what at present: a judge with Participant.Blind until the
// debate ends, and anybody who will still see the participants under pseudonyms, as the members of a council do who rank
// answers. WatchAs and ReplayAs show them nothing. If you show them the debate in another way, leave out names and texts.
func (d *Debate) Blind(ctx context.Context) (seats []string, err error) {
	err = d.read(ctx, func(r *record) {
		if r.config == nil || r.canContinue() != nil {
			return
		}
		_ = r.ask(func(r *record) {
			for _, list := range [][]Participant{r.config.Participants, r.config.Judges} {
				for _, p := range list {
					if r.isBlind(p.Name) {
						seats = append(seats, p.Name)
					}
				}
			}
		})
	})
	return seats, err
}

// quotable returns the private documents of an actor with their texts, if a reply may quote them. A document that cannot be
// read is left out: quotes of it are not checked.
func (d *Debate) quotable(ctx context.Context, actor, reply string) (list []evidence.Document) {
	if !sources.MayQuote(reply) {
		return nil
	}
	var labels map[string]string
	_ = d.read(ctx, func(r *record) { // if it fails, the reply fails too
		list = privateOnes(r.seats().DocumentsOf(actor))
		labels = r.config.Labels
	})
	for i := range list {
		list[i].Text, _ = d.engine.readDocument(ctx, d.ID(), labels, list[i])
	}
	return list
}

// Result returns the debate so far, or as it ended.
func (d *Debate) Result(ctx context.Context) (*Result, error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return nil, err
	}
	return resultOf(d.journal.rec), nil
}

// Run drives the debate: it runs its steps, commits their turns and yields its events, until the debate ends, pauses
// or fails. The last event of a debate that has ended is [Ended], with the result. If the debate fails or its
// configuration is rejected, Run yields the cause once, as the last error. If the debate needs something that Options
// does not provide, Run yields ErrUnsupported and changes nothing.
//
// If the first call of the debate cannot reach a provider that has never answered this engine, Run fails the debate within
// 30 s, with a Failure that is Unreachable. Later, and with Start and RunOnce, the debate waits for its providers.
//
// If you break out of the loop, or ctx ends, driving stops but the debate does not end. Calls in flight are canceled
// and nothing more is committed. Run yields the end of ctx as an error. A later Run, RunOnce or Start continues from
// the last committed turn.
//
// If a provider, a protocol or a hook panics, the debate fails. A panic in the loop's body reaches you. If one of them calls
// runtime.Goexit, its goroutine ends. If this is yours, driving stops, and the debate stays as it was last committed. Each step
// of a parallel phase has a goroutine of its own; if that ends, the debate fails.
//
// The model's stream waits while the loop's body runs. A slow body slows the debate down but causes no timeout. A
// second Run in the same engine yields ErrBusy. A second Run in another process is safe, but pays for the same calls
// again.
//
// An interrupted program loses a debate that is only in memory. To end the debate first, pass Run a context that the
// interruption does not cancel. Use context.AfterFunc to call Stop or Cancel when the interruption cancels another
// context.
func (d *Debate) Run(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		dr, err := engage(ctx, d.engine, d.journal, yield)
		if err != nil {
			yield(nil, err)
			return
		}
		defer dr.release()
		dr.signs = true
		dr.observe()
		for more := true; more && err == nil && !dr.out.Gone; {
			more, err = dr.advance() //nolint:contextcheck // see fail
		}
		switch {
		case dr.out.Gone:
		case err != nil:
			yield(nil, err)
		default:
			dr.showEnd()
		}
	}
}

// RunOnce runs the steps that may run now, which is one step or all missing steps of a parallel phase. It commits
// them and reports whether there is more to do. Workers use it as their unit of work. It returns false if the debate
// has ended or is paused, and an error if it failed or was rejected. It runs only the plan in the debate's status. If
// the store schedules debates and there is no plan, it does nothing. It returns ErrUnsupported and changes nothing if the
// debate needs something that Options does not provide.
func (d *Debate) RunOnce(ctx context.Context) (more bool, err error) {
	return d.RunWhile(ctx, func(store.Status) bool { return false })
}

// RunWhile calls RunOnce until it returns false or an error, the next plan has no key, or again returns false for the status
// after a plan. Unlike calls of RunOnce, RunWhile reads the journal only if the store announces what others have committed.
func (d *Debate) RunWhile(ctx context.Context, again func(store.Status) bool) (more bool, err error) {
	dr, err := engage(ctx, d.engine, d.journal, nil)
	if err != nil {
		return false, err
	}
	defer dr.release()
	dr.only = dr.status().Plan.Key
	if dr.only == "" && d.engine.schedules { // the debate was not started, or this engine cannot plan
		err := dr.lacksForPlan()
		if err == nil {
			_, err = dr.hasMore()
		}
		return false, err
	}
	dr.observe()
	for {
		more, err = dr.advance() //nolint:contextcheck // see fail
		if !more || err != nil {
			return more, err
		}
		s := dr.status()
		dr.only = s.Plan.Key
		if dr.only == "" || !again(s) {
			return more, nil
		}
	}
}

func (d *Debate) ending(ctx context.Context) (Ended, error) {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return Ended{}, err
	}
	return endedOf(d.journal.rec), nil
}
