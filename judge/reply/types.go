package reply

import (
	"fmt"
	"reflect"
	"slices"
)

// checkType says what keeps a type from having a schema of fixed fields. The path is the types that it stands in.
func checkType(t reflect.Type, path []reflect.Type) error {
	if slices.Contains(path, t) {
		return fmt.Errorf("use type %s: it contains itself", t)
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
	return fmt.Errorf("use type %s: no schema of fixed fields describes it", t)
}

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
