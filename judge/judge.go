// Package judge holds what a judge goes by, what it is shown and what it says: the [Rubric], the [Labels] under which
// it sees the participants, the [Assessment] of a round and the [Verdict] on a debate; and the [Bench], which makes
// one word of several judges'.
//
// Assessment and verdict are plain data. A judge's reply becomes one by way of its contract only, and the law of that
// way is that nothing unvalidated reaches a guard: a reply is held against the schema of its struct, then against the
// debate itself. Each participant is assessed exactly once, nobody else is, and a winner is a participant. Where no
// valid reply comes, the contract's fallback stands in: it lets the debate go on within its limits, puts everyone in
// the middle, names no winner, and says so in its text.
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

// The contracts of a judge's replies. That of assessments goes by the default [Rubric].
var (
	AssessmentContract = Rubric(nil).Contract()
	VerdictContract    = reply.New[Verdict]("verdict/1")
)

var assessments = reply.New[Assessment]("assessment/1")

// noun is what names are those of: one and several.
type noun [2]string

var (
	participant = noun{"participant", "participants"}
	criterion   = noun{"criterion", "criteria"}
)

// stranger is the finding about a name that is none of the known ones.
func (n noun) stranger(name string, known []string) string {
	return fmt.Sprintf("%q is not a %s; the %s are %q", name, n[0], n[1], known)
}

// roll corrects the spelling of the names that a list speaks of, and finds those that are unknown and those that come
// twice. The format at makes a name's place of its index.
func roll(spoken []*string, known []string, at string, n noun) (findings []string) {
	seen := map[string]bool{}
	for i, name := range spoken {
		who, ok := resolve(*name, known)
		switch {
		case !ok:
			findings = append(findings, fmt.Sprintf(at+": %s", i, n.stranger(*name, known)))
		case seen[who]:
			findings = append(findings, fmt.Sprintf(at+": %q stands there twice", i, who))
		default:
			*name, seen[who] = who, true
		}
	}
	return findings
}

// resolve finds the name that a judge means: the exact one, else the only one that is alike.
func resolve(name string, known []string) (string, bool) {
	var near []string
	for _, n := range known {
		if n == name {
			return n, true
		}
		if alike(n, name) {
			near = append(near, n)
		}
	}
	if len(near) != 1 {
		return "", false
	}
	return near[0], true
}

// alike tells whether names differ in case, in surrounding space, and in what joins their words alone.
func alike(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(joints.Replace(a)), strings.TrimSpace(joints.Replace(b)))
}

var joints = strings.NewReplacer("_", " ", "-", " ")

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
