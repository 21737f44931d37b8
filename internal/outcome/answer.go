package outcome

import (
	"encoding/json"

	"github.com/elenchus-go/debate/protocol"
)

// Answer returns an answer with a text, the data of a preset, which is strings and finite numbers, and warnings.
func Answer(text string, data any, warnings ...string) (a protocol.Answer) {
	a.Text = text
	a.Warnings = warnings
	a.Data, _ = json.Marshal(data) // such data always encodes
	return a
}

// Decode returns the data of an answer that the protocol p gave.
func Decode[T any](a protocol.Answer, p protocol.Protocol) (data T, err error) {
	err = a.Decode(p.Name(), &data)
	return data, err
}
