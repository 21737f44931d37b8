package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/evidence/quote"
)

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
		for _, d := range found {
			if seen[d.path] {
				return nil, exitErrorf(exitInput, "read documents: %s is named twice", d.path)
			}
			seen[d.path] = true
			size += len(d.text)
			if size > maxAllDocuments {
				return nil, exitErrorf(exitInput,
					"%s: read document %s: with it, the texts have more than %d bytes; name fewer files", s.from, d.path, maxAllDocuments)
			}
			at := base
			if at == "" {
				at = filepath.Dir(d.path)
			}
			bases = append(bases, at)
		}
		l.documents = append(l.documents, found...)
	}
	if err := l.setPlaces(bases); err != nil {
		return nil, err
	}
	slices.SortFunc(l.documents, func(a, b *document) int { return cmp.Compare(a.place, b.place) })
	return l, nil
}

// readSource reads the documents of a source. If it is code in a Git work tree, their places are relative to the base, which is the top
// folder of the work tree.
func (l *library) readSource(ctx context.Context, r *extract.Reader, s source) (list []*document, base string, err error) {
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
		list = []*document{{path: top, text: text, readers: s.readers, named: true}}
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", s.from, err)
	}
	return list, base, nil
}

// setPlaces sets the places of documents below the deepest folder that contains all bases.
func (l *library) setPlaces(bases []string) error {
	for i, at := range bases {
		if i == 0 {
			l.folder = at
		} else if at == bases[i-1] {
			continue
		}
		for !within(at, l.folder) {
			if l.folder == filepath.Dir(l.folder) {
				return exitErrorf(exitInput, "read documents: %s and %s have no folder in common", l.documents[0].path, l.documents[i].path)
			}
			l.folder = filepath.Dir(l.folder)
		}
	}
	const separator = string(filepath.Separator)
	folder := strings.TrimSuffix(l.folder, separator) + separator
	for _, d := range l.documents {
		below, isBelow := strings.CutPrefix(d.path, folder)
		if !isBelow {
			return exitErrorf(exitInput, "read document %s: it is not below %s", d.path, l.folder)
		}
		d.place = filepath.ToSlash(below)
		if !isPlace(d.place) || d.isPrivate() && len(d.place) > maxDocumentName {
			return exitErrorf(exitInput,
				"read document: %q is no valid name, use at most %d bytes, without control characters and blanks at its ends", d.place,
				maxDocumentName)
		}
	}
	return nil
}
