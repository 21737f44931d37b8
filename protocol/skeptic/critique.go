package skeptic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/transcript"
)

// critiqueContract is the contract of the JSON block that ends a critique. It is not the contract of a step, because
// readers should see the prose as well.
var critiqueContract = reply.New[Critique]("critique/1")

// Critique is the structured content of a skeptic's critique.
type Critique struct {
	Issues []Issue `json:"issues" jsonschema:"maxItems=64" jsonschema_description:"all open issues; an empty list if there are none"`
	Ready  bool    `json:"ready" jsonschema_description:"whether the answer can be adopted without changes"`
	// Score is the quality of the answer from 0 to 10. It is nil if the critique has only markers.
	Score *float64 `json:"score" jsonschema:"minimum=0,maximum=10" jsonschema_description:"the quality of the answer, from 0 (worst) to 10 (best)"`
}

// Issue is one open objection.
type Issue struct {
	Severity Severity `json:"severity" jsonschema:"maxLength=20" jsonschema_description:"critical, major or minor"`
	Text     string   `json:"text" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"the issue, in one or two sentences"`
}

// Severity is the severity of an issue.
type Severity string

// The severities.
const (
	Critical Severity = "critical" // the answer must not be adopted until the issue is resolved
	Major    Severity = "major"    // the issue makes the answer clearly worse
	Minor    Severity = "minor"
)

var severities = []Severity{Critical, Major, Minor}

// Check corrects the case of severities. It returns a violation for each unknown severity.
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

// count returns the number of issues of a severity.
func (c *Critique) count(s Severity) (n int) {
	for _, x := range c.Issues {
		if x.Severity == s {
			n++
		}
	}
	return n
}

// ParseCritique parses the text of a critique and reports whether it could be read. It uses the JSON object that
// follows the contract "critique/1". If there is none, it looks for markers outside of reasoning tags: 🔴 anywhere is a
// critical issue; otherwise "Ready for Synthesis ✅" at the beginning of a line or sentence means ready, without a score.
// If there is no marker either, it returns a critique with one critical issue that says so, and false.
func ParseCritique(text string) (c Critique, ok bool) {
	if r, err := critiqueContract.Parse(text, nil); err == nil {
		c, err = transcript.Decode[Critique](transcript.Turn{Contract: critiqueContract.Name(), Data: r.Data})
		if err == nil {
			return c, true
		}
	}
	text, _ = reasoning.Split(text)
	switch {
	case strings.Contains(text, "🔴"):
		return criticalIssue("The critique marks a critical issue with 🔴."), true
	case readyMarker.MatchString(text):
		return Critique{Issues: []Issue{}, Ready: true}, true
	}
	return criticalIssue("The critique could not be read. This counts as a critical issue."), false
}

// turnCritique parses a skeptic's turn. It does not parse an incomplete turn, because the missing part may contain the
// most severe issues.
func turnCritique(t *transcript.Turn) (Critique, bool) {
	for _, cut := range []transcript.Flag{transcript.Truncated, transcript.Partial, transcript.Filtered} {
		if slices.Contains(t.Flags, cut) {
			return criticalIssue("The critique was cut off. This counts as a critical issue."), false
		}
	}
	return ParseCritique(t.Text)
}

// criticalIssue returns a critique with one critical issue.
func criticalIssue(text string) Critique {
	return Critique{Issues: []Issue{{Severity: Critical, Text: text}}}
}

// readyMarker matches the marker at the beginning of a line or sentence. Elsewhere it may be negated or quoted.
var readyMarker = regexp.MustCompile(`(?im)(?:^|[.!?:;。！？：]\s*)[\s*_#>` + "`" + `-]*ready for synthesis[\s*_:` + "`" + `]*✅`)
