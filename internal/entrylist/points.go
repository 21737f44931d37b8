package entrylist

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Plans holds the steps that could run after each entry of a journal.
type Plans struct {
	after [][]protocol.Step // the index is the seq of the entry
}

// At notes the steps that can run after the last entry of a record, and returns the point at which the next entry is checked.
// known reports whether the engine has the protocol of the debate, which says which steps can run.
func (p *Plans) At(r *protocol.Record, steps []protocol.Step, known bool) *Point {
	for int64(len(p.after)) <= r.Seq {
		p.after = append(p.after, nil)
	}
	p.after[r.Seq] = steps
	return &Point{record: r, steps: steps, known: known, plans: p}
}

// A Point is a place in a journal: what the entries before it show.
type Point struct {
	record *protocol.Record
	steps  []protocol.Step
	known  bool
	plans  *Plans
}

// step returns the step that can run with a key, or nil if there is none.
func (p *Point) step(key transcript.Key) *protocol.Step {
	at := slices.IndexFunc(p.steps, func(s protocol.Step) bool { return s.Key == key })
	if at < 0 {
		return nil
	}
	return &p.steps[at]
}

// Declined checks that a step to which a person gives no reply could run.
func (p *Point) Declined(key transcript.Key) error {
	if p.known && p.step(key) == nil {
		return fmt.Errorf("the step %s cannot be declined: it could not run", key)
	}
	return nil
}

// Asked checks what a person is asked.
func (p *Point) Asked(key transcript.Key, kind transcript.Kind, contract string) error {
	if !p.known {
		return nil
	}
	s := p.step(key)
	if s == nil {
		return fmt.Errorf("nobody can be asked for the step %s: it could not run", key)
	}
	return cmp.Or(differs("kind", kind, s.Kind), differs("contract", contract, s.Contract))
}

// Ending checks the round of an ending, which may be zero.
func (p *Point) Ending(e transcript.Ending) error {
	if round := p.record.Cursor.Round; e.Outcome != "" && e.Round != round {
		return fmt.Errorf("the ending is of round %d, but the debate is in round %d", e.Round, round)
	}
	return nil
}

// Failed checks that a failure belongs to a step of the current round or of the setup. The key is zero if a hook failed.
func (p *Point) Failed(key transcript.Key) error {
	at := p.record.Cursor
	inRound := key.Round == at.Round || key.Round == 0 && at.Stage == transcript.Setup
	if key == (transcript.Key{}) || key.Run == at.Run && inRound {
		return nil
	}
	return fmt.Errorf("the failure is of run %d, round %d, but the debate is in run %d, round %d", key.Run, key.Round, at.Run, at.Round)
}

// Turn checks the turn in the entry seq. promptSeq is the seq of the last entry that its prompt was made from.
func (p *Point) Turn(t *transcript.Turn, seq, promptSeq int64) error {
	var sum transcript.Usage
	for _, a := range t.Attempts {
		sum = sum.Add(a.Usage)
	}
	if err := cmp.Or(differs("seq", t.Seq, seq), differs("usage", t.Usage, sum)); err != nil {
		return err
	}
	r := p.record
	if t.Kind == transcript.Remark {
		return cmp.Or(
			differs("run", t.Run, r.Cursor.Run),
			differs("phase", t.Phase, "remark"),
			differs("contract", t.Contract, ""),
			differs("round", t.Round, 0),
			differs("order", t.Order, r.RemarkOrder()),
			differs("visible_seq", t.VisibleSeq, r.Seq),
		)
	}
	if promptSeq < 0 || promptSeq > r.Seq {
		return fmt.Errorf("its prompt_seq is %d, want at most %d", promptSeq, r.Seq)
	}
	if !p.known {
		return p.place(t, promptSeq)
	}
	if p.step(t.Key) == nil {
		return errors.New("it is the turn of a step that could not run")
	}
	return p.planned(t, promptSeq)
}

// place checks what is certain about a turn of an unknown protocol.
func (p *Point) place(t *transcript.Turn, promptSeq int64) error {
	at := p.record.Cursor
	if at.Stage == transcript.Setup {
		at.Round = 0
	}
	if most := cmp.Or(promptSeq, p.record.Seq); t.VisibleSeq < 0 || t.VisibleSeq > most {
		return fmt.Errorf("its visible_seq is %d, want at most %d", t.VisibleSeq, most)
	}
	return cmp.Or(differs("round", t.Round, at.Round), differs("phase", t.Phase, at.Phase))
}

// planned checks a turn against the step that it is the turn of, as that was planned when its prompt was made. Entries of earlier
// versions do not say when that was.
func (p *Point) planned(t *transcript.Turn, promptSeq int64) (err error) {
	first, last := p.record.Seq, p.record.Seq
	if len(t.Attempts) > 0 { // otherwise, somebody gave the reply when it was committed
		first = promptSeq
		if promptSeq == 0 {
			first = min(max(t.VisibleSeq, 0), p.record.Seq)
		} else {
			last = promptSeq
		}
	}
	err = fmt.Errorf("its prompt_seq is %d, but the step could not run then", first)
	for _, steps := range p.plans.after[first : last+1] {
		for i := range steps {
			if steps[i].Key != t.Key {
				continue
			}
			err = sameStep(t, &steps[i])
			if err == nil {
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

// differs returns an error if a value of an entry is not the one that follows from the entries before it.
func differs[T comparable](what string, is, want T) error {
	if is == want {
		return nil
	}
	return fmt.Errorf("its %s is %v, want %v", what, is, want)
}
