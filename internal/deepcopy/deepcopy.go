// Package deepcopy copies data, so that two holders of a value share no memory.
package deepcopy

import (
	"reflect"
	"sync"
)

// maxDepth is the maximum depth of what Of copies. Deeper data, such as that of a cycle, is shared.
const maxDepth = 100

// Of returns a copy of v that shares no slice, map or pointer with v, at any depth. What is not data is shared:
// functions, channels, unexported fields, fields that JSON omits, and pointers to structs without exported fields.
func Of[T any](v T) T {
	fill(reflect.ValueOf(&v).Elem(), 0)
	return v
}

// fill replaces every reference in v by a reference to a copy. v must be settable.
func fill(v reflect.Value, depth int) {
	if depth == maxDepth || !refers(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, i := range dataFields(v.Type()) {
			fill(v.Field(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Slice:
		if !v.IsNil() {
			list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(list, v)
			v.Set(list)
			fillAll(list, depth+1)
		}
	case reflect.Map:
		if !v.IsNil() {
			v.Set(copyMap(v, depth+1))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(v.Elem())
			fill(to.Elem(), depth+1)
			v.Set(to)
		}
	case reflect.Interface:
		if !v.IsNil() && refers(v.Elem().Type()) {
			v.Set(copyOf(v.Elem(), depth+1))
		}
	}
}

func fillAll(list reflect.Value, depth int) {
	if refers(list.Type().Elem()) {
		for i := range list.Len() {
			fill(list.Index(i), depth)
		}
	}
}

// copyMap returns a copy of a map. It shares the keys.
func copyMap(m reflect.Value, depth int) reflect.Value {
	to := reflect.MakeMapWithSize(m.Type(), m.Len())
	for at := m.MapRange(); at.Next(); {
		value := at.Value()
		if refers(value.Type()) {
			value = copyOf(value, depth)
		}
		to.SetMapIndex(at.Key(), value)
	}
	return to
}

// copyOf returns a copy of a value that is not settable.
func copyOf(v reflect.Value, depth int) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	fill(to, depth)
	return to
}

// fields holds the result of dataFields for each type.
var fields sync.Map

// dataFields returns the indexes of the fields of a struct that hold references to data.
func dataFields(t reflect.Type) []int {
	if list, ok := fields.Load(t); ok {
		return list.([]int)
	}
	var list []int
	for i := range t.NumField() {
		f := t.Field(i)
		promotes := f.Anonymous && f.Type.Kind() == reflect.Struct
		if (f.IsExported() || promotes) && f.Tag.Get("json") != "-" && refers(f.Type) {
			list = append(list, i)
		}
	}
	fields.Store(t, list)
	return list
}

// refers reports whether a value of the type can hold a reference that fill copies.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Pointer:
		return t.Elem().Kind() != reflect.Struct || hasData(t.Elem())
	case reflect.Array:
		return refers(t.Elem())
	case reflect.Struct:
		return len(dataFields(t)) > 0
	default:
		return false
	}
}

// hasData reports whether a struct has an exported field.
func hasData(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.IsExported() {
			return true
		}
	}
	return t.NumField() == 0
}
