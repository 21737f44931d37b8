package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Pause prevents new steps from starting. It takes effect at once. Calls in flight continue, and their turns are
// committed. A step that waits for its next attempt waits no longer: it begins again after Resume. A check of the
// configuration is canceled, and repeated after Resume. Pause holds a debate that has paused because it waits for people:
// their replies are committed, but the debate continues only after Resume.
func (d *Debate) Pause(ctx context.Context) error {
	return d.control(ctx, "pause", func(c *transaction) error {
		switch r := c.rec; {
		case r.lifecycle.State == fsm.Paused && r.decisions.question == nil && !r.people.held:
			return c.decide(Decided{Action: actionHold})
		case r.lifecycle.State == fsm.Paused:
			return nil
		}
		return c.fire(fsm.Pause, StateChanged{})
	})
}

// Resume continues a paused debate. Call Run, RunOnce or Start afterwards to drive it, unless Start drives it in the
// background of any engine: then it continues there. If that engine has gone, this engine drives it in the background
// instead; Status.Driver tells who does. Resume returns an error while a question is open: Decide answers the question
// and resumes. A debate that waits for people's replies continues when the last of them is given. Until then, Resume returns an
// error, except after a Pause, whose hold it ends.
func (d *Debate) Resume(ctx context.Context) error {
	return d.controlAndDrive(ctx, "resume", func(c *transaction) error {
		if c.rec.lifecycle.State.Active() {
			return nil
		}
		if q := c.rec.decisions.question; q != nil {
			_, err := fsm.Next(c.rec.lifecycle, fsm.Resume, c.rec.facts())
			return fmt.Errorf("a question is open, call Decide with one of %s: %w", strings.Join(actionsOf(q), ", "), err)
		}
		if c.rec.people.held && c.rec.awaitsPeople() {
			return c.decide(Decided{Action: actionRelease})
		}
		return c.resume()
	})
}

// Stop ends the debate with a conclusion based on the turns so far. Calls in flight are canceled. If there is no speech
// yet, the debate ends without a conclusion. If the debate was paused, it goes on as after Resume. If the conclusion waits
// for people, Stop declines their steps. Stop changes nothing at the gate before the conclusion: Decide opens it.
func (d *Debate) Stop(ctx context.Context) error {
	return d.controlAndDrive(ctx, "stop", func(c *transaction) error {
		r := c.rec
		if r.Cursor.Stage == transcript.Conclusion {
			return c.stopWaiting()
		}
		if r.lifecycle.State == fsm.Completed {
			return nil
		}
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: stoppedByPerson}})
	})
}

// Cancel ends the debate at once, without a verdict. Calls in flight are canceled.
func (d *Debate) Cancel(ctx context.Context) error {
	return d.control(ctx, "cancel", func(c *transaction) error {
		if c.rec.lifecycle.State == fsm.Canceled {
			return nil
		}
		return c.fire(fsm.Cancel, StateChanged{Ending: transcript.Ending{
			Outcome:  transcript.Canceled,
			Evidence: canceledByPerson,
		}})
	})
}

// Retry makes a debate in error ready again. Call Run, RunOnce or Start to drive it. Committed steps do not run
// again.
func (d *Debate) Retry(ctx context.Context) error {
	return d.control(ctx, "retry", func(c *transaction) error {
		if s := c.rec.lifecycle.State; s == fsm.Ready || s.Active() {
			return nil
		}
		return c.fire(fsm.Retry, StateChanged{})
	})
}

// Reset takes a debate in error back to configuring, for a new run. The turns of the old run stay in the journal, but
// no prompt and no Result contains them.
func (d *Debate) Reset(ctx context.Context) error {
	return d.control(ctx, "reset", func(c *transaction) error {
		if c.rec.lifecycle.State == fsm.Configuring {
			return nil
		}
		return c.fire(fsm.Reset, StateChanged{})
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
		if answer, answered := c.rec.decisions.made[id]; answered {
			if answer == action {
				return nil
			}
			return problemOf("", "action", "question %s was answered with %q", id, answer)
		}
		q := c.rec.decisions.question
		switch {
		case q == nil:
			return c.refuse("decide")
		case q.ID != id:
			return problemOf("", "id", "%q is not the open question, which is %q", id, q.ID)
		case !slices.Contains(actionsOf(q), action):
			return problemOf("", "action", "%q is not a choice, use one of %s", action, strings.Join(actionsOf(q), ", "))
		}
		ev := Decided{Action: action, Question: id}
		switch {
		case action == actionRefuse && len(remarks) <= 1:
			for _, r := range remarks {
				ev.By = r.From
				ev.Reason = characters.Valid(r.Text)
				if len(ev.Reason) > maxRefusal {
					return problemOf("remark", "text", "it has %d bytes, use at most %d", len(ev.Reason), maxRefusal)
				}
			}
			remarks = nil
			if err := problemsOf("reply", additions.CheckBy(ev.By)); err != nil {
				return err
			}
		case (action == actionEdit) != (len(remarks) == 1):
			return problemOf(
				"",
				"remark",
				"there are %d, but only the action edit takes one, and refuse may have one",
				len(remarks),
			)
		}
		if err := c.decide(ev); err != nil {
			return err
		}
		for _, r := range remarks {
			if err := c.inject(r); err != nil {
				return err
			}
		}
		if err := c.applyDecision(action, q); err != nil {
			return err
		}
		return c.goOn() // people whom the debate waits for may have replied or declined meanwhile
	})
}

// refuse returns the error for a method that the debate's state does not allow. No event of the lifecycle has its name.
func (c *transaction) refuse(method fsm.Event) error {
	_, err := fsm.Next(c.rec.lifecycle, method, c.rec.facts())
	return err
}

// Inject adds a person's remark. Steps that begin later see it. Steps of a parallel phase do not see remarks that
// were added after their phase began. Inject returns *Problems if the remark is invalid.
func (d *Debate) Inject(ctx context.Context, r Remark) error {
	r.ID = cmp.Or(r.ID, newID())
	return d.control(ctx, "inject a remark into", func(c *transaction) error { return c.inject(r) })
}

func (c *transaction) inject(r Remark) error {
	if err := problemsOf("remark", r.check(c.rec)); err != nil {
		return err
	}
	if c.rec.lifecycle.State.Final() {
		return c.refuse("inject")
	}
	t := c.rec.Remark(r.ID, r.From, r.Text)
	t.Started = c.now
	t.Ended = c.now
	if _, dup := c.rec.Find(t.Key); dup {
		return nil
	}
	return c.add(TurnDone{
		EventMeta: c.stamp("turn"),
		At:        c.now,
		Turn:      t,
	})
}

// Answer gives a person's reply to a step, as text or as JSON that follows the schema of the [Asked] event. by names who
// replies, and defaults to the actor. If the debate waits only for people and this was the last reply, it continues.
//
// Answer returns *Problems if the reply is invalid, field by field. It returns ErrNotAsked if the debate does not ask for
// the step, and ErrAnswered if the step has another reply. Giving the same reply again is not an error.
func (d *Debate) Answer(ctx context.Context, key transcript.Key, text, by string) error {
	documents := d.quotable(ctx, key.Actor, text)
	same := func(r *record) bool { return r.keys.IsReply(r.people.replies[key], key.String(), text) }
	return d.reply(ctx, "answer", key, same, func(c *transaction, s *protocol.Step) error {
		asked := c.rec.people.asked[key]
		valid := characters.Valid(text)
		t, err := givenTurn(c.rec, s, "reply", valid, c.rec.env.Count("", valid), asked.Tokens)
		if err := cmp.Or(problemsOf("reply", additions.CheckBy(by)), err); err != nil {
			return err
		}
		t.Started = asked.At
		t.Ended = c.now
		t.Citations = c.rec.Sources.Cite(&t, sources.TextsOf(documents)).Check(c.rec.env.texts)
		t.By = cmp.Or(by, s.Actor)
		c.rec.extract(&t)
		remains := c.rec.remains(s, c.rec.Messages(s))
		return c.add(TurnDone{
			EventMeta: c.stamp("turn"),
			At:        c.now,
			Turn:      t,
			Reply:     c.rec.keys.Reply(key.String(), text),
			Remains:   remains,
		})
	})
}

// Decline says that a person gives no reply to a step. The policy for failures of the actor applies, as to a failure of
// the kind declined; substitutes do not reply in place of a person. Declining again is not an error. The reason may have as
// many tokens as a reply. Decline returns the errors of Answer.
func (d *Debate) Decline(ctx context.Context, key transcript.Key, reason, by string) error {
	same := func(r *record) bool { return r.people.declined[key] != nil }
	return d.reply(ctx, "decline", key, same, func(c *transaction, _ *protocol.Step) error {
		reason = characters.Valid(reason)
		if err := problemsOf("reply", additions.CheckBy(by)); err != nil {
			return err
		}
		if tokens, most := c.rec.env.Count("", reason), c.rec.people.asked[key].Tokens; tokens > most {
			return problemOf("reply", "reason", "about %d tokens are too long, use at most %d", tokens, most)
		}
		return c.decide(Decided{
			Action: actionDecline,
			Key:    key,
			By:     by,
			Reason: reason,
		})
	})
}

// reply has f add a person's reply to the step with the given key, and continues the debate. It does nothing if the record has
// the same reply.
func (d *Debate) reply(
	ctx context.Context, verb string, key transcript.Key, same func(*record) bool, f func(*transaction, *protocol.Step) error,
) error {
	return d.controlAndDrive(ctx, verb, func(c *transaction) error {
		r := c.rec
		switch _, done := r.Find(key); {
		case same(r):
			return nil
		case done && r.people.asked[key] != nil:
			return fmt.Errorf("step %s: %w", key, ErrAnswered)
		case r.canContinue() != nil:
			return r.canContinue()
		}
		s := r.open(key)
		if s == nil || !r.waitsFor(*s) {
			return fmt.Errorf("step %s: %w", key, ErrNotAsked)
		}
		if err := f(c, s); err != nil {
			return err
		}
		return c.goOn()
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
			return problemOf("annotation", "name", "%q is the name of the engine's signature, use another one", name)
		}
		if err := problemsOf("annotation", c.rec.notes.Check(name, b)); err != nil {
			return err
		}
		return c.add(Annotated{
			EventMeta: c.stamp("annotated"),
			At:        c.now,
			Name:      name,
			Value:     b,
		})
	})
}

// Edit replaces the configuration of a debate that is configuring or ready. After the first turn, you cannot change
// the seed, the topic, the background, the protocol, or the names and profiles of the participants without a Reset;
// you can change everything else, such as models, who is a person, limits and judges. An empty Seed keeps the debate's.
// Edit returns *Problems and changes nothing if the new configuration is invalid.
func (d *Debate) Edit(ctx context.Context, cfg Config) error {
	cfg.ID = d.ID()
	cfg, found := withDefaults(cfg, d.engine.env, d.engine.learnsWindow)
	return d.control(ctx, "edit", func(c *transaction) error {
		if _, err := fsm.Next(c.rec.lifecycle, fsm.Edit, c.rec.facts()); err != nil {
			return err
		}
		cfg.Seed = cmp.Or(cfg.Seed, c.rec.Seed)
		problems := slices.Concat(
			found,
			frozenFields(c.rec, cfg),
			additions.CheckReaders(c.rec.config.Documents, cfg.Documents),
			unrepeatable(d.engine, seatSettings{config: &cfg}),
		)
		if err := problemsError(problems); err != nil {
			return err
		}
		c.undo = d.engine.protocols.Add(cfg.ID, cfg.Protocol)
		raw, err := json.Marshal(cfg)
		if err != nil {
			return err
		}
		if err := c.add(ConfigChanged{
			EventMeta: c.stamp("config"),
			At:        c.now,
			Format:    store.Format,
			Config:    raw,
		}); err != nil {
			return err
		}
		return c.fire(fsm.Edit, StateChanged{})
	})
}

// frozenFields returns a problem for each changed field that must not change after the first turn.
func frozenFields(r *record, cfg Config) []protocol.Problem {
	if !r.HasTurns() {
		return nil
	}
	l := &problemList{}
	same := func(field string, a, b any) {
		l.same(field, "cannot change after the first turn, reset the debate first", a, b)
	}
	same("seed", r.Seed, cfg.Seed)
	same("topic", r.config.Topic, cfg.Topic)
	same("background", r.config.Background, cfg.Background)
	same("protocol", protocols.Parameters(r.config.Protocol), protocols.Parameters(cfg.Protocol))
	same("participants", asModels(participantProfiles(*r.config)), asModels(participantProfiles(cfg)))
	return l.problems
}

// Remark is a person's contribution between turns.
type Remark struct {
	// ID identifies the remark: adding the same remark twice adds it once. Use at most 128 bytes without control
	// characters. Defaults to a new id.
	ID string
	// From is the person's name, as it appears in prompts. It must not be the name of an actor in the debate.
	From string
	// Text is what the person says. A run has at most 1,000 remarks, with 1 MiB of text in all.
	Text string
}

// check returns everything that is wrong with a remark.
func (r Remark) check(rec *record) []protocol.Problem {
	l := &problemList{}
	if characters.IsBlank(r.Text) {
		l.add("text", "it is blank")
	}
	tokens := rec.env.Count("", r.Text)
	for _, p := range slices.Concat(rec.config.Participants, rec.config.Judges) {
		most := windowOf(&p) - p.MaxTokens
		if tokens > most && !p.Human && !p.Disabled { // people have no window
			l.add(
				"text",
				"about %d tokens are too long, at most %d fit into the window of %s beside a reply",
				tokens,
				most,
				p.Name,
			)
			break
		}
	}
	if p := actor.CheckName(r.From); p != "" {
		l.add("from", "%s", p)
	} else if actor.KnownName(r.From, slices.Concat(prompting.NamesOf(rec.Profiles), namesOf(rec.config.Judges))) {
		l.add("from", "%q is the name of an actor in this debate, use another name", r.From)
	}
	return append(l.problems, additions.CheckRemark(rec.Turns, r.ID, r.From, r.Text)...)
}
