package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// How much of what is wrong a model is told.
const (
	maxFindings = 10
	maxFinding  = 240 // bytes: a finding may quote the reply
)

// Invalid is the error of a reply that does not hold. Its findings are plain words to ask again with, such as
// "/participants/0/score: expected number, but got string": sorted, each once, few, and the same for the same reply.
type Invalid struct{ Findings []string }

// Error joins the findings.
func (e *Invalid) Error() string { return "parse reply: " + strings.Join(e.Findings, "; ") }

// invalid is the error with these findings.
func invalid(findings ...string) *Invalid {
	var list []string
	for _, f := range findings {
		list = append(list, clip(f))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxFindings; more > 0 {
		list = append(list[:maxFindings], fmt.Sprintf("and %d more", more))
	}
	return &Invalid{Findings: list}
}

// clip shortens a finding that quotes too much of a reply.
func clip(s string) string {
	if len(s) <= maxFinding {
		return s
	}
	end := maxFinding
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// unreadable says in plain words why encoding/json refused a text.
func unreadable(text string, err error) string {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(int(e.Offset), len(text))
		return fmt.Sprintf("the JSON object has a syntax error after %q: %s", text[max(0, at-30):at], e.Error())
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := ""
		if e.Field != "" {
			at = "/" + strings.ReplaceAll(e.Field, ".", "/")
		}
		return fmt.Sprintf("%s: %s is out of range or of the wrong type", place(at), e.Value)
	}
	return place("") + ": " + err.Error()
}

// violations are the findings of the schema's validator: its leaves, since all above them only repeat that they failed.
func violations(err error) []string {
	e, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	if len(e.Causes) == 0 {
		message := strings.ReplaceAll(e.Message, ", <nil>", ", null") // among the values of an optional field
		return []string{place(e.InstanceLocation) + ": " + message}
	}
	var found []string
	for _, cause := range e.Causes {
		found = append(found, violations(cause)...)
	}
	return found
}

// place names a place in a reply for a finding.
func place(pointer string) string {
	if pointer == "" {
		return "the reply"
	}
	return pointer
}
