package journal

import (
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/transcript"
)

// Origin is what the first entry of a journal has and nothing shows: the keys of the debate's hashes, the course that a rejudged
// debate repeats, and what is silent in a fork.
type Origin struct {
	*seal.Keys

	Course *Course   `json:"course,omitempty"`
	Silent []Silence `json:"silent,omitempty"`
}

// Silence names turns and seats that are silent after the first entries of a journal.
type Silence struct {
	From  int64            `json:"from"` // number of these entries
	Turns []transcript.Key `json:"turns,omitempty"`
	Seats []string         `json:"seats,omitempty"`
}

// Course is what a rejudged debate keeps of its parent.
type Course struct {
	From    int64             `json:"from"` // number of entries that the debate begins with
	Omit    Omission          `json:"omit,omitzero"`
	Swap    bool              `json:"swap,omitempty"`
	Phases  []string          `json:"phases"`  // in which the judges decide
	Entries []json.RawMessage `json:"entries"` // of the parent, after the first ones
}

// Decides reports whether judges decide in a phase.
func (c *Course) Decides(phase string) bool { return slices.Contains(c.Phases, phase) }
