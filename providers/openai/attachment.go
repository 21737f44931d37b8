package openai

import (
	"regexp"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/prompt"
)

// Attachments. Sources: https://developers.openai.com/api/docs/guides/images-vision,
// https://developers.openai.com/api/docs/guides/file-inputs and, for document_url,
// https://docs.mistral.ai/capabilities/document_ai/document_qna

// contentPart is a part of a message with attachments, in chat completions or in the Responses API.
type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL any    `json:"image_url,omitempty"` // a *link in chat completions, a string in the Responses API

	// Of a document.
	File        *file  `json:"file,omitempty"`         // in chat completions
	DocumentURL string `json:"document_url,omitempty"` // in chat completions of Mistral
	Name        string `json:"filename,omitempty"`     // in the Responses API
	Data        string `json:"file_data,omitempty"`
	URL         string `json:"file_url,omitempty"`
}

type link struct {
	URL string `json:"url"`
}

// file is a document in chat completions.
type file struct {
	Name string `json:"filename,omitempty"`
	Data string `json:"file_data"`
}

// contentParts returns the texts and attachments of a turn, in order, for chat completions.
func contentParts(t prompt.Turn, documentURL bool) (list []contentPart) {
	for _, p := range t.Parts {
		switch a := p.Attachment; {
		case p.Text != "":
			list = append(list, contentPart{Type: "text", Text: p.Text})
		case a == nil:
		case a.MediaType != prompt.PDF:
			list = append(list, contentPart{Type: "image_url", ImageURL: &link{prompt.Address(a)}})
		case documentURL:
			list = append(list, contentPart{Type: "document_url", DocumentURL: prompt.Address(a)})
		default:
			list = append(list, contentPart{Type: "file", File: &file{a.Name, prompt.Address(a)}})
		}
	}
	return list
}

// inputPart returns an attachment for the Responses API.
func inputPart(a *providers.Attachment) contentPart {
	switch {
	case a.MediaType != prompt.PDF:
		return contentPart{Type: "input_image", ImageURL: prompt.Address(a)}
	case a.URL != "":
		return contentPart{Type: "input_file", URL: a.URL}
	}
	return contentPart{Type: "input_file", Name: a.Name, Data: prompt.Address(a)}
}

// readsNoImages matches OpenAI's own models that read text only.
// Source: https://developers.openai.com/api/docs/models
var readsNoImages = regexp.MustCompile(`^(ft:)?(gpt-3|gpt-4(-0314|-0613|-32k.*)?$|o1-mini|o1-preview|o3-mini|gpt-oss)`)

// refuses returns why a model cannot read an attachment and what to do, or the empty string.
func (p *Provider) refuses(model string, _ *providers.Attachment) string {
	if p.official && readsNoImages.MatchString(model) {
		return "model " + model + " reads text only, use a model with vision, such as gpt-4.1-mini"
	}
	return ""
}

// chatRefuses does the same for chat completions, which fetch no documents.
func (p *Provider) chatRefuses(model string, a *providers.Attachment) string {
	if a.MediaType == prompt.PDF && a.URL != "" && !p.documentURL {
		return "chat completions fetch no documents, give its data instead of its URL"
	}
	return p.refuses(model, a)
}
