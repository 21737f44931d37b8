// Package tool defines what participants and judges of a debate may call before they speak: functions of your program.
//
//	type query struct {
//		Words string `json:"words" jsonschema:"description=what to look for"`
//	}
//	search := tool.Func(tool.Spec{Name: "search", Description: "Searches the minutes of the city council."},
//		func(ctx context.Context, q query) (tool.Result, error) {
//			found := minutes.Search(ctx, q.Words)
//			if len(found) == 0 {
//				return tool.Result{}, tool.Refusal("Nothing found. Use fewer words.")
//			}
//			return tool.Result{Sources: found}, nil
//		})
//
// Options.Tools of package debate holds the tools of an engine, and Participant.Tools names those of a participant or a
// judge. What a tool returns is stored in the journal of the debate before the model reads it.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/lines"
)

// Tool is a function that a model may call. Use [Func] to make one. Implementations must be safe for concurrent use.
type Tool interface {
	// Spec describes the tool. It returns the same each time.
	Spec() Spec
	// Call runs the tool once. The arguments follow the schema. The model reads the text of a [Refusal] word for word. Of any
	// other error it reads only that the tool failed. No error ends the debate, and a panic is a failed call.
	//
	// If ctx ends, return soon: the debate goes on without the result.
	Call(ctx context.Context, c Call) (Result, error)
}

// Spec is what the model, the engine and a person who approves calls must know of a tool.
type Spec struct {
	// Name is unique in an engine. It has 1 to 64 letters, digits, '_' and '-'.
	Name string
	// Description tells the model what the tool does and when to call it.
	Description string
	// Schema is the JSON Schema of the arguments, an object. Func sets it. Arguments that do not follow it are answered with
	// what is wrong, and the tool is not called.
	Schema json.RawMessage
	// Once means that a call changes something, so that it must not run twice. It is announced in the journal before it
	// runs. If the process ends before the result is stored, the call does not run again, and the model reads that the
	// outcome is unknown.
	Once bool
	// Approval means that a person decides about each call. The debate pauses with a question that shows the arguments, for
	// as long as it takes. If the person refuses, the model reads the reason.
	Approval bool
	// Fresh means that equal calls may have different results. Otherwise a call in a debate gets the result of an earlier call
	// with the same arguments. Each call of a tool with Once runs.
	Fresh bool
}

// Call is one call of a tool.
type Call struct {
	// ID identifies the call. No other call has it, in any debate, and it is the same if the call runs again after a
	// restart. Use it where a service takes a key that makes calls idempotent.
	ID        string
	Arguments json.RawMessage // a JSON object
}

// Result is what a call returns.
type Result struct {
	// Text is what the model reads. It is made valid UTF-8 and cut at Limits.ToolBytes of the debate. If it is empty, the
	// model reads the sources.
	Text string
	// Sources say where the text comes from. If there are none, the text is a source itself. At most MaxSources are kept.
	Sources []Source
}

// Source is a text that a statement can rest on. The model reads its number, so that it can cite it as [3] and quote it.
type Source struct {
	// Number identifies the source in the debate. The engine sets it: the same text has the same number, as far as the step
	// could know of it.
	Number int    `json:"number,omitempty"`
	URI    string `json:"uri,omitempty"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text,omitempty"`
	// Line is the number of the first line of Text in the file that Title names, such as "main.go", if the text is a part of code.
	// The model reads the lines with their numbers. Defaults to 1.
	Line int `json:"line,omitempty"`
	// Size and SHA256 are those of the text, in bytes and as hexadecimal digits, if the journal has no room for it.
	Size   int    `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// shown returns the text as a model reads it.
func (s *Source) shown() string {
	if s.Line > 0 {
		return lines.Number(s.Text, s.Line)
	}
	return s.Text
}

// MaxSources is the most sources that a result has.
const MaxSources = 50

// Refusal is an error whose text the model reads word for word, up to 1 KiB, such as "There is no file for 2019. Use a year
// from 2020 on." It should say what the model can do instead.
type Refusal string

// Error returns the text.
func (r Refusal) Error() string { return string(r) }

// ErrorKind says why a call has no result.
type ErrorKind string

// The kinds of errors.
const (
	Unknown      ErrorKind = "unknown_tool"    // the actor has no tool with that name
	Arguments    ErrorKind = "arguments"       // the arguments do not follow the schema
	Refused      ErrorKind = "refused"         // the tool refused the call, with a text for the model
	Failed       ErrorKind = "failed"          // the tool returned another error
	Timeout      ErrorKind = "timeout"         // the tool took too long
	Panicked     ErrorKind = "panic"           // the tool panicked or ended its goroutine
	LimitReached ErrorKind = "limit"           // the step has made all calls that it may make
	Disapproved  ErrorKind = "disapproved"     // a person refused the call
	Interrupted  ErrorKind = "outcome_unknown" // the process ended while the tool ran, and the tool must not run twice
)

// Record is a call with its result, as the journal keeps it.
type Record struct {
	ID        string          `json:"id"` // see Call.ID
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`         // as the tool got them: with the names of the participants
	Begun     bool            `json:"begun,omitempty"`   // it has begun; only for a tool with Once, in the entry before its result
	Waits     bool            `json:"waits,omitempty"`   // a person decides about it
	Done      bool            `json:"done,omitempty"`    // it has a result or an error
	Text      string          `json:"text,omitempty"`    // the result as the model reads it, without delimiters and with the names of the participants
	Error     ErrorKind       `json:"error,omitempty"`   // why there is no result; Text says it to the model
	Sources   []Source        `json:"sources,omitempty"` // of the result
	Shared    string          `json:"shared,omitempty"`  // the ID of the earlier call whose result this is
	// Size and SHA256 are those of the whole result, in bytes and as hexadecimal digits, if Text is only a part of it.
	Size     int           `json:"size,omitempty"`
	SHA256   string        `json:"sha256,omitempty"`
	Began    time.Time     `json:"began,omitzero"`
	Duration time.Duration `json:"duration,omitempty"` // in nanoseconds
}

// String returns the call in one line, shortened: the name, the arguments, and the result or why there is none. Models and tools
// wrote it: escape it where you show it.
func (r Record) String() string {
	short := func(text string) string {
		return characters.Cut(strings.Join(strings.Fields(characters.First(text, 4*maxShown)), " "), maxShown)
	}
	line := short(r.Name)
	if len(r.Arguments) > 0 {
		line += " " + short(string(r.Arguments))
	}
	switch {
	case r.Error != "":
		line += " failed (" + string(r.Error) + "): " + short(r.Text)
	case r.Done && r.Text == "" && r.Size > 0:
		line += fmt.Sprintf(": %d bytes", r.Size)
	case r.Done:
		line += ": " + short(r.Text)
	case r.Waits:
		line += " waits for a person"
	case r.Begun:
		line += " runs"
	}
	return line
}

// maxShown limits, in bytes, the name, the arguments and the result in Record.String.
const maxShown = 200

// names matches the names that all services accept.
var names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// CheckName returns an error if a name is not one that all services accept.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("the name %q is not valid, use 1 to 64 letters, digits, '_' and '-'", name)
	}
	return nil
}

// Check returns what is wrong with the name or the schema, or nil.
func (s Spec) Check() error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	var schema struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(s.Schema, &schema); err != nil {
		return fmt.Errorf("the schema is not a JSON object: %w", err)
	}
	if schema.Type != "object" {
		return errors.New(`the schema describes no object, use one with "type": "object"`)
	}
	return nil
}

// Func returns a tool that calls f. The schema of the arguments comes from In, a struct whose tags are those of
// encoding/json and of github.com/invopop/jsonschema. If Out is a string or a [Result], it is used as it is. Any other
// value is encoded as JSON. Func sets Spec.Schema; the name is checked by debate.NewEngine.
func Func[In, Out any](s Spec, f func(ctx context.Context, in In) (Out, error)) Tool {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true}
	schema := r.ReflectFromType(reflect.TypeFor[In]())
	schema.Version = ""                // some services refuse the field
	s.Schema, _ = json.Marshal(schema) // otherwise Check returns an error
	return &function[In, Out]{spec: s, f: f}
}

// function is a tool that calls a function of the program.
type function[In, Out any] struct {
	spec Spec
	f    func(ctx context.Context, in In) (Out, error)
}

// Spec implements Tool.
func (t *function[In, Out]) Spec() Spec { return t.spec }

// Call implements Tool.
func (t *function[In, Out]) Call(ctx context.Context, c Call) (Result, error) {
	var in In
	if err := json.Unmarshal(c.Arguments, &in); err != nil { // the type allows less than its schema
		return Result{}, Refusal("The arguments are not valid: " + err.Error() + ".")
	}
	out, err := t.f(context.WithValue(ctx, callKey{}, c), in)
	if err != nil {
		return Result{}, err
	}
	switch out := any(out).(type) {
	case Result:
		return out, nil
	case string:
		return Result{Text: out}, nil
	}
	text, err := json.Marshal(out)
	if err != nil {
		return Result{}, fmt.Errorf("encode result: %w", err)
	}
	return Result{Text: string(text)}, nil
}

type callKey struct{}

// CallFrom returns the call for which a function of [Func] runs. It returns false if ctx is not that of a call.
func CallFrom(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// String returns the sources as a model reads them if the result has no text: the title, the URI and the text of each.
func (r Result) String() string {
	if r.Text != "" {
		return r.Text
	}
	var parts []string
	for _, s := range r.Sources {
		var shown []string
		for _, line := range []string{s.Title, s.URI, s.shown()} {
			if line != "" {
				shown = append(shown, line)
			}
		}
		parts = append(parts, strings.Join(shown, "\n"))
	}
	return strings.Join(parts, "\n\n")
}
