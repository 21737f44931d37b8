package protocol

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/transcript"
)

// Record is the committed state of a debate, folded from its journal. It is the only input of a protocol. Protocols must
// not modify it.
type Record struct {
	ID           string // ID of the debate
	Seed         string // seed of everything that is drawn; never empty in a debate
	Topic        string
	Started      time.Time       // zero before the start
	Rating       json.RawMessage // the user's rating of the debate; nil if there is none
	Cursor       transcript.Cursor
	Seq          int64                // seq of the last journal entry
	Participants []transcript.Profile // active participants, in order, with their assigned personas
	Judges       []string             // names of the active judges
	Dropped      []string             // names of the participants that dropped out, in order
	Documents    []evidence.Source    // names and numbers of the documents that everybody reads
	MinRounds    int
	MaxRounds    int
	Ending       transcript.Ending // why the debate ends; zero while it continues
	Turns        []transcript.Turn // turns of this run, sorted by phase and Order, not by arrival

	turnIndex   map[transcript.Key]int // into Turns
	roundStarts []int                  // where each round begins in Turns
	phaseStarts []phaseStart           // phases, and the seq at which each began
	supposed    int                    // number of turns at the end that are only supposed
}

// currentKey returns the key of a step in the current stage and round. The setup stage always has round 0, even if the
// debate is retried and passes through it again.
func (r *Record) currentKey(phase, actor, target string) transcript.Key {
	k := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: phase, Actor: actor, Target: target}
	if r.Cursor.Stage == transcript.Setup {
		k.Round = 0
	}
	return k
}

// StartPhase records that a phase of the current stage begins at the given seq. The steps of a parallel phase see nothing
// later. A phase that continues after a failure keeps its first seq.
func (r *Record) StartPhase(phase string, seq int64) {
	k := r.currentKey(phase, "", "")
	r.phaseStarts = slices.DeleteFunc(r.phaseStarts, func(s phaseStart) bool { return s.key.Round > 0 && s.key.Round < k.Round })
	since, again := r.phaseSince(phase)
	if !again {
		since = seq
		r.phaseStarts = append(r.phaseStarts, phaseStart{k, seq})
	}
	r.Cursor.Phase = phase
	r.Cursor.PhaseSeq = since
	r.Seq = seq
}

// phaseStart is the seq at which a phase first started.
type phaseStart struct {
	key transcript.Key // without an actor
	seq int64
}

// phaseSince returns the seq at which a phase of the current round, or of the setup, first started.
func (r *Record) phaseSince(phase string) (seq int64, started bool) {
	k := r.currentKey(phase, "", "")
	for _, s := range r.phaseStarts {
		if s.key == k {
			return s.seq, true
		}
	}
	return 0, false
}

// Apply adds a committed turn. It reports whether the turn is new.
func (r *Record) Apply(t transcript.Turn) bool {
	if _, dup := r.turnIndex[t.Key]; dup {
		return false
	}
	if r.turnIndex == nil {
		r.turnIndex = map[transcript.Key]int{}
	}
	r.startRounds(t.Round)
	r.Seq = t.Seq
	r.insert(t)
	if t.Contract == PersonasContract.Name() {
		r.applyPersonas(t)
	}
	return true
}

// Suppose adds turns that may be made later, so that a program can ask a protocol what would follow. The turns need no data
// and get the next seqs. They are as good as committed until TakeBack is called.
func (r *Record) Suppose(turns ...transcript.Turn) {
	if r.turnIndex == nil {
		r.turnIndex = map[transcript.Key]int{}
	}
	for i := range turns {
		if _, dup := r.turnIndex[turns[i].Key]; dup {
			continue
		}
		r.startRounds(turns[i].Round)
		r.Seq++
		r.supposed++
		r.turnIndex[turns[i].Key] = len(r.Turns)
		r.Turns = append(r.Turns, turns[i])
		r.Turns[len(r.Turns)-1].Seq = r.Seq
	}
}

// TakeBack removes all supposed turns.
func (r *Record) TakeBack() {
	count := len(r.Turns) - r.supposed
	for _, t := range r.Turns[count:] {
		delete(r.turnIndex, t.Key)
	}
	clear(r.Turns[count:])
	r.Turns = r.Turns[:count]
	r.Seq = r.Seq - int64(r.supposed)
	r.supposed = 0
	for n := len(r.roundStarts); n > 0 && r.roundStarts[n-1] >= count; n-- {
		r.roundStarts = r.roundStarts[:n-1]
	}
}

// HidePhase removes the turns since the open phase began, so that a program can compute what held then. It returns these turns
// and a function that puts them back.
func (r *Record) HidePhase() (hidden []transcript.Turn, show func()) {
	at := len(r.Turns)
	for at > 0 && r.Turns[at-1].Seq > r.Cursor.PhaseSeq {
		at--
	}
	turns, starts := r.Turns, r.roundStarts
	hidden = turns[at:]
	for i := range hidden {
		delete(r.turnIndex, hidden[i].Key)
	}
	began := len(starts)
	for began > 0 && starts[began-1] > at {
		began--
	}
	r.Turns, r.roundStarts = turns[:at:at], starts[:began:began]
	return hidden, func() {
		r.Turns, r.roundStarts = turns, starts
		for i := range hidden {
			r.turnIndex[hidden[i].Key] = at + i
		}
	}
}

// startRounds records that the turns of a round, and of rounds before it that have none, begin after the present turns.
func (r *Record) startRounds(round int) {
	for len(r.roundStarts) <= round {
		r.roundStarts = append(r.roundStarts, len(r.Turns))
	}
}

// insert adds a turn and keeps Turns sorted: the turn goes before the first turn of the current phase with a higher
// Order. Turns after Cursor.PhaseSeq belong to the current phase, or are remarks, which stay after the step that they
// followed. Remarks made while the phase was interrupted have no Order in it, so insert compares with every turn of the
// phase. A summary is always appended.
func (r *Record) insert(t transcript.Turn) {
	at := len(r.Turns)
	for i := at - 1; i >= 0 && r.Turns[i].Seq > r.Cursor.PhaseSeq && t.Kind != transcript.Summary; i-- {
		if r.Turns[i].Order > t.Order {
			at = i
		}
	}
	r.Turns = slices.Insert(r.Turns, at, t)
	for i := at; i < len(r.Turns); i++ {
		r.turnIndex[r.Turns[i].Key] = i
	}
}

// applyPersonas sets the personas of participants from a turn. Values from the configuration are kept, and people have no
// persona.
func (r *Record) applyPersonas(t transcript.Turn) {
	p, err := transcript.Decode[Personas](t)
	if err != nil {
		return // not validated, so not written by this library: keep the profiles
	}
	r.Participants = slices.Clone(r.Participants)
	for i := range r.Participants {
		s := &r.Participants[i]
		at := slices.IndexFunc(p.Personas, func(x Persona) bool { return x.Name == s.Name })
		if at < 0 || s.Human {
			continue
		}
		given := p.Personas[at]
		s.Persona, s.Position = cmp.Or(s.Persona, given.Persona), cmp.Or(s.Position, given.Position)
		if len(s.KeyArguments) == 0 {
			s.KeyArguments = given.KeyArguments
		}
	}
}

// RemarkOrder returns the Order of a remark that is committed now, which follows the turns of the current phase.
func (r *Record) RemarkOrder() int {
	place := -1
	for i := len(r.Turns) - 1; i >= 0 && r.Turns[i].Seq > r.Cursor.PhaseSeq; i-- {
		place = max(place, r.Turns[i].Order)
	}
	return place
}

// Drop removes a participant or a judge.
func (r *Record) Drop(name string) {
	if slices.ContainsFunc(r.Participants, func(s transcript.Profile) bool { return s.Name == name }) {
		r.Dropped = append(slices.Clone(r.Dropped), name)
	}
	r.Judges = slices.DeleteFunc(slices.Clone(r.Judges), func(j string) bool { return j == name })
	r.Participants = slices.DeleteFunc(slices.Clone(r.Participants), func(s transcript.Profile) bool { return s.Name == name })
}

// PairByRole returns the names of the participants with the two roles. Without these roles it returns the participants
// in order. It returns empty names unless there are exactly two participants.
func (r *Record) PairByRole(first, second string) (a, b string) {
	if len(r.Participants) != 2 {
		return "", ""
	}
	x, y := r.Participants[0], r.Participants[1]
	if x.Role == second || x.Role != first && y.Role == first {
		x, y = y, x
	}
	return x.Name, y.Name
}

// FindCurrent returns the turn with the given phase, actor and target in the current stage and round. It reports whether
// the turn is committed.
func (r *Record) FindCurrent(phase, actor, target string) (t transcript.Turn, ok bool) {
	return r.Find(r.currentKey(phase, actor, target))
}

// Find returns the turn with key k. It reports whether the turn is committed.
func (r *Record) Find(k transcript.Key) (t transcript.Turn, ok bool) {
	i, ok := r.turnIndex[k]
	if ok {
		t = r.Turns[i]
	}
	return t, ok
}

// TurnsFrom returns the turns of the given round and of all later rounds.
func (r *Record) TurnsFrom(round int) []transcript.Turn {
	if round >= len(r.roundStarts) {
		return nil
	}
	return r.Turns[r.roundStarts[max(round, 0)]:]
}

// Said returns the turns of a kind and phase since the current round began.
func (r *Record) Said(kind transcript.Kind, phase string) (turns []transcript.Turn) {
	for _, t := range r.TurnsFrom(r.Cursor.Round) {
		if t.Kind == kind && t.Phase == phase {
			turns = append(turns, t)
		}
	}
	return turns
}

// TurnsOf returns the turns of the given round.
func (r *Record) TurnsOf(round int) []transcript.Turn {
	turns := r.TurnsFrom(round)
	if end := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Round > round }); end >= 0 {
		turns = turns[:end]
	}
	return turns
}
