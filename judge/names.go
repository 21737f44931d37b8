package judge

import (
	"fmt"
	"strings"
)

// nameKind is the singular and the plural of what names denote.
type nameKind [2]string

var (
	participant = nameKind{"participant", "participants"}
	criterion   = nameKind{"criterion", "criteria"}
)

// unknown returns the violation for a name that is not among the known names.
func (n nameKind) unknown(name string, known []string) string {
	return fmt.Sprintf("%q is not a %s; the %s are %q", name, n[0], n[1], known)
}

// checkNames corrects the spelling of names in a reply, and returns a violation for each name that is unknown or
// appears twice. The format at turns the index of a name into its location in the reply.
func checkNames(spoken []*string, known []string, at string, n nameKind) (findings []string) {
	seen := map[string]bool{}
	for i, name := range spoken {
		who, ok := matchName(*name, known)
		switch {
		case !ok:
			findings = append(findings, fmt.Sprintf(at+": %s", i, n.unknown(*name, known)))
		case seen[who]:
			findings = append(findings, fmt.Sprintf(at+": %q appears twice", i, who))
		default:
			*name, seen[who] = who, true
		}
	}
	return findings
}

// matchName returns the known name that a judge means: the exact name, or the only name that differs in spelling as
// [sameName] allows. It returns false if there is no such name or more than one.
func matchName(name string, known []string) (string, bool) {
	var near []string
	for _, n := range known {
		if n == name {
			return n, true
		}
		if sameName(n, name) {
			near = append(near, n)
		}
	}
	if len(near) != 1 {
		return "", false
	}
	return near[0], true
}

// sameName reports whether two names differ only in case, in surrounding space, or in the characters that join their
// words.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(wordSeparators.Replace(a)), strings.TrimSpace(wordSeparators.Replace(b)))
}

var wordSeparators = strings.NewReplacer("_", " ", "-", " ")
