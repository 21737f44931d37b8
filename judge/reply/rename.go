package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Rename is a reply of this contract with f applied to each text in it, at any depth, and with its summary made anew.
// It validates nothing: f is expected to keep a reply valid, as one that puts names in the place of labels does.
func (c *Contract) Rename(r Reply, f func(string) string) (Reply, error) {
	v := c.fresh()
	if err := json.Unmarshal(r.Data, v); err != nil {
		return Reply{}, fmt.Errorf("rename in reply %s: %w", c.name, err)
	}
	rename(reflect.ValueOf(v), f)
	renamed, err := summed(v)
	renamed.Repaired = r.Repaired
	return renamed, err
}

// rename applies f to the texts of a value. What kinds there can be is for usable to say.
func rename(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			rename(v.Elem(), f)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			rename(field, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			rename(v.Index(i), f)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(f(v.String()))
		}
	}
}
