package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// schemas is what a contract says of a reply: the schemas of its type, with and without what only validation needs.
type schemas struct {
	root      *jsonschema.Schema // as reflected
	named     *named
	strict    json.RawMessage // without names
	outline   string          // without names
	validator *validator.Schema
	reading   func() reading
}

// reading is what reading a reply needs. It is made when the first reply is read.
type reading struct {
	known   knownFields
	keys    *keys
	layout  layout
	scales  *scale
	decoder *decoder // nil if encoding/json has to read the replies
}

// buildSchemas derives the schemas of a type. It panics if a tag makes an invalid schema, which is a programming
// error.
func buildSchemas(name string, t reflect.Type) schemas {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.ReflectFromType(t)
	n := &named{map[*jsonschema.Schema]string{}, map[*jsonschema.Schema]string{}}
	complete(s, t, n)
	compiled, err := compileSchema(validationSchema(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: compile schema: %v", name, err))
	}
	return schemas{
		root:      s,
		named:     n,
		strict:    strictSchema(s, n, nil, nil),
		outline:   outlineOf(s, n, nil, nil),
		validator: compiled,
		reading:   sync.OnceValue(func() reading { return readingOf(t, s, n) }),
	}
}

// readingOf returns what reading replies of a type needs.
func readingOf(t reflect.Type, s *jsonschema.Schema, n *named) reading {
	known := knownFieldsOf(s)
	return reading{
		known:   known,
		keys:    newKeys(known),
		layout:  n.layoutOf(s),
		scales:  n.scaleOf(s),
		decoder: newDecoder(t),
	}
}

// compileSchema compiles a schema for validation.
func compileSchema(s *jsonschema.Schema) (*validator.Schema, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c := validator.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("reply:", bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return c.Compile("reply:")
}
