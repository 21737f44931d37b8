package debatemcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate/integrations/debatetool"
)

// sinceRounds names the first version of the protocol in which a server must not send requests: it asks in the result of a
// call, and the client calls again with the replies.
const sinceRounds = "2026-07-28"

// mayElicit reports whether a call may ask the client for input.
func mayElicit(r *mcp.CallToolRequest) bool {
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// property is a field of a form. Clients show no other kinds of fields.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	MaxLength   int      `json:"maxLength,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
}

// fields are the schema of a form.
type fields struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

// structured begins the key of a form whose fields are those of a reply in JSON.
const structured = "json "

// requestsFor returns a form for each thing that a debate asks people. Forms have no nested fields: replies whose schema has
// such fields are left to debate_answer.
func requestsFor(out debatetool.Output) mcp.InputRequestMap {
	if out.Status != "waiting" {
		return nil
	}
	list := mcp.InputRequestMap{}
	for _, a := range out.Waiting {
		key, schema := a.Step, fields{"object", map[string]property{"text": {Type: "string", Title: "Your reply"}}, []string{"text"}}
		switch {
		case len(a.Choices) > 0:
			action := property{Type: "string", Title: "Your decision"}
			for _, c := range a.Choices {
				action.Enum = append(action.Enum, c.Action)
			}
			schema.Properties = map[string]property{"action": action, "text": {Type: "string", Title: "Your remark, for edit or refuse"}, "by": {Type: "string", Title: "Your name, for a remark"}}
			schema.Required = []string{"action"}
		case len(a.Schema) > 0:
			var flat bool
			schema, flat = flatFields(a.Schema)
			if !flat {
				continue
			}
			key = structured + a.Step
		}
		list[key] = &mcp.ElicitParams{Message: message(a), RequestedSchema: schema}
	}
	return list
}

// flatFields returns the fields of a reply's schema. It reports whether a form can have them all.
func flatFields(schema json.RawMessage) (f fields, flat bool) {
	if json.Unmarshal(schema, &f) != nil || f.Type != "object" || len(f.Properties) == 0 {
		return f, false
	}
	for _, p := range f.Properties {
		if !slices.Contains([]string{"string", "number", "integer", "boolean"}, p.Type) {
			return f, false
		}
	}
	return f, true
}

// message returns what a person reads in a form: who is asked, what others have said, what the person must know, and the
// task. Each line that others have written begins with a mark, so that none of them can pass for another speaker or for the
// task.
func message(a debatetool.Ask) string {
	var parts []string
	if a.Name != "" {
		parts = append(parts, "For "+a.Name)
	}
	for _, t := range a.Said {
		who := []string{strings.Join(strings.Fields(t.Actor), " ")}
		if t.Round > 0 {
			who = append(who, fmt.Sprintf("round %d", t.Round))
		}
		for _, f := range t.Flags {
			who = append(who, string(f))
		}
		parts = append(parts, strings.Join(who, ", ")+":\n> "+strings.ReplaceAll(unquote(t.Text), "\n", "\n> "))
	}
	if a.Briefing != "" {
		parts = append(parts, unquote(a.Briefing))
	}
	if a.Background != "" {
		parts = append(parts, "Background:\n> "+strings.ReplaceAll(unquote(a.Background), "\n", "\n> "))
	}
	task := []string{unquote(a.Task)}
	for _, c := range a.Choices {
		task = append(task, c.Action+": "+c.Description)
	}
	return strings.Join(append(parts, strings.Join(task, "\n")), "\n\n")
}

// unquote returns a quotation without its delimiters, for a person. Inside them, there is no line break but \n.
func unquote(text string) string {
	if lines := strings.Split(text, "\n"); len(lines) > 2 && strings.HasPrefix(text, "<<<") {
		return strings.Join(lines[1:len(lines)-1], "\n")
	}
	return text
}

// waitedFor names the people for whom a debate waits.
func waitedFor(out debatetool.Output) string {
	var names []string
	for _, a := range out.Waiting {
		if a.Name == "" {
			a.Name = "a decision"
		}
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}
