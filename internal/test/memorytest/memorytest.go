// Package memorytest finds memory that two values share. It works on any type, so a test of all fields also covers
// fields that are added later.
package memorytest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/elenchus-go/debate/protocol"
)

// Fill sets everything in *v that is empty, at any depth, so that no field is zero and it holds at least one reference of
// each kind that its type allows. It leaves out unexported fields, and interfaces and functions, which it cannot make.
func Fill(v any) { fill(reflect.ValueOf(v).Elem(), 0) }

// maxFill is the depth at which Fill stops, because a type may contain itself.
const maxFill = 12

func fill(v reflect.Value, depth int) {
	if depth == maxFill || !v.CanSet() && v.Kind() != reflect.Struct { // an unexported embedded struct may promote fields
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if v.Len() == 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, depth+1)
			fill(value, depth+1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Pointer:
		if v.IsNil() && !isOpaque(v.Type()) {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			fill(v.Elem(), depth+1)
		}
	case reflect.Uint8: // of a json.RawMessage
		v.SetUint('1')
	case reflect.String:
		if v.Len() == 0 {
			v.SetString("x")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		if v.IsZero() {
			v.SetInt(1)
		}
	case reflect.Float64:
		if v.IsZero() {
			v.SetFloat(0.5)
		}
	}
}

// isOpaque reports whether a type is a pointer to a struct that has no exported field.
func isOpaque(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || t.Elem().NumField() == 0 {
		return false
	}
	return !slices.ContainsFunc(reflect.VisibleFields(t.Elem()), reflect.StructField.IsExported)
}

// Shared returns the paths at which b holds memory that a holds too: slices, maps and pointers, at any depth and
// in unexported fields. It leaves out fields that JSON omits, errors, functions, and pointers to structs without exported
// fields.
func Shared(a, b any) (paths []string) {
	held := map[uintptr]string{}
	references(a, func(path string, at uintptr) { held[at] = path })
	references(b, func(path string, at uintptr) {
		if of, shared := held[at]; shared {
			paths = append(paths, fmt.Sprintf("%s is %s", path, of))
		}
	})
	return paths
}

// Empty returns the paths of slices, maps, pointers and interfaces in exported fields of v that are empty. A
// test that expects none notices a new field.
func Empty(v any) (paths []string) {
	seen, filled := map[string]bool{}, map[string]bool{}
	walker{}.walk(reflect.ValueOf(v), "", func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice, reflect.Map:
			seen[path], filled[path] = true, filled[path] || v.Len() > 0
		case reflect.Pointer, reflect.Interface:
			seen[path], filled[path] = true, filled[path] || !v.IsNil()
		default:
		}
	})
	for path := range seen {
		if !filled[path] {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// references calls f with the path and the address of each reference in v.
func references(v any, f func(path string, at uintptr)) {
	walker{}.walk(reflect.Indirect(reflect.ValueOf(v)), "", func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			if v.Cap() > 0 && v.Type().Elem().Size() > 0 {
				f(path, v.Pointer())
			}
		case reflect.Map:
			if !v.IsNil() {
				f(path, v.Pointer())
			}
		case reflect.Pointer:
			if !v.IsNil() && v.Type().Elem().Size() > 0 {
				f(path, v.Pointer())
			}
		default:
		}
	})
}

// walker holds the pointers and maps that were walked.
type walker map[uintptr]bool

// walk calls f for v and everything in it. All elements of a slice or map have one path.
func (w walker) walk(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	if !v.IsValid() || isOpaque(v.Type()) || v.Type() == reflect.TypeFor[error]() {
		return
	}
	f(path, v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.Tag.Get("json") != "-" || t.Type == reflect.TypeFor[protocol.Protocol]() {
				w.walk(v.Field(i), path+"."+t.Name, f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.walk(v.Index(i), path+"[]", f)
		}
	case reflect.Map:
		if at := v.MapRange(); !w[v.Pointer()] {
			w[v.Pointer()] = true
			for at.Next() {
				w.walk(at.Value(), path+"[]", f)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && !w[v.Pointer()] {
			w[v.Pointer()] = true
			w.walk(v.Elem(), path, f)
		}
	case reflect.Interface:
		w.walk(v.Elem(), path, f)
	default:
	}
}
