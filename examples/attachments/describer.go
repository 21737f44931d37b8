package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // formats that the demo model reads
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// describer is the demo model with an eye: it begins each speech with the format and the size of what is attached.
type describer struct{ providers.Provider }

// Unsupported returns nil, because the model describes every attachment.
func (describer) Unsupported(providers.Request) map[string]string { return nil }

// Generate calls the demo model. The demo model reads text only, so it gets the prompt without the attachments.
func (d describer) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	var seen strings.Builder
	for a := range r.Attachments() {
		seen.WriteString(describe(a))
	}
	var texts []providers.Message
	for _, m := range r.Messages {
		if m.Parts == nil {
			texts = append(texts, m)
		}
	}
	r.Messages = texts
	if r.SchemaName != "" { // a description would not follow the schema
		return d.Provider.Generate(ctx, r)
	}
	if r.OnChunk != nil {
		if err := r.OnChunk(seen.String()); err != nil {
			return providers.Response{}, err
		}
	}
	res, err := d.Provider.Generate(ctx, r)
	res.Text = seen.String() + res.Text
	return res, err
}

// describe returns what the model sees of an attachment.
func describe(a *providers.Attachment) string {
	if c, format, err := image.DecodeConfig(bytes.NewReader(a.Data)); err == nil {
		return fmt.Sprintf("I see %s, a picture in the format %s with %d × %d pixels. ", a.Name, format, c.Width, c.Height)
	}
	return fmt.Sprintf("I see %s, a file of type %s with %d pages and %d bytes. ", a.Name, a.MediaType, a.Pages, len(a.Data))
}
