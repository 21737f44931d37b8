package review

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Verdict is what a review comes to.
type Verdict string

// The verdicts.
const (
	Approve        Verdict = "approve"         // no finding stands
	Comment        Verdict = "comment"         // findings stand, and none of them is an error
	RequestChanges Verdict = "request changes" // an error stands
)

// The keys of Finding.Votes.
const (
	Stands = "stands"
	Falls  = "falls"
)

// Result is the data of the answer.
type Result struct {
	// Verdict follows from the findings that stand. It is empty if no reviewer gave a valid reply.
	Verdict  Verdict   `json:"verdict,omitempty"`
	Findings []Finding `json:"findings"`          // that stand, the most severe first
	Refuted  []Finding `json:"refuted,omitempty"` // that do not stand
	Dropped  Dropped   `json:"dropped"`
	Silent   []string  `json:"silent,omitempty"` // reviewers who gave no valid reply
	// Summaries say what the review comes to in the words of the judges, such as "Jo: One fault is real.".
	Summaries []string `json:"summaries,omitempty"`
}

// Finding is something that is wrong at a place in a source.
type Finding struct {
	Number int `json:"number"` // in the debate, from 1
	Source int `json:"source"` // the number of the source
	// File, Line and EndLine say where the quote stands. If the source is code or a diff, they were found out, whatever the reviewer
	// had said. Otherwise they are what the reviewer has said, and Line is 0 if it said nothing.
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1
	EndLine  int      `json:"end_line,omitempty"`
	Quote    string   `json:"quote"`    // what is wrong; it was found in the source
	Severity Severity `json:"severity"` // by the judges, if they decided
	Title    string   `json:"title"`
	Text     string   `json:"text"` // what goes wrong
	Show     string   `json:"show"` // how to show it
	By       string   `json:"by"`   // the reviewer who found it
	// AlsoBy are further reviewers who found the same, in the view of the judges.
	AlsoBy []string `json:"also_by,omitempty"`
	// Votes counts who says that the finding stands, or falls: the reviewers, with the one who found it, and the judges.
	Votes   map[string]int `json:"votes"`
	Reasons []string       `json:"reasons,omitempty"` // of those who agree with the outcome, judges first, such as "Bo: It is nil there."
	Dissent []string       `json:"dissent,omitempty"` // of those who do not
}

// Dropped counts the findings that nobody discussed, by what the check of their quotes has found.
type Dropped struct {
	NotFound   int `json:"not_found,omitempty"`   // the source does not contain the quote, or there is no such source
	Altered    int `json:"altered,omitempty"`     // the source contains something like it
	NotChecked int `json:"not_checked,omitempty"` // the text of the source is not known, or the quote is too short to prove anything
}

// Total returns the number of all dropped findings.
func (d Dropped) Total() int { return d.NotFound + d.Altered + d.NotChecked }

// count counts a finding by the verdict on its quote. It reports whether the finding is dropped.
func (d *Dropped) count(v transcript.Verdict) bool {
	switch v {
	case transcript.Verified:
		return false
	case transcript.Altered:
		d.Altered++
	case transcript.NotChecked:
		d.NotChecked++
	case transcript.NotFound:
		d.NotFound++
	default:
		d.NotFound++
	}
	return true
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// text returns the result for readers.
func (res *Result) text() string {
	parts := append([]string{res.head()}, res.Summaries...)
	for i := range res.Findings {
		parts = append(parts, res.Findings[i].String())
	}
	return strings.Join(parts, "\n\n")
}

// head returns the verdict and the numbers of findings.
func (res *Result) head() string {
	words := map[Verdict]string{
		Approve: "Approve.", Comment: "Comment.", RequestChanges: "Request changes.",
		"": "No verdict, because no reviewer gave a valid reply.",
	}
	head := words[res.Verdict]
	count := map[Severity]int{}
	for i := range res.Findings {
		count[res.Findings[i].Severity]++
	}
	var numbers []string
	for _, s := range severities {
		if n := count[s]; n > 0 {
			numbers = append(numbers, outcome.Count(n, string(s), string(s)+"s"))
		}
	}
	switch {
	case len(numbers) > 0:
		head += " " + strings.Join(numbers, ", ") + "."
	case res.Verdict != "":
		head += " No finding stands."
	}
	if n := len(res.Refuted); n > 0 {
		head += " " + were(n) + " refuted."
	}
	if n := res.Dropped.Total(); n > 0 {
		head += " " + were(n) + " dropped, because the quote is not in the source."
	}
	return head
}

// were returns a number of findings, and the verb of a sentence about them.
func were(n int) string { return outcome.Count(n, "finding was", "findings were") }

// String returns the finding for readers.
func (f *Finding) String() string {
	by := f.By
	if len(f.AlsoBy) > 0 {
		by += ", also by " + strings.Join(f.AlsoBy, ", ")
	}
	lines := []string{
		fmt.Sprintf("%d. %s: %s (%s)", f.Number, f.Severity, f.Title, place(f.File, f.Line, f.EndLine)),
		f.Text,
		"How to show it: " + f.Show,
		fmt.Sprintf("Found by %s. Stands for %d of %d.", by, f.Votes[Stands], f.Votes[Stands]+f.Votes[Falls]),
	}
	for _, x := range f.Reasons {
		lines = append(lines, "Reason: "+x)
	}
	for _, x := range f.Dissent {
		lines = append(lines, "Dissent: "+x)
	}
	return strings.Join(lines, "\n")
}
