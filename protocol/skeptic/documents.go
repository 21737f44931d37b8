package skeptic

import (
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// DocumentsContract is the reply of a retriever.
var DocumentsContract = reply.New[Documents]("documents/1")

// Documents are what a retriever found, the best first.
type Documents struct {
	Documents []Document `json:"documents" jsonschema:"maxItems=64" jsonschema_description:"the documents found, the best first"`
}

// Document is a way of reasoning, or whatever else a retriever holds.
type Document struct {
	Title string `json:"title" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the title"`
	Text  string `json:"text" jsonschema:"minLength=1,maxLength=8000" jsonschema_description:"the content"`
}

// Default is to have found nothing.
func (d *Documents) Default([]string) { d.Documents = []Document{} }

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
