package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // formats that the demo model reads
	_ "image/jpeg"
	_ "image/png"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// describer begins the first speech of the demo model with the format and the size of each attachment.
type describer struct{ providers.Provider }

// Unsupported returns nil, because the model describes every attachment.
func (describer) Unsupported(providers.Request) map[string]string { return nil }

// Generate calls the demo model. The demo model reads text only, so it gets the prompt without the attachments.
func (d describer) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	seen := described(r)
	r.Messages = withoutAttachments(r.Messages)
	if seen == "" {
		return d.Provider.Generate(ctx, r)
	}
	chunk := r.OnChunk
	if chunk != nil {
		first := seen
		r.OnChunk = func(text string) error {
			text, first = first+text, ""
			return chunk(text)
		}
	}
	res, err := d.Provider.Generate(ctx, r)
	if res.Parts == nil { // no call of a tool
		res.Text = seen + res.Text
	}
	return res, err
}

// described returns what the model says of the attachments: nothing in a structured reply, which would not follow its schema, and
// nothing once it has spoken.
func described(r providers.Request) string {
	spoke := func(m providers.Message) bool { return m.Role == providers.Assistant && m.Parts == nil }
	if r.SchemaName != "" || slices.ContainsFunc(r.Messages, spoke) {
		return ""
	}
	var seen strings.Builder
	for a := range r.Attachments() {
		seen.WriteString(describe(a))
	}
	return seen.String()
}

// withoutAttachments returns messages without the parts that are attachments. Those with other parts, such as results of tools, stay.
func withoutAttachments(messages []providers.Message) (texts []providers.Message) {
	for _, m := range messages {
		if m.Parts != nil {
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p providers.Part) bool { return p.Attachment != nil })
			if len(m.Parts) == 0 {
				continue
			}
		}
		texts = append(texts, m)
	}
	return texts
}

// describe returns what the model sees of an attachment.
func describe(a *providers.Attachment) string {
	if c, format, err := image.DecodeConfig(bytes.NewReader(a.Data)); err == nil {
		return fmt.Sprintf("I see %s, a picture in the format %s with %d × %d pixels. ", a.Name, format, c.Width, c.Height)
	}
	return fmt.Sprintf("I see %s, a file of type %s with %d pages and %d bytes. ", a.Name, a.MediaType, a.Pages, len(a.Data))
}
