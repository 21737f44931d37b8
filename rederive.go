package debate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/journals"
	"github.com/elenchus-go/debate/journal"
)

// rederivation makes the changes of a debate again.
type rederivation struct {
	engine  *Engine
	journal *openJournal
	plans   journals.Plans
	entries []Event
	at      int // index of the next entry
	checks  []EntryCheck
	again   *rereading
	writer  Rules // of the engine that wrote the entry before the next one; the record has those of this engine after what it derives
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
		_, at := journal.KeyAndTime(ev)
		if err := x.journal.rec.apply(ev, at); err != nil {
			return err
		}
		if err := x.journal.follow(ev); err != nil {
			return err
		}
	}
	return nil
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

// repeatsUnknown reports whether the next entry repeats a course that the debate does not have.
func (x *rederivation) repeatsUnknown() bool {
	m := x.entries[x.at].Meta()
	return m.Repeats > 0 && x.again.lacksCourse(x.journal.rec, m.Seq)
}

// transaction returns a change that is compared with the next entries.
func (x *rederivation) transaction() *transaction {
	c := newTransaction(x.journal.rec)
	_, c.now = journal.KeyAndTime(x.entries[x.at])
	c.match = x.match
	return c
}

// match compares an event that follows with the next entry, and takes the entry.
func (x *rederivation) match(want Event) error {
	switch {
	case x.at == len(x.entries):
		return errNoEntry
	case x.atBoundary() || x.repeatsUnknown():
		return errBoundary
	}
	is := x.entries[x.at]
	if field := journals.Difference(want, is); field != "" {
		return &notNext{fmt.Sprintf("%s must follow, but %s", describeEvent(want), field)}
	}
	if err := verifyEntry(&x.plans, x.journal.rec, is); err != nil {
		return &notNext{err.Error()}
	}
	verdict := EntryDerived
	reason := ""
	switch {
	case x.label != "":
		verdict = EntryInput
		reason = x.label
		x.label = ""
	case is.Meta().Repeats > 0:
		reason = "the course of the debate that is judged again"
	case failureOf(is) != nil:
		verdict = EntryInput
		reason = "a failure, and what the policy for it is"
	}
	return x.take(is, verdict, reason)
}

// take adds the check of an entry that is about to be applied.
func (x *rederivation) take(is Event, verdict EntryVerdict, reason string) error {
	key, _ := journal.KeyAndTime(is)
	c := EntryCheck{
		Seq:     is.Meta().Seq,
		Type:    is.Meta().Type,
		Key:     key,
		Verdict: verdict,
		Reason:  reason,
	}
	if x.journal.rec.protocolKnown() == nil {
		x.again.at(x.journal.rec)
		x.again.add(&c, is)
	}
	x.checks = append(x.checks, c)
	x.writer = rulesOf(is.Meta(), x.writer)
	x.fork.note(is, x.journal.rec.decisions.question)
	x.at++
	return x.journal.follow(is)
}

// accept applies the next entry as it is.
func (x *rederivation) accept(verdict EntryVerdict, reason string) error {
	is := x.entries[x.at]
	_, at := journal.KeyAndTime(is)
	if err := verifyEntry(&x.plans, x.journal.rec, is); err != nil && verdict != EntryWrong {
		verdict = EntryWrong
		reason = err.Error()
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
	last.Verdict, last.Reason = x.judge(x.writer, EntryWrong, err.Error())
}

// judge returns the verdict about an entry that contradicts those before it: another engine may have had a reason.
func (x *rederivation) judge(writer Rules, verdict EntryVerdict, reason string) (EntryVerdict, string) {
	if x.again.lacksCourse(x.journal.rec, int64(x.at)+1) {
		return EntryNotDerivable, noCourse + ": " + reason
	}
	if ours := *x.engine.env.rules; writer != ours {
		return EntryNotDerivable, fmt.Sprintf(
			"the rules of the engine that wrote it were %+v, those of this one are %+v: %s",
			writer,
			ours,
			reason,
		)
	}
	return verdict, reason
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

// verifyEntry returns an error if an entry that follows those in the record has values that the record contradicts.
func verifyEntry(plans *journals.Plans, r *record, ev Event) error {
	at := plans.At(&r.Record, r.next(), r.protocolKnown() == nil)
	if ev.Meta().Repeats > 0 {
		return verifyRepetition(r, ev)
	}
	switch ev := ev.(type) {
	case StateChanged:
		if err := at.Ending(ev.Ending); err != nil {
			return err
		}
		if q := ev.Question; q != nil && q.ID != questionID(ev.Seq) {
			return fmt.Errorf("the question has the id %q, want %q", q.ID, questionID(ev.Seq))
		}
		return verifyFailures(at, ev)
	case Dropped:
		return verifyFailures(at, ev)
	case PhaseStarted:
		return verifyCallers(r, &ev)
	case ToolsCalled:
		visible := ev.VisibleSeq
		if last := r.tools.Of(ev.Key).Last(); last != nil {
			visible = last.VisibleSeq
		}
		return r.Sources.CheckNumbers(ev.Key, visible, ev.Calls)
	case TurnDone:
		if err := at.Turn(&ev.Turn, ev.Seq, ev.PromptSeq); err != nil {
			return err
		}
		found := r.Sources.Cite(&ev.Turn, nil)
		if found.Contradict(ev.Turn.Citations, r.env.texts) { // as far as the journal has the texts
			return errors.New("its citations are not those of its text, or a verdict is wrong")
		}
	case Asked:
		return at.Asked(ev.Key, ev.Kind, ev.Contract)
	case Decided:
		if ev.Action == actionDecline {
			return at.Declined(ev.Key)
		}
	}
	return nil
}

// verifyRepetition returns an error if an entry of a rejudged debate is not the next one of its course.
func verifyRepetition(r *record, ev Event) error {
	if r.protocolKnown() != nil || ev.Meta().Seq <= r.course.Before(r.fork.Seq) {
		return nil
	}
	c := newTransaction(r)
	_, c.now = journal.KeyAndTime(ev)
	want := c.repetition()
	if want == nil {
		return errors.New("it repeats an entry, but the course of the debate has none here")
	}
	if field := journals.Difference(want, ev); field != "" {
		return fmt.Errorf("%s must follow in the course, but %s", describeEvent(want), field)
	}
	return nil
}

func verifyFailures(at *journals.Point, ev Event) error {
	for _, f := range journal.Failures(ev) {
		if err := at.Failed(f.Key); err != nil {
			return err
		}
	}
	return nil
}

// verifyCallers checks the callers of a phase, on which the numbers of sources depend.
func verifyCallers(r *record, ev *PhaseStarted) error {
	if r.protocolKnown() != nil {
		return nil
	}
	var want []string
	for _, p := range r.phases(r.Cursor.Stage) {
		if p.Name == ev.Phase && ev.Summary == nil {
			want = callersOf(r.config, &p)
		}
	}
	if slices.Equal(ev.Callers, want) {
		return nil
	}
	return fmt.Errorf("its callers are %q, want %q", ev.Callers, want)
}
