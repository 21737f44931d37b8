package reply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// schemas is everything that a contract derives from its type.
type schemas struct {
	strict    json.RawMessage
	outline   string
	validator *validator.Schema
	known     knownFields
	keys      *keys
	decoder   *decoder // nil if encoding/json has to read the replies
}

// buildSchemas derives the schemas of a type. It panics if a tag makes an invalid schema, which is a programming
// error.
func buildSchemas(name string, t reflect.Type) schemas {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.ReflectFromType(t)
	complete(s, t)
	wired, err := json.Marshal(strictSchema(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: marshal schema: %v", name, err))
	}
	compiled, err := compileSchema(validationSchema(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: compile schema: %v", name, err))
	}
	var b strings.Builder
	writeOutline(&b, s, "")
	known := knownFieldsOf(s)
	return schemas{strict: wired, outline: b.String(), validator: compiled, known: known, keys: newKeys(known), decoder: newDecoder(t)}
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
