package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Pause keeps anything new from starting. It takes effect at once: calls in flight go on, and are committed.
func (d *Debate) Pause(ctx context.Context) error {
	return d.control(ctx, "pause", func(c *transaction) error {
		if c.rec.lifecycle.State == fsm.Paused {
			return nil
		}
		return c.fire(fsm.Pause, StateChanged{})
	})
}

// Resume goes on where Pause stopped; call Run, Do or Start to drive the debate then, unless it was started and this
// engine still drives it. While a question is open it is refused: Decide answers and resumes.
func (d *Debate) Resume(ctx context.Context) error {
	return d.control(ctx, "resume", func(c *transaction) error {
		if c.rec.lifecycle.State.Active() {
			return nil
		}
		if q := c.rec.question; q != nil {
			_, err := fsm.Next(c.rec.lifecycle, fsm.Resume, c.rec.facts())
			return fmt.Errorf("a question is open, decide one of %s: %w", strings.Join(q.actions(), ", "), err)
		}
		return c.resume()
	})
}

// Stop ends the debate with a conclusion on what there is. Calls in flight are cancelled.
func (d *Debate) Stop(ctx context.Context) error {
	return d.control(ctx, "stop", func(c *transaction) error {
		if s := c.rec.lifecycle.State; s == fsm.Completing || s == fsm.Completed {
			return nil
		}
		return c.stop(StateChanged{Ending: transcript.Ending{Outcome: transcript.Stopped, Evidence: "a person stopped the debate"}})
	})
}

// Cancel ends the debate at once and without a verdict. Calls in flight are cancelled.
func (d *Debate) Cancel(ctx context.Context) error {
	return d.control(ctx, "cancel", func(c *transaction) error {
		if c.rec.lifecycle.State == fsm.Canceled {
			return nil
		}
		return c.fire(fsm.Cancel, StateChanged{Ending: transcript.Ending{Outcome: transcript.Canceled, Evidence: "a person canceled the debate"}})
	})
}

// Retry makes a debate in error ready again. What drives it then, Run, Do or Start, runs nothing again that is
// committed.
func (d *Debate) Retry(ctx context.Context) error {
	return d.control(ctx, "retry", func(c *transaction) error {
		if s := c.rec.lifecycle.State; s == fsm.Ready || s.Active() {
			return nil
		}
		return c.fire(fsm.Retry, StateChanged{})
	})
}

// Reset takes a debate in error back to configuring, for a new run. The turns of the old one stay in the journal and
// are shown no more.
func (d *Debate) Reset(ctx context.Context) error {
	return d.control(ctx, "reset", func(c *transaction) error {
		if c.rec.lifecycle.State == fsm.Configuring {
			return nil
		}
		return c.fire(fsm.Reset, StateChanged{})
	})
}

// Decide answers the open question with the action of one of its choices.
func (d *Debate) Decide(ctx context.Context, action string) error {
	return d.control(ctx, "decide", func(c *transaction) error {
		q := c.rec.question
		if q == nil {
			return errors.New("no question is open")
		}
		if !slices.Contains(q.actions(), action) {
			return fmt.Errorf("%q is no choice, they are %s", action, strings.Join(q.actions(), ", "))
		}
		if err := c.add(Decided{EventMeta: c.stamp("decided"), At: c.now, Action: action}); err != nil {
			return err
		}
		return c.applyDecision(action, q)
	})
}

// Inject adds a person's remark. Steps that begin later see it, those of a parallel phase only when the phase does.
func (d *Debate) Inject(ctx context.Context, r Remark) error {
	if err := problemsError(r.check()); err != nil {
		return fmt.Errorf("inject a remark into debate %s: %w", d.ID(), err)
	}
	r.ID = cmp.Or(r.ID, newID())
	return d.control(ctx, "inject a remark into", func(c *transaction) error {
		if knownName(c.rec, r.From) {
			return problemsError([]protocol.Problem{protocol.Problemf("from", "%q is a participant or judge, take another name", r.From)})
		}
		if c.rec.lifecycle.State.Final() {
			return fmt.Errorf("it is %s", c.rec.lifecycle.State)
		}
		t := r.turn(c)
		if _, dup := c.rec.Find(t.Key); dup {
			return nil
		}
		return c.add(TurnDone{EventMeta: c.stamp("turn"), At: c.now, Turn: t})
	})
}

// Annotate notes something about the debate, also after its end. value encodes to JSON; a later one of the same name
// replaces it. The one called "rating" is what protocols read as a user's.
func (d *Debate) Annotate(ctx context.Context, name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("annotate debate %s: encode %s: %w", d.ID(), name, err)
	}
	return d.control(ctx, "annotate", func(c *transaction) error {
		return c.add(Annotated{EventMeta: c.stamp("annotated"), At: c.now, Name: name, Value: b})
	})
}

// Edit replaces the configuration of a debate that is configuring or ready. After the first turn topic, background,
// protocol and who the participants are cannot change without a Reset; models, limits, judges and all else can. It
// returns *Problems and changes nothing where the new configuration is wrong.
func (d *Debate) Edit(ctx context.Context, cfg Config) error {
	cfg.ID = d.ID()
	cfg, found := cfg.withDefaults()
	if err := problemsError(found); err != nil {
		return err
	}
	d.engine.addProtocol(cfg.Protocol)
	raw, err := json.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("edit debate %s: %w", d.ID(), err)
	}
	return d.control(ctx, "edit", func(c *transaction) error {
		if _, err := fsm.Next(c.rec.lifecycle, fsm.Edit, c.rec.facts()); err != nil {
			return err
		}
		if err := problemsError(frozenFields(c.rec, cfg)); err != nil {
			return err
		}
		if err := c.add(ConfigChanged{EventMeta: c.stamp("config"), At: c.now, Format: store.Format, Config: raw}); err != nil {
			return err
		}
		return c.fire(fsm.Edit, StateChanged{})
	})
}

// frozenFields are the fields that differ and may not, since turns were made with them.
func frozenFields(r *record, cfg Config) (list []protocol.Problem) {
	if !r.hasTurns() {
		return nil
	}
	same := func(field string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			list = append(list, protocol.Problemf(field, "it cannot change after the first turn, reset the debate first"))
		}
	}
	same("topic", r.config.Topic, cfg.Topic)
	same("background", r.config.Background, cfg.Background)
	same("protocol", parameters(r.config.Protocol), parameters(cfg.Protocol))
	same("participants", participantProfiles(*r.config), participantProfiles(cfg))
	return list
}

// parameters are what is stored of a protocol.
func parameters(p protocol.Protocol) string {
	b, _ := json.Marshal(p) // what was stored encodes
	return p.Name() + string(b)
}

// Remark is what a person says between turns.
type Remark struct {
	ID   string // names it, so that giving it twice is giving it once; defaults to a new one
	From string // the person's name, as those who debate read it
	Text string
}

func (r Remark) check() (list []protocol.Problem) {
	if p := nameProblem(r.From); p != "" {
		list = append(list, protocol.Problemf("from", "%s", p))
	}
	if strings.TrimSpace(r.Text) == "" {
		list = append(list, protocol.Problemf("text", "it is blank"))
	}
	return list
}

func (r Remark) turn(c *transaction) transcript.Turn {
	return transcript.Turn{
		Key:  transcript.Key{Run: c.rec.Cursor.Run, Phase: "remark", Actor: r.From, Target: r.ID},
		Kind: transcript.Remark, Order: c.rec.RemarkOrder(), Seq: c.rec.Seq + 1, VisibleSeq: c.rec.Seq,
		Text: r.Text, Tokens: c.rec.env.count("", r.Text), Started: c.now, Ended: c.now,
	}
}

// knownName reports whether a participant, judge or helper has a name, in any case.
func knownName(r *record, name string) bool {
	all := slices.Concat(names(r.profiles), names(judgeProfiles(*r.config)), systemActors)
	return slices.ContainsFunc(all, func(known string) bool { return strings.EqualFold(known, name) })
}
