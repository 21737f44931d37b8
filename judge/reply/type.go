package reply

import (
	"fmt"
	"reflect"
	"slices"
)

// usable says what keeps a type from having a schema of fixed fields. The path is the types that it stands in.
func usable(t reflect.Type, path []reflect.Type) error {
	if slices.Contains(path, t) {
		return fmt.Errorf("use type %s: it contains itself", t)
	}
	path = append(path, t)
	switch t.Kind() {
	case reflect.Struct:
		return usableFields(t, path)
	case reflect.Pointer:
		return usable(t.Elem(), path)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return usable(t.Elem(), path)
		}
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	}
	return fmt.Errorf("use type %s: no schema of fixed fields describes it", t)
}

func usableFields(t reflect.Type, path []reflect.Type) error {
	for f := range t.Fields() {
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if err := usable(f.Type, path); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}
