package naming

import (
	"reflect"
	"runtime"
)

// OfType returns the name of the type of a value, with its package. It is empty for nil.
func OfType(v any) string {
	if v == nil {
		return ""
	}
	t, star := reflect.TypeOf(v), ""
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		star += "*"
	}
	if t.Name() == "" || t.PkgPath() == "" {
		return star + t.String()
	}
	return star + t.PkgPath() + "." + t.Name()
}

// OfFunction returns the name of a function, with its package. It is empty for nil.
func OfFunction(f any) string {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return ""
	}
	if known := runtime.FuncForPC(v.Pointer()); known != nil {
		return known.Name()
	}
	return v.Type().String()
}
