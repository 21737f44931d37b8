// Package judge holds what a judge says: the [Assessment] of a round and the [Verdict] on a debate.
//
// Both are plain data. A judge's reply becomes one by way of its contract only, and the law of that way is that nothing
// unvalidated reaches a guard: a reply is held against the schema of its struct, then against the debate itself. Each
// participant is assessed exactly once, nobody else is, and a winner is a participant. Where no valid reply comes, the
// contract's fallback stands in: it lets the debate go on within its limits, puts everyone in the middle, names no
// winner, and says so in its text.
//
// In the structs the evidence stands before the decision that rests on it, since models write fields in that order.
package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of a judge's replies.
var (
	AssessmentContract = reply.New[Assessment]("assessment/1")
	VerdictContract    = reply.New[Verdict]("verdict/1")
)

// roll corrects the spelling of the names that a reply speaks of, and finds those that are no participant's and those
// that come twice.
func roll(spoken []*string, names []string) (findings []string) {
	seen := map[string]bool{}
	for i, name := range spoken {
		who, ok := resolve(*name, names)
		switch {
		case !ok:
			findings = append(findings, fmt.Sprintf("/participants/%d/name: %s", i, stranger(*name, names)))
		case seen[who]:
			findings = append(findings, fmt.Sprintf("/participants/%d/name: %q stands there twice", i, who))
		default:
			*name, seen[who] = who, true
		}
	}
	return findings
}

// resolve finds the participant that a judge means: by the exact name, else by the only one that differs in case and
// surrounding space alone.
func resolve(name string, names []string) (string, bool) {
	var alike []string
	for _, n := range names {
		if n == name {
			return n, true
		}
		if strings.EqualFold(strings.TrimSpace(n), strings.TrimSpace(name)) {
			alike = append(alike, n)
		}
	}
	if len(alike) != 1 {
		return "", false
	}
	return alike[0], true
}

// stranger is the finding about a name that is no participant's.
func stranger(name string, names []string) string {
	return fmt.Sprintf("%q is not a participant; the participants are %q", name, names)
}

// summary is a text of lines, each a label with what it is about. Lines about nothing are left out.
type summary struct{ strings.Builder }

func (s *summary) line(label string, parts ...string) {
	if len(parts) == 0 || parts[0] == "" {
		return
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	s.WriteString(label + strings.Join(parts, "; "))
}

func number(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }
