package langchain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// An api describes the requests and streams of a service's HTTP protocol.
type api struct {
	path          string             // the suffix of the paths of calls
	settingsField string             // the field of a request's body that holds the settings; empty for the body itself
	params        map[setting]string // the names of the supported settings
	jsonLines     bool               // each line of a stream is JSON, without a field name such as "data:"
	maxLine       int                // the longest stream line that langchaingo reads, in bytes; 0 for streams without lines
	fixedFields   map[string]string  // default values of fields in a request's body, as JSON
	schema        func(body object, name string, schema node) error
	writePrompt   func(p prompt, body object) // writes the prompt with cache breakpoints; nil if the service needs none
}

// apis lists the protocols that the transport supports.
var apis = []*api{
	{
		path:    "/chat/completions",
		params:  map[setting]string{temperature: "temperature", topP: "top_p", seed: "seed", stop: "stop"},
		maxLine: 64<<10 - 1,
		schema: func(body object, name string, schema node) error {
			return body.set("response_format", map[string]any{
				"type": "json_schema", "json_schema": map[string]any{"name": name, "strict": strict(schema), "schema": schema},
			})
		},
	},
	{
		// With output_config the reply stays text, unlike with a forced tool call: it streams, the part of a cut reply is
		// kept, and langchaingo reads it like any reply. Models older than 4.5 refuse the field.
		path:    "/messages",
		params:  map[setting]string{temperature: "temperature", topP: "top_p", topK: "top_k", stop: "stop_sequences"},
		maxLine: 64<<10 - 1,
		schema: func(body object, _ string, schema node) error {
			config := body.inner("output_config")
			if err := config.set("format", map[string]any{"type": "json_schema", "schema": schema}); err != nil {
				return err
			}
			return body.set("output_config", config)
		},
		writePrompt: prompt.writeWithBreakpoints,
	},
	{
		path:          "/api/chat",
		settingsField: "options",
		params:        map[setting]string{temperature: "temperature", topP: "top_p", topK: "top_k", seed: "seed", stop: "stop"},
		maxLine:       512*1000 - 1,
		jsonLines:     true,
		fixedFields:   map[string]string{"stream": "false"}, // the service's default is true
		schema:        func(body object, _ string, schema node) error { return body.set("format", schema) },
	},
	{
		path:          "enerateContent", // and streamGenerateContent
		settingsField: "generationConfig",
		params:        map[setting]string{temperature: "temperature", topP: "topP", topK: "topK", seed: "seed", stop: "stopSequences"},
		schema: func(body object, _ string, schema node) error {
			config := body.inner("generationConfig")
			_ = config.set("responseMimeType", "application/json")
			if err := config.set("responseJsonSchema", schema); err != nil {
				return err
			}
			return body.set("generationConfig", config)
		},
	},
}

// apiOf returns the protocol for the path of a request, or nil if it is unknown.
func apiOf(path string) *api {
	for _, a := range apis {
		if strings.HasSuffix(path, a.path) {
			return a
		}
	}
	return nil
}

// object is a JSON object.
type object map[string]json.RawMessage

func (o object) set(name string, value any) error {
	raw, err := json.Marshal(value)
	o[name] = raw
	return err
}

// inner returns the object in a field, or an empty object if there is none.
func (o object) inner(name string) object {
	inner := object{}
	_ = json.Unmarshal(o[name], &inner) // a value that is not an object is replaced
	if inner == nil {
		inner = object{}
	}
	return inner
}

// settings returns the object in body that holds the settings.
func (a *api) settings(body object) object {
	if a.settingsField == "" {
		return body
	}
	return body.inner(a.settingsField)
}

// patch adds the settings, the schema and the prompt of a call to a request's body. It removes settings that the call
// does not have and fields that the model refused before.
func (a *api) patch(body object, w *callOptions, known capabilities) error {
	settings := a.settings(body)
	for p, name := range a.params {
		v, asked := w.params[p]
		switch {
		case !asked:
			delete(settings, name)
		case p == temperature: // langchaingo sends it wherever the model takes it
		default:
			if err := settings.set(name, v); err != nil {
				return err
			}
		}
	}
	for name, value := range a.fixedFields {
		if _, ok := body[name]; !ok {
			body[name] = json.RawMessage(value)
		}
	}
	for name := range known.unsupportedFields {
		delete(settings, name)
		delete(body, name)
	}
	if a.settingsField != "" {
		if err := body.set(a.settingsField, settings); err != nil {
			return err
		}
	}
	if a.writePrompt != nil && !known.noCacheBreakpoints {
		a.writePrompt(w.prompt, body)
	}
	if len(w.schema) == 0 || known.schemaSupport == schemaNone {
		return nil
	}
	schema, err := parse(w.schema)
	if err != nil {
		return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("read schema: %w", err)}
	}
	return a.schema(body, w.name, serviceSchema(schema, known.schemaSupport == schemaFull))
}
