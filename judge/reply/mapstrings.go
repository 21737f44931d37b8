package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Decode returns the value of a reply of this contract, a *T.
func (c *Contract) Decode(r Reply) (any, error) {
	v := c.newValue()
	if err := json.Unmarshal(r.Data, v); err != nil {
		return nil, fmt.Errorf("decode reply %s: %w", c.name, err)
	}
	return v, nil
}

// MapStrings applies f to each string in a reply of this contract, at any depth, and summarizes the result again. It
// does not validate the result, so f must keep the reply valid, for example by replacing pseudonyms with names.
func (c *Contract) MapStrings(r Reply, f func(string) string) (Reply, error) {
	v := c.newValue()
	if err := json.Unmarshal(r.Data, v); err != nil {
		return Reply{}, fmt.Errorf("map strings of reply %s: %w", c.name, err)
	}
	mapStrings(reflect.ValueOf(v), f)
	renamed, err := newReply(v)
	renamed.Repaired = r.Repaired
	return renamed, err
}

// mapStrings applies f to the strings of a value. checkType limits the kinds that can occur.
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
