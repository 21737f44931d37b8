package debate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/journal"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/chain/signing"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/presets"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// checkStored returns an error if no version of the library has stored the configuration for the debate with the given id.
// A journal may be damaged or forged. Protocols of other packages are not asked, because their rules may have changed.
func checkStored(c *Config, id string) (err error) {
	l := &problemList{}
	if c.ID != "" && c.ID != id {
		l.add("id", "%q is not that of the debate", c.ID)
	}
	l.limits(&c.Limits)
	l.problems = append(l.problems, c.CheckNames()...)
	l.problems = append(l.problems, c.CheckValues()...)
	if len(l.problems) == 0 && presets.Has(c.Protocol) {
		panicked := panics.Call(func() { l.problems = append(l.problems, c.Protocol.Check(protocolRecord(c))...) })
		if panicked != nil {
			return fmt.Errorf("check protocol: %w", panicked)
		}
	}
	if err := problemsError(l.problems); err != nil {
		return errors.New(err.Error()) // it is no mistake of the caller, as Problems are
	}
	return nil
}

// protocolRecord returns the record that the protocol checks before the debate starts.
func protocolRecord(c *Config) *protocol.Record {
	r := &protocol.Record{
		ID:           c.ID,
		Seed:         cmp.Or(c.Seed, c.ID),
		Topic:        c.Topic,
		Participants: participantProfiles(*c),
		MinRounds:    c.Limits.MinRounds,
		MaxRounds:    c.Limits.MaxRounds,
	}
	r.Cursor = transcript.Cursor{Run: 1}
	r.Judges = namesOf(c.Judges)
	return r
}

// checkEntry rejects events that no version of the library writes in the record's state. Nothing else checks what a journal
// contains, and a journal may be damaged or forged.
func (r *record) checkEntry(ev Event) error {
	if seq := ev.Meta().Seq; seq != r.Seq+1 {
		return fmt.Errorf("entry %d is missing", r.Seq+1)
	}
	if _, config := ev.(ConfigChanged); r.Seq == 0 && !config {
		return errors.New("the journal must begin with a configuration")
	}
	failed := journal.Failures(ev)
	switch ev := ev.(type) {
	case ConfigChanged:
		return turns.CheckTokens("reply", ev.ReplyTokens)
	case StateChanged:
		return r.checkState(ev, failed)
	case PhaseStarted:
		if ev.Round != r.Cursor.Round &&
			(ev.Round != 0 ||
				r.Cursor.Stage != transcript.Setup) { // after an error, a setup may have new steps
			return fmt.Errorf("it is a phase of round %d, but the debate is in round %d", ev.Round, r.Cursor.Round)
		}
	case Dropped:
		if ev.Failure == nil {
			return errors.New("the entry has no failure")
		}
		return r.checkFailures(failed)
	case TurnDone:
		return turns.Check(&ev.Turn, r.Cursor)
	case Asked:
		return turns.CheckKey(ev.Key, r.Cursor)
	case ToolsCalled:
		if err := turns.CheckKey(ev.Key, r.Cursor); err != nil {
			return err
		}
		if _, done := r.Find(ev.Key); done {
			return fmt.Errorf("turn %s has been committed before it", ev.Key)
		}
		return cmp.Or(r.tools.Check(&ev), sources.Check(ev.Calls), turns.CheckUsages(transcript.Usage{}, ev.Attempts))
	case Annotated:
		return r.checkNote(ev)
	case Decided:
		switch err := turns.CheckKey(ev.Key, r.Cursor); { // of a step that is declined
		case err != nil:
			return err
		case r.decisions.question == nil && ev.Action != actionDecline && ev.Action != actionHold &&
			ev.Action != actionRelease:
			return errors.New("no question is open")
		}
	}
	return nil
}

func (r *record) checkNote(ev Annotated) error {
	if ev.Name == signing.Name {
		return additions.CheckSignature(ev.Value)
	}
	if wrong := r.notes.Check(ev.Name, ev.Value); wrong != nil {
		return fmt.Errorf("note %q: %v", characters.Cut(ev.Name, 40), wrong[0])
	}
	return nil
}

func (r *record) checkState(ev StateChanged, failed []*Failure) error {
	if ev.On == fsm.Fail && ev.Failure == nil {
		return errors.New("the entry has no failure")
	}
	if ev.From != r.lifecycle.State {
		return fmt.Errorf("it is a transition from %q, but the debate is %q", ev.From, r.lifecycle.State)
	}
	if is := r.roundAfter(ev.On, ev.To); ev.Round != is {
		return fmt.Errorf("it leads to round %d, but the debate is in round %d then", ev.Round, is)
	}
	if err := cmp.Or(turns.CheckTokens("reply", ev.ReplyTokens), turns.CheckTokens("window", ev.Windows)); err != nil {
		return err
	}
	return r.checkFailures(failed)
}

func (r *record) checkFailures(list []*Failure) error {
	for _, f := range list {
		err := cmp.Or(turns.CheckKey(f.Key, r.Cursor), turns.CheckUsages(transcript.Usage{}, f.AttemptDetails))
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesOf returns the rules of the engine that wrote an entry, given those of the entry before it.
func rulesOf(m EventMeta, before Rules) Rules {
	if m.Rules != nil {
		return *m.Rules
	}
	return before
}
