package entrylist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Difference names the first field of an entry that is not the one of the event that follows, or returns "". Both are encoded
// to JSON objects. The rules of an entry may differ: they say which version wrote it.
func Difference(want, is any) string {
	a, b := fieldsOf(want), fieldsOf(is)
	if string(a["type"]) != string(b["type"]) {
		return fmt.Sprintf("its type is %s", b["type"])
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "rules" || bytes.Equal(a[name], b[name]) {
			continue
		}
		return fmt.Sprintf("its %s is %s, want %s", name, short(b[name]), short(a[name]))
	}
	return ""
}

// fieldsOf returns the JSON of an event by field.
func fieldsOf(ev any) (fields map[string]json.RawMessage) {
	b, err := json.Marshal(ev)
	if err != nil {
		return map[string]json.RawMessage{"error": json.RawMessage(err.Error())}
	}
	_ = json.Unmarshal(b, &fields) // an event is an object
	return fields
}

// short returns the beginning of a value.
func short(b json.RawMessage) string {
	const most = 120
	switch {
	case len(b) == 0:
		return "missing"
	case len(b) > most:
		return string(bytes.ToValidUTF8(b[:most], nil)) + "…"
	}
	return string(b)
}
