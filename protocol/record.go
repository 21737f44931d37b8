package protocol

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// Record is the committed part of a debate: all that a protocol may read. It is the fold of the journal; protocols do
// not change it.
type Record struct {
	ID           string // the debate's
	Topic        string
	Started      time.Time       // zero until it has
	Rating       json.RawMessage // a user's, of the debate; nil: none yet
	Cursor       transcript.Cursor
	Seq          int64                // of the last entry of the journal
	Participants []transcript.Profile // those who are still in, in order; with the personas that were assigned
	Judges       []string             // by name
	MinRounds    int
	MaxRounds    int
	Ending       transcript.Ending // why the debate ends, once that is decided
	Turns        []transcript.Turn // of this run, by phase and Order, whatever their order of arrival

	turnIndex   map[transcript.Key]int // into Turns
	roundStarts []int                  // where each round begins in Turns
	phaseStarts []phaseStart           // phases, and the seq at which each began
}

// currentKey names a step of the stage and round at hand. The prelude belongs to no round, also when a debate that was retried
// passes through it again.
func (r *Record) currentKey(phase, actor, target string) transcript.Key {
	k := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: phase, Actor: actor, Target: target}
	if r.Cursor.Stage == transcript.Setup {
		k.Round = 0
	}
	return k
}

// StartPhase notes that a phase of the stage at hand begins at the given seq: the horizon of its steps where they run in
// parallel. A phase that goes on after a failure keeps its first horizon.
func (r *Record) StartPhase(phase string, seq int64) {
	k := r.currentKey(phase, "", "")
	r.phaseStarts = slices.DeleteFunc(r.phaseStarts, func(s phaseStart) bool { return s.key.Round > 0 && s.key.Round < k.Round })
	since, again := r.phaseSince(phase)
	if !again {
		since = seq
		r.phaseStarts = append(r.phaseStarts, phaseStart{k, seq})
	}
	r.Cursor.Phase, r.Cursor.PhaseSeq, r.Seq = phase, since, seq
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

// Apply adds a committed turn and says whether it was new.
func (r *Record) Apply(t transcript.Turn) bool {
	if _, dup := r.turnIndex[t.Key]; dup {
		return false
	}
	if r.turnIndex == nil {
		r.turnIndex = map[transcript.Key]int{}
	}
	for len(r.roundStarts) <= t.Round {
		r.roundStarts = append(r.roundStarts, len(r.Turns))
	}
	r.Seq = t.Seq
	r.insert(t)
	if t.Contract == PersonasContract.Name() {
		r.applyPersonas(t)
	}
	return true
}

// insert keeps Turns in order: a turn goes before the first of the open phase whose place is later. Only one phase is
// open: what came after Since belongs to it, or is a remark, which stays behind the step that it came after. One that
// was made while the phase was interrupted has no place in it, so all of the phase is looked at. A summary stands where it
// was made.
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

// applyPersonas gives seats the personas of a turn. What was set by hand stays.
func (r *Record) applyPersonas(t transcript.Turn) {
	p, err := transcript.Decode[Personas](t)
	if err != nil {
		return // not validated, so not of this library's making: the seats stay as they are
	}
	r.Participants = slices.Clone(r.Participants)
	for i := range r.Participants {
		s := &r.Participants[i]
		at := slices.IndexFunc(p.Personas, func(x Persona) bool { return x.Name == s.Name })
		if at < 0 {
			continue
		}
		given := p.Personas[at]
		s.Persona, s.Position = cmp.Or(s.Persona, given.Persona), cmp.Or(s.Position, given.Position)
		if len(s.KeyArguments) == 0 {
			s.KeyArguments = given.KeyArguments
		}
	}
}

// RemarkOrder is the Order of a remark that is committed now: after what stands in the open phase.
func (r *Record) RemarkOrder() int {
	place := -1
	for i := len(r.Turns) - 1; i >= 0 && r.Turns[i].Seq > r.Cursor.PhaseSeq; i-- {
		place = max(place, r.Turns[i].Order)
	}
	return place
}

// Drop takes a participant or a judge out.
func (r *Record) Drop(name string) {
	r.Judges = slices.DeleteFunc(slices.Clone(r.Judges), func(j string) bool { return j == name })
	r.Participants = slices.DeleteFunc(slices.Clone(r.Participants), func(s transcript.Profile) bool { return s.Name == name })
}

// PairByRole is who takes two parts: by their roles, else in the order in which they sit. Nobody does unless two sit there.
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

// FindCurrent is the turn of this stage and round that the words name, if it was committed.
func (r *Record) FindCurrent(phase, actor, target string) (t transcript.Turn, ok bool) {
	return r.Find(r.currentKey(phase, actor, target))
}

// Find is the turn of a key, if it was committed.
func (r *Record) Find(k transcript.Key) (t transcript.Turn, ok bool) {
	i, ok := r.turnIndex[k]
	if ok {
		t = r.Turns[i]
	}
	return t, ok
}

// TurnsFrom are the turns of a round and of all later ones.
func (r *Record) TurnsFrom(round int) []transcript.Turn {
	if round >= len(r.roundStarts) {
		return nil
	}
	return r.Turns[r.roundStarts[max(round, 0)]:]
}
