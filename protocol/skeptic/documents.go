package skeptic

import (
	"strings"

	"github.com/elenchus-go/debate/judge/reply"
)

// DocumentsContract is the contract of a retriever's reply.
var DocumentsContract = reply.New[Documents]("documents/1")

// Documents is the reply of a retriever: the documents found, the best first. Its turn holds only those that are used;
// see [Protocol.Templates].
type Documents struct {
	Documents []Document `json:"documents" jsonschema:"maxItems=64" jsonschema_description:"the documents found, the best first"`
}

// Document is a reasoning template or another document of a retriever.
type Document struct {
	Title string `json:"title" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"the title"`
	Text  string `json:"text" jsonschema:"minLength=1,maxLength=8000" jsonschema_description:"the content"`
}

// Default sets an empty list.
func (d *Documents) Default([]string) { d.Documents = []Document{} }

// Text returns the titles for readers.
func (d *Documents) Text() string {
	if len(d.Documents) == 0 {
		return "No documents found."
	}
	titles := make([]string, len(d.Documents))
	for i, x := range d.Documents {
		titles[i] = x.Title
	}
	return "Documents used: " + strings.Join(titles, "; ")
}
