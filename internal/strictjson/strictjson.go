// Package strictjson decodes JSON that a person wrote. It reports everything that does not fit, each with the path of the
// field as it was written.
package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Problem is a field that does not fit.
type Problem struct {
	Path   string // such as "participants[1].name"
	Reason string
}

// Decode decodes valid JSON into *v, as json.Unmarshal does, and returns a problem for each field that is unknown or has
// a value of another type. It decodes the rest. path is the path of the value; it is empty for a whole document.
func Decode(path string, b []byte, v any) []Problem {
	d := decoder{}
	d.decode(path, b, reflect.ValueOf(v).Elem())
	return d.problems
}

type decoder struct{ problems []Problem }

func (d *decoder) add(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{path, fmt.Sprintf(format, args...)})
}

// decode decodes a value into v, which must be settable.
func (d *decoder) decode(path string, b json.RawMessage, v reflect.Value) {
	if string(b) == "null" || decodesItself(v.Type()) {
		d.leaf(path, b, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(path, b, v)
	case reflect.Map:
		d.mapping(path, b, v)
	case reflect.Slice:
		d.list(path, b, v)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.decode(path, b, v.Elem())
	default:
		d.leaf(path, b, v)
	}
}

// decodesItself reports whether a type has a decoder of its own, or bytes, which are a string in JSON.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) ||
		t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// leaf decodes a value as a whole.
func (d *decoder) leaf(path string, b json.RawMessage, v reflect.Value) {
	err := json.Unmarshal(b, v.Addr().Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = mistyped(b, v, wrong.Type)
	}
	if err != nil {
		d.add(path, "%v", err)
	}
}

// mistyped returns the error for a value that v does not accept, because it must be of another type.
func mistyped(b json.RawMessage, v reflect.Value, want reflect.Type) error {
	use := nameOf(want)
	if text, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok { // it accepts strings only
		if err := text.UnmarshalText(b); err != nil { // says which ones
			return err
		}
		use = "a string"
	}
	return fmt.Errorf("%s is not valid, use %s", excerpt(b), use)
}

// object decodes the fields of a struct.
func (d *decoder) object(path string, b json.RawMessage, v reflect.Value) {
	known, simple := fieldsOf(v)
	var values map[string]json.RawMessage
	if !simple || json.Unmarshal(b, &values) != nil {
		d.leaf(path, b, v)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := slices.IndexFunc(known, func(f field) bool { return f.name == key })
		if at < 0 {
			at = slices.IndexFunc(known, func(f field) bool { return strings.EqualFold(f.name, key) })
		}
		if at < 0 {
			d.add(join(path, key), "the field is unknown, use one of %s", names(known))
			continue
		}
		d.decode(join(path, key), values[key], v.FieldByIndex(known[at].index))
	}
}

func (d *decoder) mapping(path string, b json.RawMessage, v reflect.Value) {
	var values map[string]json.RawMessage
	if v.Type().Key().Kind() != reflect.String || json.Unmarshal(b, &values) != nil {
		d.leaf(path, b, v)
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		to := reflect.New(v.Type().Elem()).Elem()
		d.decode(join(path, key), values[key], to)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), to)
	}
}

func (d *decoder) list(path string, b json.RawMessage, v reflect.Value) {
	var values []json.RawMessage
	if json.Unmarshal(b, &values) != nil {
		d.leaf(path, b, v)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(values), len(values)))
	for i := range values {
		d.decode(path+"["+strconv.Itoa(i)+"]", values[i], v.Index(i))
	}
}

// field is a field of a struct, or of a struct embedded in it.
type field struct {
	name  string // in JSON
	index []int
}

// fieldsOf returns the fields of a struct. It returns false if encoding/json treats one of them in a special way.
func fieldsOf(v reflect.Value) (list []field, simple bool) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && (tag != "" || f.Type.Kind() == reflect.Pointer && v.FieldByIndex(f.Index).IsNil()) || strings.Contains(options, "string"):
			return nil, false
		case f.Anonymous || !f.IsExported() || tag == "-" && options == "":
			continue
		case tag == "":
			tag = f.Name
		}
		list = append(list, field{tag, f.Index})
	}
	return list, true
}

func names(fields []field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.name
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// excerpt returns the beginning of a value.
func excerpt(b []byte) string {
	const most = 40
	if r := []rune(string(b)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(b)
}

// nameOf returns what JSON calls a value of a type.
func nameOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "an integer"
	}
}

// Unmarshal decodes JSON as json.Unmarshal does. unknown names a field that v does not have, if there is one.
func Unmarshal(b []byte, v any) (unknown, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	unknown = d.Decode(v)
	if unknown == nil && len(bytes.TrimSpace(b[d.InputOffset():])) == 0 {
		return nil, nil
	}
	return unknown, json.Unmarshal(b, v)
}
