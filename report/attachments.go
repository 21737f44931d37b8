package report

import (
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
)

// withoutContent returns a configuration without the data of its attachments and the texts of its documents, and a
// description of each attachment.
func withoutContent(config json.RawMessage) (json.RawMessage, []string) {
	var c struct {
		Attachments []debate.Attachment `json:"attachments"`
		Documents   []evidence.Document `json:"documents"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil || len(c.Attachments)+len(c.Documents) == 0 || json.Unmarshal(config, &fields) != nil {
		return config, nil
	}
	var names []string
	for i, a := range c.Attachments {
		names = append(names, fmt.Sprint(a))
		c.Attachments[i].Data = nil
	}
	for i := range c.Documents {
		c.Documents[i].Text = ""
	}
	set := func(name string, v any, n int) {
		if n > 0 {
			fields[name], _ = json.Marshal(v) // it was just decoded
		}
	}
	set("attachments", c.Attachments, len(c.Attachments))
	set("documents", c.Documents, len(c.Documents))
	raw, err := json.Marshal(fields)
	if err != nil {
		return config, names
	}
	return raw, names
}
