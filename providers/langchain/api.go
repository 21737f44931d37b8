package langchain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// An api is a protocol that models speak over HTTP: what is known of its requests and its streams.
type api struct {
	path          string             // the paths of its calls end so
	settingsField string             // the object of a request's body that has the settings; empty for the body itself
	params        map[setting]string // the settings' names; those that it does not know are missing
	jsonLines     bool               // each line of a stream is JSON, without the name of a field before it
	maxLine       int                // line of a stream that langchaingo reads, in bytes; 0 where streams have no lines
	fixedFields   map[string]string  // fields that a body has in any case, as JSON
	schema        func(body object, name string, schema node) error
	writePrompt   func(p prompt, body object) // writes the prompt with marks for the cache; nil where caches need none
}

// apis are those that the transport knows.
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
		// The reply stays text, unlike that of a forced tool: it streams, a cut one keeps what came, and langchaingo
		// reads it as any other. Models older than 4.5 refuse it.
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
		fixedFields:   map[string]string{"stream": "false"}, // or it streams
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

// apiOf is the protocol of a call by its path, nil where none is known.
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

// inner is the object of that name, an empty one where there is none.
func (o object) inner(name string) object {
	inner := object{}
	_ = json.Unmarshal(o[name], &inner) // what is no object is replaced
	if inner == nil {
		inner = object{}
	}
	return inner
}

// settings are where a body has them.
func (a *api) settings(body object) object {
	if a.settingsField == "" {
		return body
	}
	return body.inner(a.settingsField)
}

// patch gives a request's body what the call asks for, and takes away what it does not, or what the model has refused.
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
