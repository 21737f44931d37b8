package skeptic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// critiqueContract is the block that ends a critique. No step asks for it alone: readers shall see the prose as well.
var critiqueContract = reply.New[Critique]("critique/1")

// Critique is what a skeptic's words come down to.
type Critique struct {
	Issues []Issue `json:"issues" jsonschema:"maxItems=64" jsonschema_description:"all open issues; an empty list if there are none"`
	Ready  bool    `json:"ready" jsonschema_description:"whether the answer can be adopted without changes"`
	// Score is the quality of the answer from 0 to 10; nil where only markers could be read.
	Score *float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"the quality of the answer, from 0 (worst) to 10 (best)"`
}

// Issue is one objection that stands.
type Issue struct {
	Severity Severity `json:"severity" jsonschema:"maxLength=20" jsonschema_description:"critical, major or minor"`
	Text     string   `json:"text" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the issue, in one or two sentences"`
}

// Severity is how much an issue matters.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // the answer must not be adopted while it stands
	Major    Severity = "major"    // it makes the answer clearly worse
	Minor    Severity = "minor"
)

var severities = []Severity{Critical, Major, Minor}

// Check finds unknown severities, and corrects the case of known ones.
func (c *Critique) Check([]string) (findings []string) {
	for i := range c.Issues {
		s := &c.Issues[i].Severity
		if known := Severity(strings.ToLower(strings.TrimSpace(string(*s)))); slices.Contains(severities, known) {
			*s = known
			continue
		}
		findings = append(findings, fmt.Sprintf("/issues/%d/severity: %q is unknown, use one of %q", i, *s, severities))
	}
	return findings
}

func (c *Critique) count(s Severity) (n int) {
	for _, x := range c.Issues {
		if x.Severity == s {
			n++
		}
	}
	return n
}

// ParseCritique reads a skeptic's words. The block counts, which is the last JSON object that follows the contract
// "critique/1". Without one the markers do: 🔴 anywhere is a critical issue; else "Ready for Synthesis ✅" at the
// beginning of a line or of a sentence is ready, without a score. Words said while reasoning are no part of it. False
// means that there is neither: then the critique has one critical issue that says so.
func ParseCritique(text string) (c Critique, ok bool) {
	if r, err := critiqueContract.Parse(text, nil); err == nil {
		c, err = transcript.Decode[Critique](transcript.Turn{Contract: critiqueContract.Name(), Data: r.Data})
		if err == nil {
			return c, true
		}
	}
	text = withoutReasoning(text)
	switch {
	case strings.Contains(text, "🔴"):
		return criticalIssue("The critique marks a critical issue with 🔴."), true
	case readyMarker.MatchString(text):
		return Critique{Issues: []Issue{}, Ready: true}, true
	}
	return criticalIssue("The critique could not be read, which counts as a critical issue."), false
}

// turnCritique reads a skeptic's turn. One that was cut is not read: what was left out could have been the worst.
func turnCritique(t *transcript.Turn) (Critique, bool) {
	for _, cut := range []transcript.Flag{transcript.Truncated, transcript.Partial, transcript.Filtered} {
		if slices.Contains(t.Flags, cut) {
			return criticalIssue("The critique was cut off, which counts as a critical issue."), false
		}
	}
	return ParseCritique(t.Text)
}

// criticalIssue is a critique of one critical issue.
func criticalIssue(text string) Critique {
	return Critique{Issues: []Issue{{Severity: Critical, Text: text}}}
}

// readyMarker finds the marker. What stands before it in its sentence could take it back, and so could a quote.
var readyMarker = regexp.MustCompile(`(?im)(?:^|[.!?:;。！？：]\s*)[\s*_#>` + "`" + `-]*ready for synthesis[\s*_:` + "`" + `]*✅`)

// withoutReasoning is a text without what a model says while it reasons.
func withoutReasoning(text string) string {
	for _, tag := range []string{"think>", "thinking>"} {
		if i := strings.LastIndex(text, "</"+tag); i >= 0 {
			text = text[i+len("</"+tag):]
		}
		text, _, _ = strings.Cut(text, "<"+tag)
	}
	return text
}
