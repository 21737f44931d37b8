package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/elenchus-go/debate/providers"
)

// noTools is the value of providers.Request.ToolChoice that forbids calls.
const noTools = "none"

// rounds is what is known of the rounds of a dialog, up to a turn.
type rounds struct {
	ids   *regexp.Regexp
	taken map[string]bool // the IDs of all calls
	n     int             // the number of calls
	open  []*call         // the calls of the last turn
}

// call is a call that may have a result.
type call struct {
	given  *providers.ToolCall
	id     string // that is sent
	result *providers.ToolResult
}

// fitRounds brings the rounds of tool calls into a form that all services accept. What it does to a round depends only on
// what precedes it, so a longer dialog begins with the same bytes.
func fitRounds(dialog []Turn, ids *regexp.Regexp) error {
	r := rounds{ids: ids, taken: map[string]bool{}}
	for i := range dialog {
		if dialog[i].Role == providers.Assistant {
			r.ask(&dialog[i])
		} else if err := r.answer(&dialog[i]); err != nil {
			return err
		}
	}
	return r.unanswered()
}

// ask changes the calls of a turn.
func (r *rounds) ask(t *Turn) {
	r.open = nil
	for i, part := range t.Parts {
		if part.ToolCall == nil {
			continue
		}
		c := *part.ToolCall
		c.ID, c.Arguments = r.nextID(c.ID), object(c.Arguments)
		r.open = append(r.open, &call{given: part.ToolCall, id: c.ID})
		t.Parts[i].ToolCall = &c
	}
}

// nextID returns the ID of the next call: the given one if it fits and is new, and otherwise one with its number. It has nine
// letters and digits, which fit every service.
func (r *rounds) nextID(given string) string {
	r.n++
	if r.ids == nil {
		return given
	}
	id := given
	for n := r.n; !r.ids.MatchString(id) || r.taken[id]; n++ {
		id = fmt.Sprintf("call%05d", n)
	}
	r.taken[id] = true
	return id
}

// object returns arguments that are an object. Services refuse all others, and some servers fail on them.
func object(arguments json.RawMessage) json.RawMessage {
	if bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{")) && json.Valid(arguments) {
		return arguments
	}
	return json.RawMessage("{}")
}

// answer changes the results of a turn, and puts them first.
func (r *rounds) answer(t *Turn) error {
	var rest []providers.Part
	for _, part := range t.Parts {
		if part.ToolResult == nil {
			rest = append(rest, part)
			continue
		}
		c := r.callOf(part.ToolResult)
		if c == nil {
			return fmt.Errorf("a result of the tool %q with the ID %q has no call in the message before it", part.ToolResult.Name, part.ToolResult.ID)
		}
		result := *part.ToolResult
		result.ID, result.Name = c.id, c.given.Name
		c.result = &result
	}
	if err := r.unanswered(); err != nil {
		return err
	}
	t.Parts = make([]providers.Part, 0, len(t.Parts))
	for _, c := range r.open {
		t.Parts = append(t.Parts, providers.Part{ToolResult: c.result})
	}
	t.Parts = append(t.Parts, rest...)
	r.open = nil
	return nil
}

// callOf returns the first call without a result that a result may belong to, or nil. A result without an ID belongs to a
// call of its tool.
func (r *rounds) callOf(result *providers.ToolResult) *call {
	for _, c := range r.open {
		if c.result == nil && (result.ID != "" && result.ID == c.given.ID || result.ID == "" && (result.Name == "" || result.Name == c.given.Name)) {
			return c
		}
	}
	return nil
}

// unanswered returns an error if a call has no result, because services refuse such a dialog.
func (r *rounds) unanswered() error {
	for _, c := range r.open {
		if c.result == nil {
			return fmt.Errorf("the call of the tool %q with the ID %q has no result in the message after it", c.given.Name, c.given.ID)
		}
	}
	return nil
}

// Separate returns a request for a service that cannot combine tools with a schema: without the schema while the model may
// call tools, and without the tools otherwise. The warning says so.
func Separate(r providers.Request) (separated providers.Request, warnings []string) {
	switch {
	case len(r.Tools) == 0 || len(r.Schema) == 0:
	case r.MayCallTools():
		r.Schema = nil
		warnings = []string{"the schema was not sent, because model " + r.Model + " cannot have tools and a schema in one call"}
	default:
		r.Tools = nil
	}
	return r, warnings
}

// NotCombined is what Unsupported says about the schema of a request for Separate, or the empty string.
func NotCombined(r providers.Request) string {
	if !r.MayCallTools() || len(r.Schema) == 0 {
		return ""
	}
	return "the service cannot combine tools with a schema in one call: it gets the schema only with tool_choice none"
}

// errNoCalls is the error of a provider that supports no tools.
var errNoCalls = errors.New("build prompt: the request has tools, which this provider does not support")

// RefuseTools returns an error if a request has tools or rounds of tool calls.
func RefuseTools(r providers.Request) error {
	if len(r.Tools) > 0 || HasCalls(r) {
		return errNoCalls
	}
	return nil
}

// HasCalls reports whether the messages of a request have a tool call or a result.
func HasCalls(r providers.Request) bool {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.ToolCall != nil || p.ToolResult != nil {
				return true
			}
		}
	}
	return false
}
