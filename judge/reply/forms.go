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

// forms are what a contract makes of its type.
type forms struct {
	wire    json.RawMessage
	outline string
	full    *validator.Schema
	shape   shape
}

// build makes the forms. Its panics are errors of the program: a tag gave what is no schema.
func build(name string, t reflect.Type) forms {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true}
	s := r.ReflectFromType(t)
	complete(s, t)
	wired, err := json.Marshal(wire(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: marshal schema: %v", name, err))
	}
	compiled, err := compile(full(s))
	if err != nil {
		panic(fmt.Sprintf("reply: contract %s: compile schema: %v", name, err))
	}
	var b strings.Builder
	outline(&b, s, "")
	return forms{wire: wired, outline: b.String(), full: compiled, shape: shapeOf(s)}
}

func compile(s *jsonschema.Schema) (*validator.Schema, error) {
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
