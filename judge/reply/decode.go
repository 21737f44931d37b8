package reply

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// decoder fills a struct from a value as encoding/json reads it, without going by way of JSON again. It knows the plain
// types that replies are made of.
type decoder struct {
	fields map[string]fieldDecoder // of a struct; nil for other types
	elem   *decoder                // of a pointer or a slice
}

type fieldDecoder struct {
	index []int
	decoder
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// newDecoder returns the decoder of a type. It returns nil for a type that encoding/json has to read, such as one with a
// method of its own for it.
func newDecoder(t reflect.Type) *decoder {
	if p := reflect.PointerTo(t); p.Implements(unmarshaler) || p.Implements(textUnmarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return newStructDecoder(t)
	case reflect.Pointer, reflect.Slice:
		if elem := newDecoder(t.Elem()); elem != nil {
			return &decoder{elem: elem}
		}
		return nil
	case reflect.Bool, reflect.String, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &decoder{}
	}
	return nil
}

func newStructDecoder(t reflect.Type) *decoder {
	d := &decoder{fields: map[string]fieldDecoder{}}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous || strings.Contains(options, "string"):
			return nil
		case name == "":
			name = f.Name
		}
		inner := newDecoder(f.Type)
		if inner == nil {
			return nil
		}
		d.fields[name] = fieldDecoder{f.Index, *inner}
	}
	return d
}

// set fills v, which is zero, from a value and reports whether encoding/json would fill it in the same way. If it reports
// false, v may be filled in part.
func (d *decoder) set(v reflect.Value, value any) bool {
	switch x := value.(type) {
	case nil:
		return true
	case map[string]any:
		return d.setStruct(v, x)
	case []any:
		return d.setSlice(v, x)
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.elem.set(v.Elem(), value)
	}
	switch x := value.(type) {
	case string:
		if v.Kind() == reflect.String {
			v.SetString(x)
			return true
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(x)
			return true
		}
	case float64:
		return setNumber(v, x)
	}
	return false
}

func (d *decoder) setStruct(v reflect.Value, object map[string]any) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.elem.setStruct(v.Elem(), object)
	}
	if d.fields == nil {
		return false
	}
	for name, x := range object {
		f, ok := d.fields[name]
		if !ok || !f.set(v.FieldByIndex(f.index), x) {
			return false
		}
	}
	return true
}

func (d *decoder) setSlice(v reflect.Value, list []any) bool {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return d.elem.setSlice(v.Elem(), list)
	}
	if v.Kind() != reflect.Slice {
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, x := range list {
		if !d.elem.set(v.Index(i), x) {
			return false
		}
	}
	return true
}

// exact is the first number from which on whole numbers may differ from what a float64 holds, and JSON has an exponent.
const exact = 1 << 53

func setNumber(v reflect.Value, x float64) bool {
	switch {
	case v.Kind() == reflect.Float64:
		v.SetFloat(x)
		return true
	case x != math.Trunc(x) || math.Abs(x) >= exact || x == 0 && math.Signbit(x):
		return false
	case v.CanInt() && !v.OverflowInt(int64(x)):
		v.SetInt(int64(x))
		return true
	case v.CanUint() && x >= 0 && !v.OverflowUint(uint64(x)):
		v.SetUint(uint64(x))
		return true
	}
	return false
}
