package skeptic

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// DocumentsContract is the reply of a retriever.
var DocumentsContract = reply.New[Documents]("documents/1")

// Documents are what a retriever found, the best first.
type Documents struct {
	Documents []Document `json:"documents" jsonschema:"maxItems=64" jsonschema_description:"what was found, the best first"`
}

// Document is a way of reasoning, or whatever else a retriever holds.
type Document struct {
	Title string `json:"title" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"its name"`
	Text  string `json:"text" jsonschema:"minLength=1,maxLength=8000" jsonschema_description:"what it says"`
}

// Fallback is to have found nothing.
func (d *Documents) Fallback([]string) { d.Documents = []Document{} }

// Text lists the titles.
func (d *Documents) Text() string {
	if len(d.Documents) == 0 {
		return "Nothing was found."
	}
	titles := make([]string, len(d.Documents))
	for i, x := range d.Documents {
		titles[i] = x.Title
	}
	return "Found: " + strings.Join(titles, "; ")
}

// templates is how many documents the proposer is shown at most.
func (p Protocol) templates() int { return min(cmp.Or(p.Templates, defaultTemplates), mostTemplates) }

// used are the documents that the proposer is shown.
func (p Protocol) used(r *protocol.Record) []Document {
	t := find(r, transcript.Prelude, 0, phaseFound)
	if t == nil || p.templates() < 0 {
		return nil
	}
	found, err := transcript.Decode[Documents](*t)
	if err != nil {
		return nil // not validated, so not of this library's making
	}
	return found.Documents[:min(p.templates(), len(found.Documents))]
}

// sections are documents as a prompt shows them.
func sections(docs []Document) string {
	var b strings.Builder
	for i, d := range docs {
		fmt.Fprintf(&b, "### Template %d: %s\n\n%s\n\n", i+1, strings.Join(strings.Fields(d.Title), " "), d.Text)
	}
	return strings.TrimSpace(b.String())
}
