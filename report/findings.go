package report

import (
	"encoding/json"
	"strings"
)

// A Finding is something that a review has found at a place in a file.
type Finding struct {
	File string `json:"file"` // its path in the repository, with slashes
	// Line and EndLine are the first and the last line of the place, from 1. Line is 0 if the finding is about the whole file.
	Line     int    `json:"line,omitempty"`
	EndLine  int    `json:"end_line,omitempty"`
	Quote    string `json:"quote,omitempty"` // what stands there
	Severity string `json:"severity"`        // "error", "warning" or "note"
	Title    string `json:"title"`           // one line
	Text     string `json:"text,omitempty"`  // what goes wrong
	Show     string `json:"show,omitempty"`  // how to show that it goes wrong
	By       string `json:"by,omitempty"`    // who found it
	// Votes are by what judges and reviewers decided about the finding, such as "stands".
	Votes   map[string]int `json:"votes,omitempty"`
	Reasons []string       `json:"reasons,omitempty"`
	Dissent []string       `json:"dissent,omitempty"`
}

// reviewType begins the types of answers that hold findings.
const reviewType = "review/"

// Findings returns the findings that stand when a review has ended, in their order. It returns nil for any other debate.
func (r *Report) Findings() []Finding {
	a := r.Result.Answer
	if !r.Result.State.Final() || !strings.HasPrefix(a.Type, reviewType) {
		return nil
	}
	var data struct {
		Findings []Finding `json:"findings"`
	}
	if err := json.Unmarshal(a.Data, &data); err != nil {
		return nil
	}
	return data.Findings
}
