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

// schemas are what a contract makes of its type.
type schemas struct {
	strict    json.RawMessage
	outline   string
	validator *validator.Schema
	known     knownFields
	decoder   *decoder // nil if encoding/json has to read the replies
}

// buildSchemas makes the forms. Its panics are errors of the program: a tag gave what is no schema.
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
	return schemas{strict: wired, outline: b.String(), validator: compiled, known: knownFieldsOf(s), decoder: newDecoder(t)}
}

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
