// Package protocols lists the protocols of the library, encodes protocols to JSON, and finds the protocol that JSON names.
package protocols

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/protocol"
)

// Encode returns a protocol as an object with its name and parameters.
func Encode(p protocol.Protocol) (json.RawMessage, error) {
	if IsNil(p) {
		return nil, fmt.Errorf("encode protocol: it is a nil pointer of type %T", p)
	}
	params, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode protocol %s: %w", p.Name(), err)
	}
	if len(params) < 2 || params[0] != '{' {
		return nil, fmt.Errorf("encode protocol %s: %T encodes to %s, want an object", p.Name(), p, params)
	}
	if hidesName(params) {
		return nil, fmt.Errorf("encode protocol %s: %T has a field with the JSON name \"name\", use another name", p.Name(), p)
	}
	name, _ := json.Marshal(p.Name()) // encoding a string cannot fail
	b := slices.Concat([]byte(`{"name":`), name)
	if len(params) > 2 {
		b = append(b, ',')
	}
	return append(b, params[1:]...), nil
}

// IsNil reports whether a protocol is a pointer to nothing, whose methods cannot be called.
func IsNil(p protocol.Protocol) bool {
	v := reflect.ValueOf(p)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// hidesName reports whether the parameters of a protocol have a field where the name of the protocol belongs.
func hidesName(params []byte) bool {
	if !bytes.Contains(params, []byte(`"name":`)) {
		return false
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(params, &fields) // it was just encoded
	_, hides := fields["name"]
	return hides
}

// split splits the JSON of a protocol into its name and its parameters.
func split(b json.RawMessage) (name string, params json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil || json.Unmarshal(fields["name"], &name) != nil || name == "" {
		return "", nil, errors.New(`use an object with a name, such as {"name": "panel/1"}`)
	}
	delete(fields, "name")
	params, err = json.Marshal(fields)
	return name, params, err
}

// Find returns the protocol with the given name. If the name has no version, it returns the newest one. It
// returns nil if there is none.
func Find(known map[string]protocol.Protocol, name string) protocol.Protocol {
	if p, ok := known[name]; ok || strings.Contains(name, "/") {
		return p
	}
	newest, best := 0, protocol.Protocol(nil)
	for full, p := range known {
		version, versioned := strings.CutPrefix(full, name+"/")
		if n, err := strconv.Atoi(version); versioned && err == nil && n > newest {
			newest, best = n, p
		}
	}
	return best
}

// newLike returns a pointer to a new protocol of the same type as known, with only those fields of known that JSON
// omits.
func newLike(known protocol.Protocol) reflect.Value {
	v, like := reflect.New(reflect.TypeOf(known)), reflect.ValueOf(known)
	to := v.Elem()
	if to.Kind() == reflect.Pointer && !like.IsNil() {
		to.Set(reflect.New(to.Type().Elem()))
		to, like = to.Elem(), like.Elem()
	}
	if to.Kind() != reflect.Struct {
		return v
	}
	for f := range to.Type().Fields() {
		if f.IsExported() && f.Tag.Get("json") == "-" {
			to.FieldByIndex(f.Index).Set(like.FieldByIndex(f.Index))
		}
	}
	return v
}

// omitsType reports whether JSON omits a part of a type, such as a function.
func omitsType(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if f.Anonymous && omitsType(f.Type) || !f.Anonymous && isOmitted(f) {
			return true
		}
	}
	return false
}

// omitsValue reports whether JSON omits a part of v that is not zero.
func omitsValue(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return false
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && omitsValue(v.Field(i)) || !f.Anonymous && isOmitted(f) && !v.Field(i).IsZero() {
			return true
		}
	}
	return false
}

func isOmitted(f reflect.StructField) bool { return !f.IsExported() || f.Tag.Get("json") == "-" }

// Parameters returns the stored form of a protocol.
func Parameters(p protocol.Protocol) string {
	b, _ := json.Marshal(p) // a stored protocol can be encoded
	return p.Name() + string(b)
}
