package providertest

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// testAttachments calls a provider with attachments. It must read those that it does not name as unsupported, and refuse
// all others.
func testAttachments(t *testing.T, h ProviderFunc) {
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	require.NoError(t, err)
	for _, a := range []providers.Attachment{
		{Name: "dot.png", MediaType: "image/png", Data: png},
		{Name: "page.pdf", MediaType: "application/pdf", Data: []byte("%PDF-1.4\n%%EOF"), Pages: 1},
		{Name: "photo.jpg", MediaType: "image/jpeg", URL: "https://example.com/photo.jpg"},
		{Name: "paper.pdf", MediaType: "application/pdf", URL: "https://example.com/paper.pdf", Pages: 2},
	} {
		t.Run(a.Name, func(t *testing.T) {
			p := h(t, sampleReply)
			shown := providers.Message{Role: providers.User, Parts: []providers.Part{{Text: a.Name}, {Attachment: &a}}}
			refused := true // by a provider that does not say what it reads
			if l, ok := p.(providers.Limited); ok {
				reason := l.Unsupported(providers.Request{Messages: []providers.Message{shown}})["attachments"]
				refused = reason != ""
				if refused {
					require.Contains(t, reason, a.Name, "the reason names the attachment")
				}
			}
			r := sampleRequest()
			r.Messages = append(r.Messages[:1:1], append([]providers.Message{shown}, r.Messages[1:]...)...)
			res, err := p.Generate(t.Context(), r)
			if refused {
				_ = requireKind(t, providers.InvalidRequest, res, err)
				return
			}
			require.NoError(t, err)
			requireReply(t, sampleReply, res)
		})
	}
}
