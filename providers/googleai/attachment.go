package googleai

import "github.com/elenchus-go/debate/providers"

// Sources of the forms of attachments: https://ai.google.dev/gemini-api/docs/file-input-methods,
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
