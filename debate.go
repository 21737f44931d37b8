package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/google/uuid"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/live"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

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
func handleOn(e *Engine, id string) *Debate {
	return &Debate{engine: e, journal: openJournalOf(e, id)}
}

// newID returns an id that sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// ID returns the debate's id.
func (d *Debate) ID() string { return d.journal.id }

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
		if !workers && c.State.Drivable() {
			if err := core.LackError(d.engine.lacks(c.State.ActorSettings())); err != nil {
				return err
			}
		}
		if c.State.Lifecycle.State.Active() {
			return nil
		}
		return c.Decide(&core.Act{Kind: journal.ActStart})
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
	if !s.State.Active() ||
		d.engine.drivers.Drives(s.ID) ||
		!d.engine.heartbeats.IsGone(s) {
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
		e.heartbeats.Disclaim(ctx, id, errors.Is(err, core.ErrUnsupported))
	}
	if _, over := errors.AsType[*fsm.Refused](err); over { // it has just ended or was paused
		return nil
	}
	return err
}

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

// read brings the record up to date and has f read it.
func (d *Debate) read(ctx context.Context, f func(*core.State)) error {
	d.journal.mu.Lock()
	defer d.journal.mu.Unlock()
	if err := d.journal.refresh(ctx); err != nil {
		return err
	}
	f(d.journal.rec)
	return nil
}

// Status returns a short summary of the debate's state. Its Driver is the last heartbeat of the engine that drives the
// debate, in any process, or tells what an engine lacks to drive it.
func (d *Debate) Status(ctx context.Context) (s store.Status, err error) {
	err = d.read(ctx, func(r *core.State) {
		s = core.StatusOf(r)
		s.Driver = r.Stored.Driver
		s = withoutPastDriver(s)
	})
	return s, err
}

// Waiting returns what the debate waits for people for, in the order of the steps. Answer or Decline each by its Key. Waiting
// returns ErrUnsupported if the engine lacks the debate's protocol.
func (d *Debate) Waiting(ctx context.Context) (list []Asked, err error) {
	var unknown error
	err = d.read(ctx, func(r *core.State) { list, unknown = waitingIn(r) })
	switch {
	case err != nil:
		return nil, err
	case unknown != nil:
		return nil, fmt.Errorf("read what debate %s waits for: %w", d.ID(), unknown)
	}
	return list, nil
}

// waitingIn returns what a record waits for people for, with their briefings.
func waitingIn(r *core.State) (list []Asked, err error) {
	if err := r.CanContinue(); err != nil {
		return nil, err
	}
	for _, a := range r.Waiting() {
		q := deepcopy.Of(*a)
		if err := core.Brief(r, &q); err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// Document returns the text of a document for a participant or a judge who reads it, with the names that this seat sees.
// Whoever asks must speak for the seat; check that first. It returns *Problems if the seat reads no such document, and
// ErrUnsupported if Options.Documents does not give the text.
func (d *Debate) Document(ctx context.Context, seat, name string) (string, error) {
	var m *judge.Pseudonyms
	var list []evidence.Document
	var labels map[string]string
	err := d.read(ctx, func(r *core.State) {
		var who Participant
		if p := r.Config.Actor(seat); p != nil {
			who = *p
		}
		m = r.Pseudonyms(&protocol.Step{
			Key:   transcript.Key{Actor: seat},
			Blind: who.Blind,
		})
		list = r.ActorSettings().DocumentsOf(seat)
		labels = r.Config.Labels
	})
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(x evidence.Document) bool {
		return m.Hide(x.Name) == name || x.Name == name
	})
	if at < 0 {
		return "", core.ProblemOf("document", "name", "%q is no document that %q reads", name, seat)
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
	err = d.read(ctx, func(r *core.State) {
		if r.Config == nil || r.CanContinue() != nil {
			return
		}
		_ = r.Safely(func(r *core.State) {
			for _, list := range [][]Participant{r.Config.Participants, r.Config.Judges} {
				for _, p := range list {
					if r.IsBlind(p.Name) {
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
	_ = d.read(ctx, func(r *core.State) { // if it fails, the reply fails too
		list = core.PrivateOnes(r.ActorSettings().DocumentsOf(actor))
		labels = r.Config.Labels
	})
	for i := range list {
		list[i].Text, _ = d.engine.readDocument(ctx, d.ID(), labels, list[i])
	}
	return list
}

// Result returns the debate so far, or as it ended.
func (d *Debate) Result(ctx context.Context) (result *Result, err error) {
	err = d.read(ctx, func(r *core.State) { result = core.ResultOf(r) })
	return result, err
}

// ending returns the last event of a debate that has ended.
func (d *Debate) ending(ctx context.Context) (last Ended, err error) {
	err = d.read(ctx, func(r *core.State) { last = endedOf(r) })
	return last, err
}

// Estimate returns what the whole debate costs, as if it had not begun. It calls no model.
func (d *Debate) Estimate(ctx context.Context) (e Estimate, err error) {
	defer func() {
		if err != nil {
			e = Estimate{}
			err = fmt.Errorf("estimate debate %s: %w", d.ID(), err)
		}
	}()
	defer catchFailure(&err, transcript.Key{})
	err = d.read(ctx, func(r *core.State) {
		err = r.LacksProtocol()
		if err == nil {
			e = core.EstimateOf(r.Config, r.Engine)
		}
	})
	return e, err
}

// Pause prevents new steps from starting. It takes effect at once. Calls in flight continue, and their turns are
// committed. A step that waits for its next attempt waits no longer: it begins again after Resume. A check of the
// configuration is canceled, and repeated after Resume. Pause holds a debate that has paused because it waits for people:
// their replies are committed, but the debate continues only after Resume.
func (d *Debate) Pause(ctx context.Context) error {
	return d.control(ctx, "pause", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActPause})
	})
}

// Resume continues a paused debate. Call Run, RunOnce or Start afterwards to drive it, unless Start drives it in the
// background of any engine: then it continues there. If that engine has gone, this engine drives it in the background
// instead; Status.Driver tells who does. Resume returns an error while a question is open: Decide answers the question
// and resumes. A debate that waits for people's replies continues when the last of them is given. Until then, Resume returns an
// error, except after a Pause, whose hold it ends.
func (d *Debate) Resume(ctx context.Context) error {
	return d.controlAndDrive(ctx, "resume", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActResume})
	})
}

// Stop ends the debate with a conclusion based on the turns so far. Calls in flight are canceled. If there is no speech
// yet, the debate ends without a conclusion. If the debate was paused, it goes on as after Resume. If the conclusion waits
// for people, Stop declines their steps. Stop changes nothing at the gate before the conclusion: Decide opens it.
func (d *Debate) Stop(ctx context.Context) error {
	return d.controlAndDrive(ctx, "stop", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActStop})
	})
}

// Cancel ends the debate at once, without a verdict. Calls in flight are canceled.
func (d *Debate) Cancel(ctx context.Context) error {
	return d.control(ctx, "cancel", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActCancel})
	})
}

// Retry makes a debate in error ready again. Call Run, RunOnce or Start to drive it. Committed steps do not run
// again.
func (d *Debate) Retry(ctx context.Context) error {
	return d.control(ctx, "retry", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActRetry})
	})
}

// Reset takes a debate in error back to configuring, for a new run. The turns of the old run stay in the journal, but
// no prompt and no Result contains them.
func (d *Debate) Reset(ctx context.Context) error {
	return d.control(ctx, "reset", func(c *transaction) error {
		return c.Decide(&core.Act{Kind: journal.ActReset})
	})
}

// maxRefusal limits, in bytes, the reason for refusing a call of a tool.
const maxRefusal = 900

// Decide answers a question with the action of one of its choices. id is the question's ID, so that an answer never goes
// to a later question. The Result and the event of the pause have the question. The action edit takes a remark, which is
// added as by Inject. The action refuse, for a call of a tool, may have a remark: its text tells the model why. Decide
// returns *Problems if another question is open, if no choice has that action, if the question has another answer, or if the
// remark is invalid, and *fsm.Refused if no question is open.
func (d *Debate) Decide(ctx context.Context, id, action string, remarks ...Remark) error {
	return d.controlAndDrive(ctx, "decide", func(c *transaction) error {
		if answer, answered := c.State.Decisions.Made[id]; answered {
			if answer == action {
				return nil
			}
			return core.ProblemOf("", "action", "question %s was answered with %q", id, answer)
		}
		q := c.State.Decisions.Question
		switch {
		case q == nil:
			return c.Refuse("decide")
		case q.ID != id:
			return core.ProblemOf("", "id", "%q is not the open question, which is %q", id, q.ID)
		case !slices.Contains(core.ActionsOf(q), action):
			return core.ProblemOf("", "action", "%q is not a choice, use one of %s", action, strings.Join(core.ActionsOf(q), ", "))
		}
		ev := Decided{
			EventMeta: c.StampFor(journal.ActDecide, "decided"),
			At:        c.Now,
			Action:    action,
			Question:  id,
		}
		switch {
		case action == core.ActionRefuse && len(remarks) <= 1:
			for _, r := range remarks {
				ev.By = r.From
				ev.Reason = characters.Valid(r.Text)
				if len(ev.Reason) > maxRefusal {
					return core.ProblemOf("remark", "text", "it has %d bytes, use at most %d", len(ev.Reason), maxRefusal)
				}
			}
			remarks = nil
			if err := core.ProblemsOf("reply", userinput.CheckBy(ev.By)); err != nil {
				return err
			}
		case (action == core.ActionEdit) != (len(remarks) == 1):
			return core.ProblemOf(
				"",
				"remark",
				"there are %d, but only the action edit takes one, and refuse may have one",
				len(remarks),
			)
		}
		a := &core.Act{Kind: journal.ActDecide, Given: ev}
		for _, r := range remarks {
			said, err := c.NewRemark(r)
			if err != nil {
				return err
			}
			a.Remark = said
		}
		return c.Decide(a)
	})
}

// Inject adds a person's remark. Steps that begin later see it. Steps of a parallel phase do not see remarks that
// were added after their phase began. Inject returns *Problems if the remark is invalid.
func (d *Debate) Inject(ctx context.Context, r Remark) error {
	r.ID = cmp.Or(r.ID, newID())
	return d.control(ctx, "inject a remark into", func(c *transaction) error {
		said, err := c.NewRemark(r)
		if err != nil || said == nil {
			return err
		}
		return c.Decide(&core.Act{
			Kind:  journal.ActRemark,
			Given: *said,
		})
	})
}

// Answer gives a person's reply to a step, as text or as JSON that follows the schema of the [Asked] event. by names who
// replies, and defaults to the actor. If the debate waits only for people and this was the last reply, it continues.
//
// Answer returns *Problems if the reply is invalid, field by field. It returns ErrNotAsked if the debate does not ask for
// the step, and ErrAnswered if the step has another reply. Giving the same reply again is not an error.
func (d *Debate) Answer(ctx context.Context, key transcript.Key, text, by string) error {
	documents := d.quotable(ctx, key.Actor, text)
	same := func(r *core.State) bool {
		return r.Keys.IsReply(r.People.Replies[key], key.String(), text)
	}
	return d.reply(ctx, journal.ActAnswer, key, same, func(c *transaction, s *protocol.Step) (Event, error) {
		asked := c.State.People.Asked[key]
		valid := characters.Valid(text)
		t, err := core.GivenTurn(c.State, s, "reply", valid, c.State.Engine.Count("", valid), asked.Tokens)
		if err := cmp.Or(core.ProblemsOf("reply", userinput.CheckBy(by)), err); err != nil {
			return nil, err
		}
		t.Started = asked.At
		t.Ended = c.Now
		t.Citations = c.State.Sources.Cite(&t, sources.TextsOf(documents)).Check(c.State.Engine.Texts)
		t.By = cmp.Or(by, s.Actor)
		c.State.Extract(&t)
		remains := core.Remains(c.State, s, c.State.Messages(s))
		return TurnDone{
			EventMeta: c.StampFor(journal.ActAnswer, "turn"),
			At:        c.Now,
			Turn:      t,
			Reply:     c.State.Keys.Reply(key.String(), text),
			Remains:   remains,
		}, nil
	})
}

// Decline says that a person gives no reply to a step. The policy for failures of the actor applies, as to a failure of
// the kind declined; substitutes do not reply in place of a person. Declining again is not an error. The reason may have as
// many tokens as a reply. Decline returns the errors of Answer.
func (d *Debate) Decline(ctx context.Context, key transcript.Key, reason, by string) error {
	same := func(r *core.State) bool {
		return r.People.Declined[key] != nil
	}
	return d.reply(ctx, journal.ActDecline, key, same, func(c *transaction, _ *protocol.Step) (Event, error) {
		reason = characters.Valid(reason)
		if err := core.ProblemsOf("reply", userinput.CheckBy(by)); err != nil {
			return nil, err
		}
		tokens := c.State.Engine.Count("", reason)
		most := c.State.People.Asked[key].Tokens
		if tokens > most {
			return nil, core.ProblemOf("reply", "reason", "about %d tokens are too long, use at most %d", tokens, most)
		}
		return Decided{
			EventMeta: c.StampFor(journal.ActDecline, "decided"),
			At:        c.Now,
			Action:    core.ActionDecline,
			Key:       key,
			By:        by,
			Reason:    reason,
		}, nil
	})
}

// reply adds what f returns of a person's reply to the step with the given key, and continues the debate. It does nothing if the
// record has the same reply.
func (d *Debate) reply(
	ctx context.Context,
	kind journal.Act,
	key transcript.Key,
	same func(*core.State) bool,
	f func(*transaction, *protocol.Step) (Event, error),
) error {
	return d.controlAndDrive(ctx, string(kind), func(c *transaction) error {
		r := c.State
		switch _, done := r.Find(key); {
		case same(r):
			return nil
		case done && r.People.Asked[key] != nil:
			return fmt.Errorf("step %s: %w", key, ErrAnswered)
		case r.CanContinue() != nil:
			return r.CanContinue()
		}
		s := r.Open(key)
		if s == nil || !r.WaitsFor(*s) {
			return fmt.Errorf("step %s: %w", key, ErrNotAsked)
		}
		given, err := f(c, s)
		if err != nil {
			return err
		}
		return c.Decide(&core.Act{Kind: kind, Given: given})
	})
}

// Annotate stores a note on the debate, also after its end. value must encode to JSON. A later note with the same
// name replaces the earlier one. Protocols read the note "rating" as the user's rating. A debate has at most 100 notes.
// A name has at most 128 bytes and no control characters, a value at most 16 KiB of JSON, and all of them at most 64 KiB;
// those that were replaced count up to 4 MiB. The name "signature" is that of Options.Signer. Annotate returns *Problems if a
// note is not valid.
func (d *Debate) Annotate(ctx context.Context, name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("annotate debate %s: encode %s: %w", d.ID(), name, err)
	}
	return d.control(ctx, "annotate", func(c *transaction) error {
		if name == chain.NoteName {
			return core.ProblemOf("annotation", "name", "%q is the name of the engine's signature, use another one", name)
		}
		if err := core.ProblemsOf("annotation", c.State.Notes.Check(name, b)); err != nil {
			return err
		}
		return c.Decide(&core.Act{Kind: journal.ActAnnotate, Given: Annotated{
			EventMeta: c.StampFor(journal.ActAnnotate, "annotated"),
			At:        c.Now,
			Name:      name,
			Value:     b,
		}})
	})
}

// Edit replaces the configuration of a debate that is configuring or ready. After the first turn, you cannot change
// the seed, the topic, the background, the protocol, or the names and profiles of the participants without a Reset;
// you can change everything else, such as models, who is a person, limits and judges. An empty Seed keeps the debate's.
// Edit returns *Problems and changes nothing if the new configuration is invalid.
func (d *Debate) Edit(ctx context.Context, cfg Config) error {
	cfg.ID = d.ID()
	cfg, found := d.engine.problems(cfg, false)
	return d.control(ctx, "edit", func(c *transaction) error {
		if _, err := fsm.Next(c.State.Lifecycle, fsm.Edit, c.State.Facts()); err != nil {
			return err
		}
		cfg.Seed = cmp.Or(cfg.Seed, c.State.Seed)
		problems := slices.Concat(
			found,
			frozenFields(c.State, cfg),
			userinput.CheckReaders(c.State.Config.Documents, cfg.Documents),
		)
		if err := core.ProblemsError(problems); err != nil {
			return err
		}
		c.undo = d.engine.protocols.Add(cfg.ID, cfg.Protocol)
		raw, err := json.Marshal(cfg)
		if err != nil {
			return err
		}
		return c.Decide(&core.Act{Kind: journal.ActEdit, Given: ConfigChanged{
			EventMeta: c.StampFor(journal.ActEdit, "config"),
			At:        c.Now,
			Format:    store.Format,
			Config:    raw,
		}})
	})
}

// Preview is a request that the debate would send.
type Preview struct {
	Key      transcript.Key     `json:"key"`
	Kind     transcript.Kind    `json:"kind"`
	Provider string             `json:"provider,omitempty"` // as configured
	Request  providers.Request  `json:"request"`
	Tokens   int                `json:"tokens"`           // estimated tokens of the prompt
	Window   *transcript.Window `json:"window,omitempty"` // how the history fits the window; nil if nothing was cut
}

// Preview returns the requests that the debate would send next: one for each step that may run, except those of people. It
// calls no model and commits nothing. It returns none for a debate that has ended.
func (d *Debate) Preview(ctx context.Context) ([]Preview, error) {
	look := openJournalOf(d.engine, d.ID()) // a separate record, which is discarded afterwards
	look.mu.Lock()
	defer look.mu.Unlock()
	if err := look.refresh(ctx); err != nil {
		return nil, err
	}
	if err := core.AdvanceToSteps(look.rec, d.engine.knownWindows(ctx, look.rec.Config), time.Now()); err != nil {
		return nil, err
	}
	var list []Preview
	for _, s := range look.rec.Next() {
		if look.rec.IsHuman(s.Actor) {
			continue
		}
		x, err := d.engine.newExecution(look.rec, s)
		if err != nil {
			return nil, err
		}
		provider := x.run.Plan.Model.Provider
		seen := x.run.Plan.Window
		request, tokens, _ := x.run.Repeat(nil, nil)
		list = append(list, Preview{
			Key:      s.Key,
			Kind:     s.Kind,
			Provider: provider,
			Request:  request,
			Tokens:   tokens,
			Window:   seen,
		})
	}
	return list, nil
}

// Watch follows the debate, whichever process drives it. It first yields the stored events after the given seq (0 for
// all), then new events. If this engine drives the debate, it also yields live events, from the attempts in flight on:
// it shows what Run shows. The last event of a debate that has ended is [Ended], with the result. If ctx ends or the
// engine is closed, Watch yields that as an error.
//
// If the last start of the debate was refused, Watch yields *Problems after the last event. After an Edit or another
// start you can watch the debate again. Watch does not stop if the debate is paused or in error, because it may
// continue. The [StateChanged] event then holds the question or the failure. Watch does not drive the debate. A slow
// viewer delays nobody: it receives the chunks that it missed in one piece. A viewer that falls more than 1,000
// attempts behind misses the live events of the oldest ones; a [Warning] tells it how many.
func (d *Debate) Watch(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		feed, leave := d.engine.feeds.Join(d.ID())
		defer leave()
		v, leaveFeed := feed.Watch(kind{}, max(after, 0))
		defer leaveFeed()
		v.Refresh()
		defer d.engine.store.Watch(d.ID(), func(int64) { v.Refresh() })()
		for {
			over := d.engine.ctx.Err() // read first: the read below is the last one if the engine is closed
			more, err := d.showNews(ctx, v, yield)
			if err == nil && more && over != nil {
				err = ErrClosed
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
			select {
			case <-v.News:
			case <-d.engine.ctx.Done():
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

// WatchAs follows the debate for a viewer who speaks for a participant or a judge. It shows nothing of an open parallel phase
// until that seat has spoken in it, so that the speaker is not influenced: neither the live events of others, nor their
// turns, nor what follows these. It then yields the stored events that it has withheld. If the debate fails in such a phase,
// WatchAs withholds them until the phase continues or the debate ends. WatchAs yields *Problems if no participant or
// judge has that name, and ErrUnsupported if the engine lacks the debate's protocol.
//
// Until [Ended], events have neither the reasoning of other actors nor their raw replies, which may contain it. The
// configuration has only the attachments for that seat.
//
// WatchAs shows a person nothing while a step is open, or is still to come, in which this person sees the participants under
// pseudonyms, because events have their real names. That is a judge with Participant.Blind until the debate ends, and a
// person who ranks the answers of a council until it has done so. Show such a person what Waiting asks; Blind names them.
func (d *Debate) WatchAs(ctx context.Context, seat string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		viewer := newViewer(d, seat, after)
		for ev, err := range d.Watch(ctx, 0) { // from the beginning, to know which phase is open
			if err == nil {
				err = viewer.add(ev)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, ev := range viewer.Take() {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// viewer withholds events from a viewer who speaks for a seat.
type viewer struct {
	live.Blindfold[Event]

	rec *core.State
}

// newViewer returns a viewer who has seen the events up to the seq after.
func newViewer(d *Debate, seat string, after int64) *viewer {
	return &viewer{
		Blindfold: live.Blindfold[Event]{
			Seat:   seat,
			After:  after,
			Masked: true,
		},
		rec: core.NewState(d.ID(), d.engine.env),
	}
}

// add adds an event. It drops live events that the viewer must not see, and events that the viewer has seen.
func (v *viewer) add(ev Event) error {
	meta := ev.Meta()
	r := v.rec
	if !meta.Live {
		_, at := journal.KeyAndTime(ev)
		if err := r.Apply(ev, at); err != nil {
			return err
		}
		who := r.Config.Actor(v.Seat)
		final := r.Lifecycle.State.Final()
		if who == nil {
			return fmt.Errorf(
				"watch debate %s: %w",
				r.ID,
				core.ProblemOf("seat", "seat", "no participant or judge has the name %q", v.Seat),
			)
		}
		if err := r.CanContinue(); err != nil { // nobody can tell which phases are open
			return fmt.Errorf("watch debate %s as %q: %w", r.ID, v.Seat, err)
		}
		v.Masked = false
		_ = r.Safely(func(r *core.State) {
			v.Masked = r.IsBlind(v.Seat)
			v.At(&r.Record, r.Parallel, final, r.Next)
		})
	}
	own := stepOf(ev).Actor == v.Seat
	if !v.Wants(meta.Seq, meta.Live, own) {
		return nil
	}
	shown, by := v.withoutThoughts(ev)
	v.Add(shown, meta.Seq, by)
	return nil
}

// withoutThoughts returns an event without what only another actor knows: its reasoning, its raw replies, and attachments
// that are not for the viewer. by is the key of a turn or of a round of calls of tools.
func (v *viewer) withoutThoughts(ev Event) (shown Event, by transcript.Key) {
	switch ev := ev.(type) {
	case ConfigChanged:
		ev.Config = live.ConfigFor(ev.Config, v.Seat)
		return ev, by
	case Asked:
		if ev.Key.Actor != v.Seat {
			ev.Attachments = nil
		}
		return ev, by
	case ToolsCalled:
		if ev.Key.Actor != v.Seat {
			ev.Parts = nil
			ev.Attempts = live.WithoutReplies(ev.Attempts)
		}
		return ev, ev.Key
	case TurnDone:
		if ev.Turn.Actor != v.Seat {
			ev.Turn.Reasoning = nil
			ev.Turn.Attempts = live.WithoutReplies(ev.Turn.Attempts)
		}
		return ev, ev.Turn.Key
	case Dropped:
		ev.Failure = v.withoutReplies(ev.Failure)
		ev.OtherFailures = v.allWithoutReplies(ev.OtherFailures)
		return ev, by
	case StateChanged:
		ev.Failure = v.withoutReplies(ev.Failure)
		ev.OtherFailures = v.allWithoutReplies(ev.OtherFailures)
		if ev.Question != nil {
			q := *ev.Question
			q.Failure = v.withoutReplies(q.Failure)
			ev.Question = &q
		}
		return ev, by
	}
	return ev, by
}

// withoutReplies returns a failure without the raw replies of another actor.
func (v *viewer) withoutReplies(f *Failure) *Failure {
	if f == nil || f.Key.Actor == v.Seat {
		return f
	}
	shown := *f
	shown.AttemptDetails = live.WithoutReplies(f.AttemptDetails)
	return &shown
}

func (v *viewer) allWithoutReplies(list []*Failure) []*Failure {
	list = slices.Clone(list)
	for i, f := range list {
		list[i] = v.withoutReplies(f)
	}
	return list
}

// showNews yields what is new to a viewer and reports whether more may follow. Nothing follows an error.
func (d *Debate) showNews(ctx context.Context, v *live.Watcher[Event], yield func(Event, error) bool) (more bool, err error) {
	stale := v.Stale()
	last := v.Seq
	var status store.Status
	var stored []live.Timed[Event]
	if stale {
		status, stored, err = d.readEvents(ctx, &last, math.MaxInt64)
	}
	list, missed := v.Take() // read after the journal: it has all live events that precede the entries
	if missed > 0 {
		list = slices.Insert(list, 0, live.Timed[Event]{Event: Warning{
			EventMeta: core.LiveMeta("warning"),
			Text:      fmt.Sprintf("this viewer is too slow: it misses the live events of %d attempts", missed),
		}})
	}
	if n := len(list); err == nil && n > 0 && list[n-1].After > last {
		var newer []live.Timed[Event] // they precede the last live event
		_, newer, err = d.readEvents(ctx, &last, list[n-1].After)
		stored = append(stored, newer...)
		v.Refresh()
	}
	list = append(list, stored...)
	live.SortByTime(list) // a live event precedes the entry that follows the same one
	stays := v.Show(list, yield)
	if !stays { // it must not get the error
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Seq = last
	if !stale {
		return true, nil
	}
	return d.showEnd(ctx, v, status, yield)
}

// showEnd yields the last event of a debate to a viewer who has seen all entries, if the debate has ended, and reports whether more
// may follow. If its configuration was refused, the error says why.
func (d *Debate) showEnd(
	ctx context.Context, v *live.Watcher[Event], status store.Status, yield func(Event, error) bool,
) (more bool, err error) {
	if status.Seq < v.Seq { // it is wrong, or belongs to another debate with the same id
		status, err = d.Status(ctx)
		if err != nil {
			return false, err
		}
		v.Seq = min(v.Seq, status.Seq)
	}
	if !status.State.Final() && len(status.Problems) == 0 || status.Seq > v.Seq {
		return true, nil
	}
	end, err := d.ending(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case end.Seq > v.Seq: // there is a new entry
		v.Refresh()
		return true, nil
	case end.Result.State.Final():
		yield(end, nil)
		return false, nil
	}
	return true, core.ProblemsError(end.Result.Problems)
}

// readEvents returns the debate's status, and the events of the entries after last and up to limit. It sets last to the
// last entry that it has read. If an entry cannot be read, it returns the events before it and an error.
func (d *Debate) readEvents(ctx context.Context, last *int64, limit int64) (store.Status, []live.Timed[Event], error) {
	status, entries, err := d.engine.store.Load(ctx, d.ID(), *last)
	if err != nil {
		return status, nil, err
	}
	list := make([]live.Timed[Event], 0, len(entries))
	for _, e := range entries {
		if e.Seq > limit {
			break
		}
		ev, err := journal.DecodeEntry(e)
		if err != nil {
			return status, list, &store.Damaged{
				ID:  d.ID(),
				Seq: e.Seq,
				Err: err,
			}
		}
		list = append(list, live.Timed[Event]{
			After: e.Seq - 1,
			Event: ev,
		})
		*last = e.Seq
	}
	return status, list, nil
}
