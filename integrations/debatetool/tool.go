package debatetool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
)

// Tool is a tool for models. It implements the interface Tool of langchaingo.
type Tool struct {
	name, description string
	input, output     json.RawMessage
	plain             string // the field of the input that plain text stands for; empty if there is none
	stream            func(ctx context.Context, input json.RawMessage) iter.Seq2[Progress, error]
}

// Tools returns the tools: debate, debate_start, debate_status, debate_result, debate_stop and debate_answer. The first one
// suffices if no person takes part.
func (s *Toolset) Tools() []Tool {
	type one struct {
		ID string `json:"id" jsonschema_description:"The id of the debate."`
	}
	type position struct {
		ID    string `json:"id" jsonschema_description:"The id of the debate."`
		After int64  `json:"after,omitempty" jsonschema_description:"The position of an earlier call: only later turns are returned."`
	}
	tools := []Tool{
		newTool("debate", "Has models debate a question that has several possible answers, and returns their answer. Use it before a decision that is hard to reverse. "+
			"Not for what you can look up or compute: it takes minutes and many replies of models. "+
			"The input is a JSON object, or only the topic.", "topic", s.Stream),
		newTool("debate_start", "Starts a debate, and returns its id at once. The input is that of debate.", "topic", once(s.Start)),
		newTool("debate_status", "Returns the state of a debate, and what was said after a position.", "id",
			once(func(ctx context.Context, in position) (Output, error) { return s.Status(ctx, in.ID, in.After) })),
		newTool("debate_result", "Returns the answer of a debate, with what is degraded.", "id",
			once(func(ctx context.Context, in one) (Output, error) { return s.Result(ctx, in.ID) })),
		newTool("debate_stop", "Ends a debate early, with an answer from what was said so far.", "id",
			once(func(ctx context.Context, in one) (Output, error) { return s.Stop(ctx, in.ID) })),
		newTool("debate_answer", "Passes on what a person replies or decides. Ask the person first. Never invent a reply.", "", once(s.Answer)),
	}
	in := s.inputSchema()
	tools[0].input, tools[1].input = encode(in), encode(outline(in))
	return tools
}

// newTool returns a tool that calls f. Plain text stands for the named field of the input.
func newTool[In any](name, description, plain string, f func(context.Context, In) iter.Seq2[Progress, error]) Tool {
	stream := func(ctx context.Context, input json.RawMessage) iter.Seq2[Progress, error] {
		var in In
		if err := decode(input, &in); err != nil {
			return func(yield func(Progress, error) bool) { yield(Progress{}, err) }
		}
		return f(ctx, in)
	}
	return Tool{name: name, description: description, input: encode(schemaOf(new(In))), output: encode(schemaOf(&Output{})), plain: plain, stream: stream}
}

// once returns a function that yields the output of f.
func once[In any](f func(context.Context, In) (Output, error)) func(context.Context, In) iter.Seq2[Progress, error] {
	return func(ctx context.Context, in In) iter.Seq2[Progress, error] {
		return func(yield func(Progress, error) bool) {
			out, err := f(ctx, in)
			if err != nil {
				yield(Progress{}, err)
				return
			}
			yield(final(out), nil)
		}
	}
}

// ParseInput decodes an input of the tool debate. Its errors are of type *[Error], with a problem for each wrong field.
func (s *Toolset) ParseInput(input json.RawMessage) (in Input, err error) {
	err = decode(input, &in)
	return in, err
}

// decode decodes an input. It returns an error with a problem for each field that is unknown or has a wrong type.
func decode[In any](input json.RawMessage, in *In) error {
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(input, &object); err != nil {
		return refuse(protocol.Problemf("input", "it is no JSON object: %v", err))
	}
	var problems []protocol.Problem
	for _, p := range strictjson.Decode("", input, in) {
		problems = append(problems, protocol.Problem{Field: p.Path, Reason: p.Reason})
	}
	return refuse(problems...)
}

// schemaOf returns the JSON Schema of what v points to.
func schemaOf(v any) *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.Reflect(v)
	s.Version = ""
	return s
}

func encode(s *jsonschema.Schema) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("encode schema: %v", err)) // the types are fixed, and a test encodes them
	}
	return b
}

// inputSchema returns the schema of an Input with the names of the presets, and of the protocols that they can run.
func (s *Toolset) inputSchema() *jsonschema.Schema {
	in := schemaOf(&Input{})
	in.Required = nil // no field is required, because an id or a topic suffices
	offers := s.offers()
	preset, _ := in.Properties.Get("preset")
	for _, name := range s.presetNames() {
		p := s.presets[name]
		preset.Enum = append(preset.Enum, name)
		preset.Description += "\n" + name + ": " + strings.TrimSuffix(cmp.Or(p.Description, summary(p.Config)), ".") + "." + effort(p.Config)
		if missing := offers.missing[name]; len(missing) > 0 {
			preset.Description += " Not with " + strings.Join(missing, ", ") + "."
		}
	}
	field, _ := in.Properties.Get("protocol")
	for _, p := range offers.all {
		field.Enum = append(field.Enum, p.name)
		if p.note != "" {
			field.Description += "\n" + p.name + ": " + p.note
		}
	}
	return in
}

// outline returns a schema without descriptions and lists of values, for a tool with the input of another tool.
func outline(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	short := *s
	short.Description = ""
	short.Enum = nil
	short.Items = outline(s.Items)
	if s.Properties != nil {
		short.Properties = jsonschema.NewProperties()
		for field := s.Properties.Oldest(); field != nil; field = field.Next() {
			short.Properties.Set(field.Key, outline(field.Value))
		}
	}
	return &short
}

// Name returns the tool's name.
func (t Tool) Name() string { return t.name }

// Description returns what the tool does, for the model.
func (t Tool) Description() string { return t.description }

// InputSchema returns the JSON Schema of the input.
func (t Tool) InputSchema() json.RawMessage { return slices.Clone(t.input) }

// OutputSchema returns the JSON Schema of [Output].
func (t Tool) OutputSchema() json.RawMessage { return slices.Clone(t.output) }

// Run calls the tool with a JSON object. Its errors are of type *[Error]; their messages are for the model.
func (t Tool) Run(ctx context.Context, input json.RawMessage) (Output, error) {
	return last(t.Stream(ctx, input))
}

// Stream does what Run does, and yields what happens meanwhile. The last progress has the output.
func (t Tool) Stream(ctx context.Context, input json.RawMessage) iter.Seq2[Progress, error] {
	return t.stream(ctx, input)
}

// Call calls the tool with a JSON object, or with plain text: a topic for debate and debate_start, an id for the others.
// It returns text for the model, also if the input is wrong or the call fails. It returns an error only if ctx ends.
func (t Tool) Call(ctx context.Context, input string) (string, error) {
	input, _, _ = strings.Cut(input, "\nObservation:") // models often invent the result of the tool
	input = strings.TrimSpace(input)
	if !strings.HasPrefix(input, "{") && t.plain != "" {
		b, err := json.Marshal(map[string]string{t.plain: strings.Trim(input, "\"'` \n\t")})
		if err != nil {
			return err.Error(), nil
		}
		input = string(b)
	}
	out, err := t.Run(ctx, json.RawMessage(input))
	switch {
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("call %s: %w", t.name, err)
	case err != nil:
		return err.Error(), nil
	}
	return out.Text(), nil
}
