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
	maxViolations     = 10
	maxViolationBytes = 240 // bytes: a finding may quote the reply
)

// Invalid is the error of a reply that does not hold. Its findings are plain words to ask again with, such as
// "/participants/0/score: expected number, but got string": sorted, each once, few, and the same for the same reply.
type Invalid struct{ Violations []string }

// Error joins the findings.
func (e *Invalid) Error() string { return "parse reply: " + strings.Join(e.Violations, "; ") }

// newInvalid is the error with these findings.
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

// shorten shortens a finding that quotes too much of a reply.
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

// describeJSONError says in plain words why encoding/json refused a text.
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

// schemaViolations are the findings of the schema's validator: its leaves, since all above them only repeat that they failed.
func schemaViolations(err error) []string {
	e, ok := errors.AsType[*validator.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	if len(e.Causes) == 0 {
		message := strings.ReplaceAll(e.Message, ", <nil>", ", null") // among the values of an optional field
		return []string{location(e.InstanceLocation) + ": " + message}
	}
	var found []string
	for _, cause := range e.Causes {
		found = append(found, schemaViolations(cause)...)
	}
	return found
}

// location names a location in a reply for a finding.
func location(pointer string) string {
	if pointer == "" {
		return "the reply"
	}
	return pointer
}
