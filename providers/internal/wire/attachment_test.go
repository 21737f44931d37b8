package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// askAbout returns a request with attachments before the question.
func askAbout(list ...providers.Attachment) providers.Request {
	shown := providers.Message{Role: providers.User}
	for i := range list {
		shown.Parts = append(shown.Parts, providers.Part{Text: "See " + list[i].Name}, providers.Part{Attachment: &list[i]})
	}
	return providers.Request{MaxTokens: 600, Messages: []providers.Message{shown, {Role: providers.User, Text: "Why?"}}}
}

// Sources of the forms: the documentation that the files named attachment.go of the providers link to.
func TestAttachmentsHaveTheFormOfTheService(t *testing.T) {
	photo := providers.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("123")}
	paper := providers.Attachment{Name: "b.pdf", MediaType: "application/pdf", Data: []byte("456"), Pages: 1}
	far := providers.Attachment{Name: "c.jpg", MediaType: "image/jpeg", URL: "https://example.com/c.jpg"}
	farPaper := providers.Attachment{Name: "d.pdf", MediaType: "application/pdf", URL: "https://example.com/d.pdf", Pages: 1}
	for _, test := range []struct {
		protocol fakellm.Protocol
		shown    []providers.Attachment
		field    string // of the body
		want     string
	}{
		{fakellm.OpenAI, []providers.Attachment{photo, paper, far}, "messages", `[{"role": "user", "content": [
			{"type": "text", "text": "See a.png"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,MTIz"}},
			{"type": "text", "text": "See b.pdf"}, {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,NDU2"}},
			{"type": "text", "text": "See c.jpg"}, {"type": "image_url", "image_url": {"url": "https://example.com/c.jpg"}},
			{"type": "text", "text": "Why?"}]}]`},
		{fakellm.Responses, []providers.Attachment{photo, paper, far, farPaper}, "input", `[
			{"role": "user", "content": "See a.png"},
			{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,MTIz"}]},
			{"role": "user", "content": "See b.pdf"},
			{"role": "user", "content": [{"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,NDU2"}]},
			{"role": "user", "content": "See c.jpg"},
			{"role": "user", "content": [{"type": "input_image", "image_url": "https://example.com/c.jpg"}]},
			{"role": "user", "content": "See d.pdf"},
			{"role": "user", "content": [{"type": "input_file", "file_url": "https://example.com/d.pdf"}]},
			{"role": "user", "content": "Why?"}]`},
		{fakellm.Anthropic, []providers.Attachment{photo, paper, far, farPaper}, "messages", `[{"role": "user", "content": [
			{"type": "text", "text": "See a.png"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "MTIz"}},
			{"type": "text", "text": "\n\nSee b.pdf"}, {"type": "document", "title": "b.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "NDU2"}},
			{"type": "text", "text": "\n\nSee c.jpg"}, {"type": "image", "source": {"type": "url", "url": "https://example.com/c.jpg"}},
			{"type": "text", "text": "\n\nSee d.pdf"}, {"type": "document", "title": "d.pdf", "source": {"type": "url", "url": "https://example.com/d.pdf"}, "cache_control": {"type": "ephemeral"}},
			{"type": "text", "text": "\n\nWhy?"}]}]`},
		{fakellm.Google, []providers.Attachment{photo, paper, far}, "contents", `[{"role": "user", "parts": [
			{"text": "See a.png"}, {"inlineData": {"mimeType": "image/png", "data": "MTIz"}},
			{"text": "\n\nSee b.pdf"}, {"inlineData": {"mimeType": "application/pdf", "data": "NDU2"}},
			{"text": "\n\nSee c.jpg"}, {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/c.jpg"}},
			{"text": "\n\nWhy?"}]}]`},
		{fakellm.Ollama, []providers.Attachment{photo, photo}, "messages", `[{"role": "user", "content": "See a.png\n\nSee a.png\n\nWhy?", "images": ["MTIz", "MTIz"]}]`},
	} {
		t.Run(string(test.protocol), func(t *testing.T) {
			s := fakellm.Start(t, test.protocol, fakellm.Reply{Chunks: []string{"So."}})
			p := service(t, test.protocol, s.Client(t), nil)
			_, err := p.Generate(t.Context(), askAbout(test.shown...))
			require.NoError(t, err)
			sent, err := json.Marshal(s.Requests()[0].Body[test.field])
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(sent))
		})
	}
}

func TestWhatAServiceCannotReadIsRefusedWithAdvice(t *testing.T) {
	for _, test := range []struct {
		protocol fakellm.Protocol
		model    string
		shown    providers.Attachment
		want     string
	}{
		{fakellm.Google, "", providers.Attachment{Name: "a.gif", MediaType: "image/gif", Data: []byte("1")}, `attachment "a.gif", image/gif: the service reads no GIF, convert it to PNG`},
		{fakellm.Google, "gemini-2.0-flash", providers.Attachment{Name: "a.png", MediaType: "image/png", URL: "https://x"}, `attachment "a.png", image/png: model gemini-2.0-flash fetches no addresses, give its data instead of its URL`},
		{fakellm.Ollama, "", providers.Attachment{Name: "a.png", MediaType: "image/png", URL: "https://x"}, `attachment "a.png", image/png: the server fetches no addresses, give its data instead of its URL`},
		{fakellm.Ollama, "", providers.Attachment{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("1")}, `attachment "a.pdf", application/pdf: the server reads no PDF, give its text as the background of the debate, or its pages as images`},
		{fakellm.OpenAI, "", providers.Attachment{Name: "a.pdf", MediaType: "application/pdf", URL: "https://x"}, `attachment "a.pdf", application/pdf: chat completions fetch no documents, give its data instead of its URL`},
		{fakellm.Anthropic, "claude-2.1", providers.Attachment{Name: "a.png", MediaType: "image/png", URL: "https://x"}, `attachment "a.png", image/png: model claude-2.1 reads text only, use one of version 3 or later`},
	} {
		s := fakellm.Start(t, test.protocol, fakellm.Reply{Chunks: []string{"So."}})
		p := service(t, test.protocol, s.Client(t), nil).(providers.Limited)
		r := askAbout(test.shown)
		r.Model = test.model
		require.Equal(t, map[string]string{"attachments": test.want}, p.Unsupported(r))
	}
}

// A refusal of an image speaks of its size, but a shorter history does not help.
func TestBytesOfAttachmentsAreNotALongPrompt(t *testing.T) {
	s := fakellm.Start(t, fakellm.Anthropic, fakellm.Reply{Status: 400, Body: `{"type": "error", "error": {"type": "invalid_request_error", "message": "messages.0.content.1.image.source.base64: exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes"}}`})
	_, err := service(t, fakellm.Anthropic, s.Client(t), nil).Generate(t.Context(), askAbout(providers.Attachment{Name: "a.png", MediaType: "image/png", Data: make([]byte, 3_987_639)}))
	require.Equal(t, providers.InvalidRequest, providers.AsError(err).Kind)
}

func TestAttachmentsPrintNeitherBytesNorAddresses(t *testing.T) {
	a := providers.Attachment{Name: "a.png", MediaType: "image/png", Data: []byte("secret")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		require.Equal(t, "a.png (image/png, 6 bytes)", fmt.Sprintf(verb, a))
		require.Equal(t, "a.png (image/png, 6 bytes)", fmt.Sprintf(verb, &a))
	}
	a.Data, a.URL = nil, "https://example.com/?key=secret"
	require.Equal(t, "a.png (image/png, by URL)", fmt.Sprint(a))
}
