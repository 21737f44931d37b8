package review

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/evidence/quote"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of the replies: what reviewers find, what they say of the findings of others, and what judges decide.
var (
	ClaimsContract  = reply.New[Claims]("findings/1")
	VotesContract   = reply.New[Votes]("finding-votes/1")
	RulingsContract = reply.New[Rulings]("finding-rulings/1")
)

// Severity says how much harm a finding describes.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // it must be corrected first
	Warning Severity = "warning" // it does harm, but need not be corrected first
	Note    Severity = "note"    // the text would be better without it
)

// severities lists the severities, the worst first.
var severities = []Severity{Error, Warning, Note}

// Claims is what a reviewer finds.
type Claims struct {
	Findings []Claim `json:"findings" jsonschema:"maxItems=8" jsonschema_description:"what is wrong, the most severe first; an empty list if nothing is"`
}

// Claim is a finding before anybody has examined it.
type Claim struct {
	Source   int      `json:"source" jsonschema:"minimum=1,maximum=999" jsonschema_description:"the number of the source that you quote"`
	File     string   `json:"file" jsonschema:"maxLength=400" jsonschema_description:"the path of the file; in a diff, that of the changed file"`
	Line     int      `json:"line,omitempty" jsonschema:"minimum=0" jsonschema_description:"the line where the quote begins, from 1; leave it out if you do not know it"`
	EndLine  int      `json:"end_line,omitempty" jsonschema:"minimum=0" jsonschema_description:"the line where the quote ends"`
	Quote    string   `json:"quote" jsonschema:"minLength=1,maxLength=1200" jsonschema_description:"the code or text that is wrong, copied from the source: one line, or a few that follow one another, with the + and - of a diff"`
	Severity Severity `json:"severity" jsonschema:"enum=error,enum=warning,enum=note" jsonschema_description:"how much harm it does"`
	Title    string   `json:"title" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the finding in one line"`
	Text     string   `json:"text" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"what goes wrong, when, and for whom"`
	Show     string   `json:"show" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"how to show it: a call, an input or a test, and what then happens"`
}

// Default sets a reply without findings. The answer says that the reviewer gave none.
func (c *Claims) Default([]string) { *c = Claims{Findings: []Claim{}} }

// Check removes the marks of quotes that a model has written into a quote. It returns a violation for each quote that contains such
// marks, and for each range of lines that ends before it begins. If all quotes are too short to prove anything, each is a violation too.
// If only some are, their findings are dropped later, as those whose quotes are not there: a reviewer who is asked again and repeats one
// would lose the others with it.
func (c *Claims) Check([]string) (findings []string) {
	var short []string
	for i := range c.Findings {
		x := &c.Findings[i]
		if bare := quoted.FindStringSubmatch(x.Quote); bare != nil {
			x.Quote = bare[1]
		}
		at := fmt.Sprintf("/findings/%d", i)
		verdict, _ := quote.Code(x.Quote).Check(x.Quote)
		switch {
		case quoteTag.MatchString(x.Quote):
			findings = append(findings, at+"/quote: it contains a tag of quotes, quote a line without one")
		case verdict == quote.TooShort:
			short = append(short, at+"/quote: it is too short to be found, quote the whole line or more")
		}
		switch {
		case x.EndLine == 0 || x.Line == 0:
			x.EndLine = x.Line
		case x.EndLine < x.Line:
			findings = append(findings, fmt.Sprintf("%s/end_line: %d is before line %d", at, x.EndLine, x.Line))
		}
	}
	if len(short) == len(c.Findings) {
		findings = append(findings, short...)
	}
	return findings
}

var (
	quoted   = regexp.MustCompile(`(?is)^\s*<quote\b[^<>]*>(.*)</quote\s*>\s*$`)
	quoteTag = regexp.MustCompile(`(?i)</?quote\b[^<>]*>`)
)

// Text returns the findings for readers. The engine finds the quotes in it and checks them.
func (c *Claims) Text() string {
	if len(c.Findings) == 0 {
		return "No findings."
	}
	list := make([]string, len(c.Findings))
	for i := range c.Findings {
		list[i] = c.Findings[i].text(strconv.Itoa(i + 1))
	}
	return strings.Join(list, "\n\n")
}

// text returns the finding with a number. The quote is a paragraph of its own, so that no backtick before or behind it makes code of it:
// a quote in code is not checked.
func (x *Claim) text(number string) string {
	return fmt.Sprintf("%s. %s: %s (%s)\n\n<quote source=\"%d\">%s</quote>\n\n%s\n\nHow to show it: %s",
		number, x.Severity, indent(x.Title), place(x.File, x.Line, x.EndLine), x.Source, indent(x.Quote), indent(x.Text), indent(x.Show))
}

// indent indents all lines of a text but the first, so that no line begins a fence of code.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// place returns where a finding is, such as "store.go:12-14".
func place(file string, line, end int) string {
	switch {
	case line == 0:
		return file
	case end <= line:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d-%d", file, line, end)
}

// Votes is what a reviewer says of the findings of others.
type Votes struct {
	Summary string `json:"summary" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"what you think of the findings as a whole, in one or two sentences"`
	Votes   []Vote `json:"votes" jsonschema:"maxItems=64" jsonschema_description:"one entry for each finding"`
}

// Vote is what a reviewer says of one finding.
type Vote struct {
	Finding int    `json:"finding" jsonschema:"minimum=1,maximum=64" jsonschema_description:"the number of the finding"`
	Reason  string `json:"reason" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"your attempt to refute it: what you checked, and what you saw"`
	Holds   bool   `json:"holds" jsonschema_description:"whether the finding holds in spite of that"`
}

// noVotes is the summary of the default.
const noVotes = "The reviewer gave no valid votes."

// Default sets a reply without votes.
func (v *Votes) Default([]string) { *v = Votes{Summary: noVotes, Votes: []Vote{}} }

// Text returns the votes for readers.
func (v *Votes) Text() string {
	lines := []string{v.Summary}
	for _, x := range v.Votes {
		does := "does not hold"
		if x.Holds {
			does = "holds"
		}
		lines = append(lines, fmt.Sprintf("Finding %d %s: %s", x.Finding, does, x.Reason))
	}
	return strings.Join(lines, "\n")
}

// Rulings is what a judge decides.
type Rulings struct {
	Summary string   `json:"summary" jsonschema:"minLength=1,maxLength=1900" jsonschema_description:"what the review comes to, in a few sentences"`
	Rulings []Ruling `json:"rulings" jsonschema:"maxItems=64" jsonschema_description:"one entry for each finding"`
}

// Ruling is what a judge decides about one finding.
type Ruling struct {
	Finding  int      `json:"finding" jsonschema:"minimum=1,maximum=64" jsonschema_description:"the number of the finding"`
	Reason   string   `json:"reason" jsonschema:"minLength=1,maxLength=900" jsonschema_description:"what decided, in one or two sentences"`
	Stands   bool     `json:"stands" jsonschema_description:"whether the finding stands"`
	Severity Severity `json:"severity" jsonschema:"enum=error,enum=warning,enum=note" jsonschema_description:"how much harm it does by your own judgment"`
	// SameAs is the number of an earlier finding that says the same.
	SameAs int `json:"same_as,omitempty" jsonschema:"minimum=0,maximum=64" jsonschema_description:"the number of an earlier finding that says the same; leave it out if none does"`
}

// noRulings is the summary of the default.
const noRulings = "The judge gave no valid rulings."

// Default sets a reply without rulings. The votes of the reviewers decide then.
func (v *Rulings) Default([]string) { *v = Rulings{Summary: noRulings, Rulings: []Ruling{}} }

// Text returns the rulings for readers.
func (v *Rulings) Text() string {
	lines := []string{v.Summary}
	for _, x := range v.Rulings {
		does := "does not stand"
		switch {
		case x.Stands && x.SameAs > 0:
			does = fmt.Sprintf("stands (%s) and says the same as finding %d", x.Severity, x.SameAs)
		case x.Stands:
			does = fmt.Sprintf("stands (%s)", x.Severity)
		}
		lines = append(lines, fmt.Sprintf("Finding %d %s: %s", x.Finding, does, x.Reason))
	}
	return strings.Join(lines, "\n")
}

// checkNumbers returns a violation for each number that is not one of the findings, comes twice or is missing.
func checkNumbers(list string, said, want []int) (violations []string) {
	seen := map[int]bool{}
	for i, n := range said {
		at := fmt.Sprintf("/%s/%d/finding", list, i)
		switch {
		case !slices.Contains(want, n):
			violations = append(violations, fmt.Sprintf("%s: %d is none of the findings %s", at, n, enumerate(want)))
		case seen[n]:
			violations = append(violations, fmt.Sprintf("%s: finding %d comes twice", at, n))
		}
		seen[n] = true
	}
	for _, n := range want {
		if !seen[n] {
			violations = append(violations, fmt.Sprintf("/%s: finding %d is missing", list, n))
		}
	}
	return violations
}

// checkVotes returns the check of a reply about the findings with the given numbers.
func checkVotes(want []int) func(any) []string {
	return func(v any) []string {
		votes, ok := v.(*Votes)
		if !ok || len(votes.Votes) == 0 && votes.Summary == noVotes {
			return nil
		}
		said := make([]int, len(votes.Votes))
		for i := range votes.Votes {
			said[i] = votes.Votes[i].Finding
		}
		return checkNumbers("votes", said, want)
	}
}

// checkRulings returns the check of a judge's reply about the findings with the given numbers. A finding says the same as an earlier one
// that stands, or as none.
func checkRulings(want []int) func(any) []string {
	return func(v any) []string {
		rulings, ok := v.(*Rulings)
		if !ok || len(rulings.Rulings) == 0 && rulings.Summary == noRulings {
			return nil
		}
		var violations []string
		said := make([]int, len(rulings.Rulings))
		stands := map[int]bool{}
		for i, x := range rulings.Rulings {
			said[i] = x.Finding
			stands[x.Finding] = x.Stands
		}
		for i, x := range rulings.Rulings {
			if x.SameAs != 0 && (x.SameAs >= x.Finding || !stands[x.SameAs]) {
				violations = append(violations,
					fmt.Sprintf("/rulings/%d/same_as: %d is no earlier finding that stands, leave it out", i, x.SameAs))
			}
		}
		return append(checkNumbers("rulings", said, want), violations...)
	}
}

// enumerate returns numbers for readers, such as "1, 2, 5".
func enumerate(numbers []int) string {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = strconv.Itoa(n)
	}
	return strings.Join(list, ", ")
}
