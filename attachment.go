package debate

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/providers"
)

// Attachment is a picture or a PDF document that is part of the question. It has Data or a URL, but not both. It is
// stored with the debate; Data is base64 in JSON.
//
// Data has at most 3,932,160 bytes, because that is 5 MiB in base64, the most that Anthropic accepts for a picture. All
// data of a debate has at most 12 MiB, because each prompt contains it, and Google accepts requests up to 20 MB. A picture
// has at most 8,000 pixels on each side, and a PDF at most 100 pages, as Anthropic's service requires.
type Attachment struct {
	// Name identifies the attachment in prompts, reports and errors, such as "photo.png". It is unique and has at most 128
	// bytes.
	Name string `json:"name"`
	// MediaType is image/png, image/jpeg, image/gif, image/webp or application/pdf. Data must be of that type.
	MediaType string `json:"media_type"`
	Data      []byte `json:"data,omitempty"`
	// URL is an https address. The library never fetches it: the model's service does. It is stored and shown, so it must
	// hold no secret.
	URL string `json:"url,omitempty"`
	// Pages is the number of pages of a PDF. By default, those in Data are counted. It is required with a URL.
	Pages int `json:"pages,omitempty"`
	// Readers are the participants and judges who see it. Defaults to all. Persona assigner, summarizer, retriever and
	// embedder never see it.
	Readers []string `json:"readers,omitempty"`
}

// The limits of attachments.
const (
	maxAttachments    = 20
	maxAttachment     = 5 << 20 / 4 * 3 // bytes of one
	maxAllAttachments = 12 << 20        // bytes of all
	maxPixels         = 8_000           // on each side of a picture
	maxPages          = 100             // of a PDF
)

// String describes the attachment without its bytes and without its address.
func (a Attachment) String() string { return a.shownAs(a.Name).String() }

// Format writes the result of String for every verb, so that no log holds the bytes.
func (a Attachment) Format(f fmt.State, _ rune) { fmt.Fprint(f, a.String()) }

// shownAs returns the attachment for a model that knows it by the given name. It shares the bytes.
func (a *Attachment) shownAs(name string) *providers.Attachment {
	return &providers.Attachment{Name: name, MediaType: a.MediaType, Data: a.Data, URL: a.URL, Pages: a.Pages}
}

// isFor reports whether a participant or a judge sees the attachment.
func (a *Attachment) isFor(name string) bool {
	return len(a.Readers) == 0 || slices.Contains(a.Readers, name)
}

// withDefaults returns the attachment with its pages.
func (a Attachment) withDefaults() Attachment {
	if a.MediaType == attachment.PDF && a.Pages == 0 && len(a.Data) <= maxAttachment {
		a.Pages = attachment.Pages(a.Data)
	}
	return a
}
