package judge

import (
	"fmt"
	"strings"
)

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
