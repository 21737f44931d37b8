package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/evidence/quote"
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
	documents []document
	folder    string // contains all files
	leftOut   leftOut
}

// readSources reads the documents in files and folders.
func readSources(ctx context.Context, r *extract.Reader, list []source) (*library, error) {
	l := &library{leftOut: leftOut{}}
	seen := map[string]bool{}
	size := 0
	var bases []string // the folders to which places are relative, as long as there is one for all
	for _, s := range list {
		found, base, err := l.readSource(ctx, r, s)
		if err != nil {
			return nil, err
		}
		for i := range found {
			d := &found[i]
			if seen[d.path] {
				return nil, exitErrorf(exitInput, "read documents: %s is named twice", d.path)
			}
			seen[d.path] = true
			size += len(d.text)
			if size > maxAllDocuments {
				return nil, exitErrorf(exitInput,
					"%s: read document %s: with it, the texts have more than %d bytes; name fewer files", s.from, d.path, maxAllDocuments)
			}
			bases = append(bases, cmp.Or(base, filepath.Dir(d.path)))
		}
		l.documents = append(l.documents, found...)
	}
	if err := l.setPlaces(bases); err != nil {
		return nil, err
	}
	slices.SortFunc(l.documents, func(a, b document) int { return cmp.Compare(a.place, b.place) })
	return l, nil
}

// readSource reads the documents of a source. If it is code in a Git work tree, their places are relative to the base, which is the top
// folder of the work tree.
func (l *library) readSource(ctx context.Context, r *extract.Reader, s source) (list []document, base string, err error) {
	top, err := filepath.Abs(s.path)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", s.from, err)
	}
	info, err := os.Stat(top)
	switch {
	case isMissing(err):
		return nil, "", exitErrorf(exitInput, "%s: read documents: %s does not exist, want a file or a folder", s.from, s.path)
	case err != nil:
		return nil, "", exitErrorf(exitInput, "%s: read documents: %w", s.from, err)
	case info.IsDir():
		list, base, err = l.readFolder(ctx, r, s, top)
	default:
		var text string
		text, err = readDocument(ctx, r, top)
		if quote.IsCode(top) {
			base = worktreeOf(filepath.Dir(top))
		}
		list = []document{{path: top, text: text, readers: s.readers, named: true}}
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", s.from, err)
	}
	return list, base, nil
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
	case strings.TrimSpace(text) == "":
		return "", exitErrorf(exitInput, "read document: %s is blank", path)
	}
	return text, nil
}

// isPlace reports whether a path below a folder can be the name of a document.
func isPlace(place string) bool {
	return place != "" && len(place) <= maxPlace && strings.TrimSpace(place) == place && utf8.ValidString(place) &&
		!strings.ContainsFunc(place, func(r rune) bool { return !unicode.IsPrint(r) })
}

// setPlaces sets the places of documents below the deepest folder that contains all bases.
func (l *library) setPlaces(bases []string) error {
	for i, at := range bases {
		if i == 0 {
			l.folder = at
		}
		for !within(at, l.folder) {
			if l.folder == filepath.Dir(l.folder) {
				return exitErrorf(exitInput, "read documents: %s and %s have no folder in common", l.documents[0].path, l.documents[i].path)
			}
			l.folder = filepath.Dir(l.folder)
		}
	}
	for i := range l.documents {
		d := &l.documents[i]
		below, err := filepath.Rel(l.folder, d.path)
		if err != nil {
			return exitErrorf(exitInput, "read document %s: %w", d.path, err)
		}
		d.place = filepath.ToSlash(below)
		if !isPlace(d.place) || d.isPrivate() && len(d.place) > maxDocumentName {
			return exitErrorf(exitInput,
				"read document: %q is no valid name, use at most %d bytes, without control characters and blanks at its ends", d.place, maxDocumentName)
		}
	}
	return nil
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}

// inputDocument returns the document that standard input holds. Its name says whether it is a diff.
func (p *program) inputDocument() (document, error) {
	b, err := p.readInput("--docs -")
	if err != nil {
		return document{}, err
	}
	text, ok := decodeText(b)
	switch {
	case !ok:
		return document{}, exitErrorf(exitInput, "--docs -: read document: standard input is not UTF-8 text")
	case strings.TrimSpace(text) == "":
		return document{}, exitErrorf(exitInput, "--docs -: read document: standard input is blank")
	}
	d := document{text: text, place: "stdin", readers: []string{evidence.Everybody}, named: true}
	if len(diffFiles(text)) > 0 || bytes.HasPrefix(b, []byte("diff ")) {
		d.place = "stdin.diff"
	}
	return d, nil
}
