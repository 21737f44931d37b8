package googleai

import (
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
)

// Attachments. Sources: https://ai.google.dev/gemini-api/docs/file-input-methods,
// https://ai.google.dev/gemini-api/docs/image-understanding and
// https://ai.google.dev/gemini-api/docs/document-processing

// blob is an image or a document, as data or by its URL.
type blob struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"fileUri,omitempty"`
}

// attachmentPart returns an attachment as a part.
func attachmentPart(a *providers.Attachment) part {
	b := &blob{a.MediaType, a.Data, a.URL}
	if a.URL != "" {
		return part{File: b}
	}
	return part{Inline: b}
}

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
func refuses(model string, a *providers.Attachment) string {
	m := modelOf(model)
	switch {
	case a.MediaType == "image/gif":
		return "the service reads no GIF, convert it to PNG"
	case a.URL != "" && m.version > 0 && m.version <= 200:
		return "model " + model + " fetches no addresses, give its data instead of its URL"
	case a.MediaType != prompt.PDF && a.MediaType != "image/png" && a.MediaType != "image/jpeg" && a.MediaType != "image/webp":
		return "the service reads PDF, PNG, JPEG and WebP"
	}
	return ""
}
