package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// MapStrings is a reply of this contract with f applied to each text in it, at any depth, and with its summary made anew.
// It validates nothing: f is expected to keep a reply valid, as one that puts names in the place of labels does.
func (c *Contract) MapStrings(r Reply, f func(string) string) (Reply, error) {
	v := c.newValue()
	if err := json.Unmarshal(r.Data, v); err != nil {
		return Reply{}, fmt.Errorf("rename in reply %s: %w", c.name, err)
	}
	mapStrings(reflect.ValueOf(v), f)
	renamed, err := newReply(v)
	renamed.Repaired = r.Repaired
	return renamed, err
}

// mapStrings applies f to the texts of a value. What kinds there can be is for usable to say.
func mapStrings(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			mapStrings(v.Elem(), f)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			mapStrings(field, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			mapStrings(v.Index(i), f)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(f(v.String()))
		}
	}
}
