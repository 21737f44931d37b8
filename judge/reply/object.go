package reply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// parseObject decodes a JSON object. It returns an error if the object has a property twice with different values.
func parseObject(text string) (map[string]any, error) {
	var decoded any // decoding into a map takes longer
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return nil, newInvalid(describeJSONError(text, err))
	}
	object, _ := decoded.(map[string]any)
	if countColons(text) == countProperties(object) {
		return object, nil
	}
	var findings []string
	d := json.NewDecoder(strings.NewReader(text))
	readTwice(d, "", &findings)
	if len(findings) > 0 {
		return nil, newInvalid(findings...)
	}
	return object, nil
}

// countColons counts the colons outside strings in valid JSON, which is the number of properties it writes.
func countColons(text string) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringLength(text[i:]) - 1
		case ':':
			n++
		}
	}
	return n
}

// countProperties counts the properties in a value.
func countProperties(value any) (n int) {
	switch v := value.(type) {
	case map[string]any:
		n = len(v)
		for _, x := range v {
			n += countProperties(x)
		}
	case []any:
		for _, x := range v {
			n += countProperties(x)
		}
	}
	return n
}

// readTwice reads the next value of d, which is valid JSON. It adds a violation for each property that has two different
// values.
func readTwice(d *json.Decoder, at string, findings *[]string) any {
	token, _ := d.Token()
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, readTwice(d, fmt.Sprintf("%s/%d", at, len(list)), findings))
		}
		_, _ = d.Token()
		return list
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			key, _ := d.Token()
			name := key.(string)
			value := readTwice(d, at+"/"+name, findings)
			if before, twice := object[name]; twice && !reflect.DeepEqual(before, value) {
				*findings = append(*findings, fmt.Sprintf("%s: property %q appears twice with different values", location(at), name))
			}
			object[name] = value
		}
		_, _ = d.Token()
		return object
	}
	return token
}
