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

// Limits on the violations that are returned to a model.
const (
	maxViolations     = 10
	maxViolationBytes = 240 // a violation may quote the reply
)

// Invalid is the error for an invalid reply. Its violations are written for a model that is asked again, such as
// "/participants/0/score: expected number, but got string". They are sorted and unique, there are at most 10 and a
// count of the rest, and they are the same for the same reply.
//
// Violations may quote the reply. Rules are the same violations without what they quote: paths and rules, such as
// "/winner: … is not a participant", for people who may not see the texts.
type Invalid struct{ Violations, Rules []string }

// Error returns the violations in one line.
func (e *Invalid) Error() string { return "parse reply: " + strings.Join(e.Violations, "; ") }

// newInvalid returns the error with these violations.
func newInvalid(findings ...string) *Invalid {
	var list []string
	for _, f := range findings {
		list = append(list, shorten(f))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if more := len(list) - maxViolations; more > 0 {
		list = append(list[:maxViolations], fmt.Sprintf("and %d more", more))
	}
	return &Invalid{Violations: list}
}

// bothInvalid returns an error with the violations of two errors. The second one may be nil.
func bothInvalid(a, b error) error {
	var list []string
	for _, err := range []error{a, b} {
		if invalid, ok := errors.AsType[*Invalid](err); ok {
			list = append(list, invalid.Violations...)
		}
	}
	return newInvalid(list...)
}

// shorten shortens a violation that quotes too much of a reply.
func shorten(s string) string {
	if len(s) <= maxViolationBytes {
		return s
	}
	end := maxViolationBytes
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// describeJSONError describes for a model why encoding/json rejected a text.
func describeJSONError(text string, err error) string {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := min(int(e.Offset), len(text))
		return fmt.Sprintf("the JSON object has a syntax error after %q: %s", text[max(0, at-30):at], e.Error())
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := ""
		if e.Field != "" {
			at = "/" + strings.ReplaceAll(e.Field, ".", "/")
		}
		return fmt.Sprintf("%s: %s is out of range or of the wrong type", location(at), e.Value)
	}
	return location("") + ": " + err.Error()
}

// schemaViolations returns the violations that the schema's validator found. It uses the leaves of the error tree,
// because the nodes above them only repeat that the leaves failed.
func schemaViolations(err error) []string {
	e, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	if len(e.Causes) == 0 {
		message := strings.ReplaceAll(e.Message, ", <nil>", ", null") // an optional field may be null
		return []string{location(e.InstanceLocation) + ": " + message}
	}
	var found []string
	for _, cause := range e.Causes {
		found = append(found, schemaViolations(cause)...)
	}
	return found
}

// location names a location in a reply for a violation.
func location(pointer string) string {
	if pointer == "" {
		return "the reply"
	}
	return pointer
}
