package reply

import (
	"fmt"
	"reflect"
	"slices"
)

// checkType returns an error if a type does not have a schema with fixed fields. path lists the types that contain
// it.
func checkType(t reflect.Type, path []reflect.Type) error {
	if slices.Contains(path, t) {
		return fmt.Errorf("use type %s: a reply type must not contain itself", t)
	}
	path = append(path, t)
	switch t.Kind() {
	case reflect.Struct:
		return checkFieldTypes(t, path)
	case reflect.Pointer:
		return checkType(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return checkType(t.Elem(), path)
		}
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	}
	return fmt.Errorf("use type %s: a reply type has fixed fields of strings, numbers, booleans, structs and lists", t)
}

// checkFieldTypes applies checkType to the fields of a struct that are encoded.
func checkFieldTypes(t reflect.Type, path []reflect.Type) error {
	for f := range t.Fields() {
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if err := checkType(f.Type, path); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}
