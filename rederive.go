package debate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/panics"
)

// EntryVerdict says whether an entry of a journal follows from the entries before it.
type EntryVerdict string

// The verdicts.
const (
	EntryDerived      EntryVerdict = "derived"       // nothing else could follow
	EntryInput        EntryVerdict = "input"         // a model, a person, a failure, a clock or an engine's check of limits has led to it
	EntryNotDerivable EntryVerdict = "not derivable" // something is missing that tells
	EntryWrong        EntryVerdict = "wrong"         // something else must follow
)

// EntryCheck is what [Debate.VerifyEntries] says of one entry.
type EntryCheck struct {
	Seq     int64        `json:"seq"`
	Type    string       `json:"type"`          // of the entry, such as "turn"
	Key     string       `json:"key,omitempty"` // of the turn, if the entry has one
	Verdict EntryVerdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`
}

// rederivation makes the changes of a debate again.
type rederivation struct {
	engine  *Engine
	journal *journal
	verify  *verifier
	entries []Event
	at      int // index of the next entry
	checks  []EntryCheck
	broken  error // why the entries end

	label  string // why the next entry is an input, although it is what the change makes; else empty
	fork   fork   // what the last entries decide, for the change that makes a fork
	forked bool   // that change was made
}

// Errors that end a change.
var (
	errBoundary = errors.New("the fork begins here")
	errNoEntry  = errors.New("the journal ends")
)

// notNext reports that an entry is not the one that follows.
type notNext struct{ reason string }

func (e *notNext) Error() string { return e.reason }

// readAgain reads the entries before the next one again, because a change that did not come to its end has changed the record.
func (x *rederivation) readAgain() error {
	if err := x.journal.begin(); err != nil {
		return err
	}
	for _, ev := range x.entries[:x.at] {
		_, at := entryFields(ev)
		if err := x.journal.rec.apply(ev, at); err != nil {
			return err
		}
		if err := x.journal.follow(ev); err != nil {
			return err
		}
	}
	return nil
}

// verdictOf returns the verdict about an entry that a change does not lead to.
func verdictOf(err error) EntryVerdict {
	if _, panicked := errors.AsType[*panics.Error](err); panicked || errors.Is(err, ErrUnsupported) {
		return EntryNotDerivable
	}
	return ""
}

// insideFork reports whether the next entry may belong to the change that made a fork of which the debate is a fork.
func (x *rederivation) insideFork() bool {
	r := x.journal.rec
	return r.fork.ID != "" && int64(x.at) < r.fork.Seq
}

// atBoundary reports whether the next entry is the first one that a fork does not have from its parent.
func (x *rederivation) atBoundary() bool {
	return !x.forked && x.journal.rec.fork.ID != "" && int64(x.at) == x.journal.rec.fork.Seq
}

// transaction returns a change that is compared with the next entries.
func (x *rederivation) transaction() *transaction {
	c := newTransaction(x.journal.rec)
	_, c.now = entryFields(x.entries[x.at])
	c.match = x.match
	return c
}

// match compares an event that follows with the next entry, and takes the entry.
func (x *rederivation) match(want Event) error {
	switch {
	case x.at == len(x.entries):
		return errNoEntry
	case x.atBoundary():
		return errBoundary
	}
	is := x.entries[x.at]
	if field := firstDifference(want, is); field != "" {
		return &notNext{fmt.Sprintf("%s must follow, but %s", describeEvent(want), field)}
	}
	if err := x.verify.check(x.journal.rec, is); err != nil {
		return &notNext{err.Error()}
	}
	verdict, reason := EntryDerived, ""
	switch {
	case x.label != "":
		verdict, reason, x.label = EntryInput, x.label, ""
	case failureOf(is) != nil:
		verdict, reason = EntryInput, "a failure, and what the policy for it is"
	}
	return x.take(is, verdict, reason)
}

// take adds the check of an entry that is about to be applied.
func (x *rederivation) take(is Event, verdict EntryVerdict, reason string) error {
	key, _ := entryFields(is)
	x.checks = append(x.checks, EntryCheck{Seq: is.Meta().Seq, Type: is.Meta().Type, Key: key, Verdict: verdict, Reason: reason})
	x.fork.note(is, x.journal.rec.decisions.question)
	x.at++
	return x.journal.follow(is)
}

// accept applies the next entry as it is.
func (x *rederivation) accept(verdict EntryVerdict, reason string) error {
	is := x.entries[x.at]
	_, at := entryFields(is)
	if err := x.verify.check(x.journal.rec, is); err != nil && verdict != EntryWrong {
		verdict, reason = EntryWrong, err.Error()
	}
	if err := x.take(is, verdict, reason); err != nil {
		return err
	}
	return x.journal.rec.apply(is, at)
}

// input applies the next entry, which somebody has given.
func (x *rederivation) input(reason string) error { return x.accept(EntryInput, reason) }

// spoil changes the last verdict to wrong.
func (x *rederivation) spoil(err error) {
	last := &x.checks[len(x.checks)-1]
	last.Verdict, last.Reason = EntryWrong, err.Error()
}

// firstDifference names the first field of an entry that is not the one of the event that follows, or returns "".
func firstDifference(want, is Event) string {
	a, b := fieldsOf(want), fieldsOf(is)
	if string(a["type"]) != string(b["type"]) {
		return fmt.Sprintf("its type is %s", b["type"])
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "revision" || name == "rules" || bytes.Equal(a[name], b[name]) {
			continue
		}
		return fmt.Sprintf("its %s is %s, want %s", name, shortJSON(b[name]), shortJSON(a[name]))
	}
	return ""
}

// fieldsOf returns the JSON of an event by field.
func fieldsOf(ev Event) (fields map[string]json.RawMessage) {
	b, err := json.Marshal(ev)
	if err != nil {
		return map[string]json.RawMessage{"error": json.RawMessage(err.Error())}
	}
	_ = json.Unmarshal(b, &fields) // an event is an object
	return fields
}

// shortJSON returns the beginning of a value.
func shortJSON(b json.RawMessage) string {
	const most = 120
	switch {
	case len(b) == 0:
		return "missing"
	case len(b) > most:
		return string(bytes.ToValidUTF8(b[:most], nil)) + "…"
	}
	return string(b)
}

// describeEvent names an event in an error.
func describeEvent(ev Event) string {
	switch ev := ev.(type) {
	case StateChanged:
		return fmt.Sprintf("the transition %q from %q to %q", ev.On, ev.From, ev.To)
	case PhaseStarted:
		return fmt.Sprintf("the phase %q", ev.Phase)
	case Asked:
		return fmt.Sprintf("the question for step %s", ev.Key)
	case TurnDone:
		return fmt.Sprintf("the turn %s", ev.Turn.Key)
	case Dropped:
		return fmt.Sprintf("the drop of %q", ev.Name)
	}
	return fmt.Sprintf("an entry of type %q", ev.Meta().Type)
}
