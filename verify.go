package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// verifier checks entries for what the record shows and a reader does not need: that each turn, failure and question is of a
// step that could run, with the values of that step, and that numbers add up.
type verifier struct {
	plans [][]protocol.Step // the steps that could run after each entry; the index is its seq
}

// check returns an error if an entry that follows those in the record has values that the record contradicts.
func (v *verifier) check(r *record, ev Event) error {
	v.plan(r)
	switch ev := ev.(type) {
	case StateChanged:
		return verifyState(r, &ev)
	case Dropped:
		return verifyFailures(r, append(slices.Clip(ev.OtherFailures), ev.Failure)...)
	case PhaseStarted:
		return verifyCallers(r, &ev)
	case ToolsCalled:
		visible := ev.VisibleSeq
		if last := r.tools.Of(ev.Key).Last(); last != nil {
			visible = last.VisibleSeq
		}
		return r.Sources.CheckNumbers(ev.Key, visible, ev.Calls)
	case TurnDone:
		if err := v.turn(r, &ev); err != nil {
			return err
		}
		return verifyCitations(r, &ev.Turn)
	case Asked:
		return v.asked(r, &ev)
	case Decided:
		if ev.Action == actionDecline && knowsProtocol(r) && !r.isOpen(ev.Key) {
			return fmt.Errorf("the step %s cannot be declined: it could not run", ev.Key)
		}
	}
	return nil
}

// plan keeps the steps that can run now.
func (v *verifier) plan(r *record) {
	for int64(len(v.plans)) <= r.Seq {
		v.plans = append(v.plans, nil)
	}
	v.plans[r.Seq] = r.next()
}

// knowsProtocol reports whether the engine has the debate's protocol, which says which steps can run.
func knowsProtocol(r *record) bool {
	_, unknown := r.config.Protocol.(unknownProtocol)
	return !unknown
}

// verifyCallers checks the callers of a phase, on which the numbers of sources depend.
func verifyCallers(r *record, ev *PhaseStarted) error {
	if !knowsProtocol(r) {
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

// verifyCitations checks the citations of a turn, and the verdicts about sources whose texts the journal has.
func verifyCitations(r *record, t *transcript.Turn) error {
	if found := r.Sources.Cite(t, nil); found.Contradict(t.Citations, r.env.texts) {
		return errors.New("its citations are not those of its text, or a verdict is wrong")
	}
	return nil
}

func verifyState(r *record, ev *StateChanged) error {
	if ev.Ending.Outcome != "" && ev.Ending.Round != r.Cursor.Round {
		return fmt.Errorf("the ending is of round %d, but the debate is in round %d", ev.Ending.Round, r.Cursor.Round)
	}
	if q := ev.Question; q != nil && q.ID != questionID(ev.Seq) {
		return fmt.Errorf("the question has the id %q, want %q", q.ID, questionID(ev.Seq))
	}
	return verifyFailures(r, append(slices.Clip(ev.OtherFailures), failureOf(*ev))...)
}

// verifyFailures checks that failures, which may be nil, belong to steps of the current round or of the setup.
func verifyFailures(r *record, list ...*Failure) error {
	for _, f := range list {
		if f == nil || f.Key == (transcript.Key{}) { // of a hook
			continue
		}
		if f.Key.Run != r.Cursor.Run || f.Key.Round != r.Cursor.Round && (f.Key.Round != 0 || r.Cursor.Stage != transcript.Setup) {
			return fmt.Errorf("the failure is of run %d, round %d, but the debate is in run %d, round %d", f.Key.Run, f.Key.Round, r.Cursor.Run, r.Cursor.Round)
		}
	}
	return nil
}

func (v *verifier) asked(r *record, ev *Asked) error {
	if !knowsProtocol(r) {
		return nil
	}
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == ev.Key })
	if at < 0 {
		return fmt.Errorf("nobody can be asked for the step %s: it could not run", ev.Key)
	}
	s := &r.next()[at]
	return cmp.Or(differs("kind", ev.Kind, s.Kind), differs("contract", ev.Contract, s.Contract))
}

// differs returns an error if a value of an entry is not the one that follows from the entries before it.
func differs[T comparable](what string, is, want T) error {
	if is == want {
		return nil
	}
	return fmt.Errorf("its %s is %v, want %v", what, is, want)
}

func (v *verifier) turn(r *record, ev *TurnDone) error {
	t, sum := &ev.Turn, transcript.Usage{}
	for _, a := range t.Attempts {
		sum = sum.Add(a.Usage)
	}
	if err := cmp.Or(differs("seq", t.Seq, ev.Seq), differs("usage", t.Usage, sum)); err != nil {
		return err
	}
	if t.Kind == transcript.Remark {
		return cmp.Or(differs("run", t.Run, r.Cursor.Run), differs("phase", t.Phase, "remark"), differs("contract", t.Contract, ""), differs("round", t.Round, 0), differs("order", t.Order, r.RemarkOrder()), differs("visible_seq", t.VisibleSeq, r.Seq))
	}
	if ev.PromptSeq < 0 || ev.PromptSeq > r.Seq {
		return fmt.Errorf("its prompt_seq is %d, want at most %d", ev.PromptSeq, r.Seq)
	}
	if !knowsProtocol(r) {
		return verifyPlace(r, ev)
	}
	if !r.isOpen(t.Key) {
		return errors.New("it is the turn of a step that could not run")
	}
	return v.step(r, ev)
}

// verifyPlace checks what is certain about a turn of an unknown protocol.
func verifyPlace(r *record, ev *TurnDone) error {
	t, round := &ev.Turn, r.Cursor.Round
	if r.Cursor.Stage == transcript.Setup {
		round = 0
	}
	if t.VisibleSeq < 0 || t.VisibleSeq > cmp.Or(ev.PromptSeq, r.Seq) {
		return fmt.Errorf("its visible_seq is %d, want at most %d", t.VisibleSeq, cmp.Or(ev.PromptSeq, r.Seq))
	}
	return cmp.Or(differs("round", t.Round, round), differs("phase", t.Phase, r.Cursor.Phase))
}

// step checks a turn against the step that it is the turn of, as that was planned when its prompt was made. Entries of earlier
// versions do not say when that was.
func (v *verifier) step(r *record, ev *TurnDone) (err error) {
	first, last := r.Seq, r.Seq
	if t := &ev.Turn; len(t.Attempts) > 0 { // otherwise, somebody gave the reply when it was committed
		if first, last = ev.PromptSeq, ev.PromptSeq; first == 0 {
			first, last = min(max(t.VisibleSeq, 0), r.Seq), r.Seq
		}
	}
	err = fmt.Errorf("its prompt_seq is %d, but the step could not run then", first)
	for seq := first; seq <= last; seq++ {
		for i := range v.plans[seq] {
			s := &v.plans[seq][i]
			if s.Key != ev.Turn.Key {
				continue
			}
			if err = sameStep(&ev.Turn, s); err == nil {
				return nil
			}
		}
	}
	return err
}

// sameStep returns an error if a turn is not one of a step.
func sameStep(t *transcript.Turn, s *protocol.Step) error {
	return cmp.Or(differs("kind", t.Kind, s.Kind), differs("order", t.Order, s.Order),
		differs("visible_seq", t.VisibleSeq, s.VisibleSeq), differs("contract", t.Contract, s.Contract))
}
