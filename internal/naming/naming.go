// Package naming resolves the names in judges' replies. A judge may write a name with another case, with surrounding
// space, or with other characters between its words. It also enumerates names in sentences, and names types and functions.
package naming

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Kind is the singular and the plural of what names denote.
type Kind [2]string

// The kinds of names.
var (
	Participant = Kind{"participant", "participants"}
	Criterion   = Kind{"criterion", "criteria"}
)

// unknown returns the violation for a name that is not among the known names.
func (k Kind) unknown(name string, known []string) string {
	return fmt.Sprintf("%q is not a %s; the %s are %q", name, k[0], k[1], known)
}

// CheckEach corrects the spelling of names in a reply, and returns a violation for each name that is unknown or appears
// twice. The format at turns the index of a name into its location in the reply.
func (k Kind) CheckEach(spoken []*string, known []string, at string) (violations []string) {
	seen := map[string]bool{}
	for i, name := range spoken {
		who, ok := match(*name, known)
		switch {
		case !ok:
			violations = append(violations, fmt.Sprintf(at+": %s", i, k.unknown(*name, known)))
		case seen[who]:
			violations = append(violations, fmt.Sprintf(at+": %q appears twice", i, who))
		default:
			*name, seen[who] = who, true
		}
	}
	return violations
}

// CheckAll does what CheckEach does for the names in a field of each item of a list, and also returns a violation for each known
// name that the list lacks. lacks ends that violation, such as "has no score".
func (k Kind) CheckAll(spoken []*string, known []string, list, field, lacks string) []string {
	violations := k.CheckEach(spoken, known, list+"/%d/"+field)
	for _, name := range known {
		if !slices.ContainsFunc(spoken, func(s *string) bool { return *s == name }) {
			violations = append(violations, fmt.Sprintf("%s: %q %s", list, name, lacks))
		}
	}
	return violations
}

// nobody lists what judges write when they name nobody.
var nobody = []string{"", "none", "nobody", "no one", "no winner", "draw", "tie", "null", "n/a"}

// CheckOptional corrects the spelling of a name that may be missing, and clears it if it means nobody, such as "none". It
// returns a violation if the name is unknown. at is its location in the reply.
func (k Kind) CheckOptional(spoken *string, known []string, at string) []string {
	who, ok := match(*spoken, known)
	if !ok && !slices.Contains(nobody, strings.ToLower(strings.TrimSpace(*spoken))) {
		return []string{at + ": " + k.unknown(*spoken, known)}
	}
	*spoken = who
	return nil
}

// match returns the known name that a judge means: the exact name, or the only name that is the [Same]. It returns false
// if there is no such name or more than one.
func match(name string, known []string) (string, bool) {
	var near []string
	for _, n := range known {
		if n == name {
			return n, true
		}
		if Same(n, name) {
			near = append(near, n)
		}
	}
	if len(near) != 1 {
		return "", false
	}
	return near[0], true
}

// Same reports whether two names differ only in case, in surrounding space, or in the characters that join their words.
func Same(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(Words(a)), strings.TrimSpace(Words(b)))
}

// Words returns a name with spaces instead of the characters that join its words.
func Words(name string) string { return separators.Replace(name) }

var separators = strings.NewReplacer("_", " ", "-", " ")

// Enumerate joins at most n items with commas and "and", and counts the rest.
func Enumerate(items []string, n int) string {
	if rest := len(items) - n; rest > 0 {
		items = append(slices.Clone(items[:n]), fmt.Sprintf("%d more", rest))
	}
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// OfType returns the name of the type of a value, with its package. It is empty for nil.
func OfType(v any) string {
	if v == nil {
		return ""
	}
	t, star := reflect.TypeOf(v), ""
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		star += "*"
	}
	if t.Name() == "" || t.PkgPath() == "" {
		return star + t.String()
	}
	return star + t.PkgPath() + "." + t.Name()
}

// OfFunction returns the name of a function, with its package. It is empty for nil.
func OfFunction(f any) string {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return ""
	}
	if known := runtime.FuncForPC(v.Pointer()); known != nil {
		return known.Name()
	}
	return v.Type().String()
}
