package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
)

// source is a file or a folder with documents.
type source struct {
	path    string
	readers []string // participants and judges, or ["*"] for all
	from    string   // what names the path, for errors, such as "--docs"
}

// isPrivate reports whether the debate is stored without the text.
func (d *document) isPrivate() bool { return !slices.Equal(d.readers, []string{evidence.Everybody}) }

// The limits of documents.
const (
	maxDocumentName = 128      // bytes of the name of a document that the debate holds
	maxPlace        = 1024     // bytes of the place of any document
	maxFolderFile   = 4 << 20  // bytes of a file that is not named itself
	maxAllDocuments = 64 << 20 // bytes of all texts
)

// library holds the documents of a debate, by their places.
type library struct {
	documents []*document
	folder    string // contains all files
	leftOut   leftOut
}

// readDocument returns the text of a file that the user has named.
func readDocument(ctx context.Context, r *extract.Reader, path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", exitErrorf(exitInput, "read document: %w", err)
	case !info.Mode().IsRegular():
		return "", exitErrorf(exitInput, "read document: %s is no regular file", path)
	case info.Size() > evidence.MaxSize:
		return "", exitErrorf(exitInput, "read document: %s has %d bytes, use at most %d", path, info.Size(), evidence.MaxSize)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", exitErrorf(exitInput, "read document: %w", err)
	}
	return documentText(ctx, r, path, data)
}

// documentText returns the text that a file holds. It keeps blank lines at the beginning, because readers count lines.
func documentText(ctx context.Context, r *extract.Reader, path string, data []byte) (string, error) {
	if isExtracted(path) {
		text, err := r.Text(ctx, filepath.Base(path), data)
		if err != nil {
			return "", exitErrorf(exitInput, "read document %s: %w", path, err)
		}
		return text, nil
	}
	text, ok := decodeText(data)
	switch {
	case !ok:
		return "", exitErrorf(exitInput, "read document: %s is not UTF-8 text", path)
	case len(bytes.TrimSpace(text)) == 0:
		return "", exitErrorf(exitInput, "read document: %s is blank", path)
	}
	return string(text), nil
}

// isPlace reports whether a path below a folder can be the name of a document.
func isPlace(place string) bool {
	return place != "" && len(place) <= maxPlace && strings.TrimSpace(place) == place && utf8.ValidString(place) &&
		!strings.ContainsFunc(place, func(r rune) bool { return !unicode.IsPrint(r) })
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// inputDocument returns the document that standard input holds. Its name says whether it is a diff.
func (p *program) inputDocument() (*document, error) {
	b, err := p.readInput("--docs -")
	if err != nil {
		return nil, err
	}
	text, ok := decodeText(b)
	switch {
	case !ok:
		return nil, exitErrorf(exitInput, "--docs -: read document: standard input is not UTF-8 text")
	case len(bytes.TrimSpace(text)) == 0:
		return nil, exitErrorf(exitInput, "--docs -: read document: standard input is blank")
	}
	d := &document{text: string(text), place: "stdin", readers: []string{evidence.Everybody}, named: true}
	if len(diffFiles(d.text)) > 0 || bytes.HasPrefix(b, []byte("diff ")) {
		d.place = "stdin.diff"
	}
	return d, nil
}
