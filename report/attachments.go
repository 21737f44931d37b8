package report

import (
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
)

// withoutContent returns a configuration without the data of its attachments, and a description of each attachment.
func withoutContent(config json.RawMessage) (json.RawMessage, []string) {
	var c struct {
		Attachments []debate.Attachment `json:"attachments"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil || len(c.Attachments) == 0 || json.Unmarshal(config, &fields) != nil {
		return config, nil
	}
	var names []string
	for i, a := range c.Attachments {
		names = append(names, fmt.Sprint(a))
		c.Attachments[i].Data = nil
	}
	raw, err := json.Marshal(c.Attachments)
	if err != nil {
		return config, names
	}
	fields["attachments"] = raw
	if raw, err = json.Marshal(fields); err != nil {
		return config, names
	}
	return raw, names
}
