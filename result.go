package debate

import "github.com/elenchus-go/debate/transcript"

// addFailure adds what a failed step has used to the totals of a result.
func addFailure(r *Result, f *Failure, side string) {
	used := f.Usage()
	of := r.Sides[side]
	of.Usage = of.Usage.Add(used)
	r.Sides[side] = of
	r.Rounds[f.Key.Round].Usage = r.Rounds[f.Key.Round].Usage.Add(used)
	r.Total.Usage = r.Total.Usage.Add(used)
}

// withTurn returns totals with those of a turn.
func withTurn(a Totals, t *transcript.Turn) Totals {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Duration += t.Ended.Sub(t.Started)
	if t.Window != nil && t.Window.Omitted > 0 {
		a.OmittedTurns++
	}
	return a
}

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

	// Of a turn by a model, and of steps that failed: Prompts is the number of calls whose request was made again and has the hash
	// in the journal. Unknown is the number of the other calls, and Missing says what the journal lacks, if it is known. Read reports that the
	// reply was read again, and the turn has what it says; otherwise the journal does not have the reply.
	Prompts int      `json:"prompts,omitempty"`
	Unknown int      `json:"unknown,omitempty"`
	Missing []string `json:"missing,omitempty"`
	Read    bool     `json:"read,omitempty"`
	// Names says where the prompt of a blind judge has a word that is the name of a participant, with the words that follow it.
	// Texts of the debate never have one there, but templates and the names of criteria may.
	Names []string `json:"names,omitempty"`
}
