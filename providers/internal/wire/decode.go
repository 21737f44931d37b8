package wire

import (
	"encoding/json"
	"errors"
)

// Decode decodes an event. It ignores fields whose values have an unexpected type.
func Decode(data []byte, event any) error {
	err := json.Unmarshal(data, event)
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
		return nil
	}
	return err
}

// malformed reports whether an event is not a JSON object.
func malformed(err error) bool {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &typed)
}
