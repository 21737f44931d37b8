package bedrock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
)

// maxFailure limits how much of an error is read, in bytes.
const maxFailure = 64 << 10

// failure is the body of an error whose kind is in a header.
type failure struct {
	body io.ReadCloser
	kind string
	text io.Reader // nil before the first Read
}

func (f *failure) Read(p []byte) (int, error) {
	if f.text == nil {
		raw, err := io.ReadAll(io.LimitReader(f.body, maxFailure))
		if err != nil && len(raw) == 0 {
			return 0, err
		}
		f.text = bytes.NewReader(errorEvent(f.kind, 0, raw))
	}
	return f.text.Read(p)
}

func (f *failure) Close() error { return f.body.Close() }

// errorEvent returns an error in Anthropic's form. raw is the service's JSON, or another text. Status may be 0.
func errorEvent(kind string, status int, raw []byte) []byte {
	var given struct {
		Message  string `json:"message"` // Go's decoder also accepts Message, which some errors have
		Original string `json:"originalMessage"`
	}
	if json.Unmarshal(raw, &given) != nil {
		given.Message = string(raw)
	}
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    int    `json:"code,omitempty"`
	}
	event, _ := json.Marshal(struct { // strings always encode
		Type  string `json:"type"`
		Error inner  `json:"error"`
	}{"error", inner{kind, cmp.Or(given.Message, given.Original, kind), status}})
	return event
}
