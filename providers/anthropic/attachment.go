package anthropic

import (
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
)

// Attachments. Sources: https://platform.claude.com/docs/en/build-with-claude/vision and
// https://platform.claude.com/docs/en/build-with-claude/pdf-support

// source is the content of an image or a document.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// attachmentBlock returns an attachment as a block.
func attachmentBlock(a *providers.Attachment) *block {
	b := &block{Type: "image", Source: &source{Type: "base64", MediaType: a.MediaType, Data: a.Data}}
	if a.MediaType == prompt.PDF {
		b.Type, b.Title = "document", a.Name
	}
	if a.URL != "" {
		b.Source = &source{Type: "url", URL: a.URL}
	}
	return b
}

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
func refuses(model string, _ *providers.Attachment) string {
	if v := versionOf(model); v > 0 && v < version(3, 0) {
		return "model " + model + " reads text only, use one of version 3 or later"
	}
	return ""
}
