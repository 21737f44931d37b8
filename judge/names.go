package judge

import (
	"fmt"
	"strings"
)

// nameKind is what names are those of: one and several.
type nameKind [2]string

var (
	participant = nameKind{"participant", "participants"}
	criterion   = nameKind{"criterion", "criteria"}
)

// unknown is the finding about a name that is none of the known ones.
func (n nameKind) unknown(name string, known []string) string {
	return fmt.Sprintf("%q is not a %s; the %s are %q", name, n[0], n[1], known)
}

// checkNames corrects the spelling of the names that a list speaks of, and finds those that are unknown and those that come
// twice. The format at makes a name's place of its index.
func checkNames(spoken []*string, known []string, at string, n nameKind) (findings []string) {
	seen := map[string]bool{}
	for i, name := range spoken {
		who, ok := matchName(*name, known)
		switch {
		case !ok:
			findings = append(findings, fmt.Sprintf(at+": %s", i, n.unknown(*name, known)))
		case seen[who]:
			findings = append(findings, fmt.Sprintf(at+": %q stands there twice", i, who))
		default:
			*name, seen[who] = who, true
		}
	}
	return findings
}

// matchName finds the name that a judge means: the exact one, else the only one that is alike.
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

// sameName tells whether names differ in case, in surrounding space, and in what joins their words alone.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(wordSeparators.Replace(a)), strings.TrimSpace(wordSeparators.Replace(b)))
}

var wordSeparators = strings.NewReplacer("_", " ", "-", " ")
