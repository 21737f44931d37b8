package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// document is a file that a debate reads.
type document struct {
	path, text string
	place      string // its path below the folder of all documents of the debate, with slashes
	readers    []string
}

// name returns the name of the document in the debate, which has no slashes.
func (d *document) name() string { return strings.ReplaceAll(d.place, "/", ":") }

// isPrivate reports whether the debate is stored without the text.
func (d *document) isPrivate() bool { return !slices.Equal(d.readers, []string{evidence.Everybody}) }

// textFiles are the endings of files that are read as they are.
var textFiles = []string{".adoc", ".csv", ".json", ".log", ".markdown", ".md", ".org", ".rst", ".tex", ".tsv", ".txt", ".xml", ".yaml", ".yml"}

// The limits of documents.
const (
	maxDocumentName = 128      // bytes
	maxAllDocuments = 64 << 20 // bytes of all texts
)

// readSources returns the documents in files and folders, by their places, the folder that contains all, and the files that
// are left out because they are no documents.
func readSources(ctx context.Context, r *extract.Reader, list []source) (documents []document, folder string, leftOut []string, err error) {
	seen := map[string]bool{}
	size := 0
	for _, s := range list {
		files, others, err := listFiles(s)
		if err != nil {
			return nil, "", nil, err
		}
		leftOut = append(leftOut, others...)
		for _, path := range files {
			if seen[path] {
				return nil, "", nil, exitErrorf(exitInput, "read documents: %s is named twice", path)
			}
			seen[path] = true
			text, err := readDocument(ctx, r, path)
			if err != nil {
				return nil, "", nil, fmt.Errorf("%s: %w", s.from, err)
			}
			if size += len(text); size > maxAllDocuments {
				return nil, "", nil, exitErrorf(exitInput,
					"%s: read document %s: with it, the texts have more than %d bytes; name fewer files", s.from, path, maxAllDocuments)
			}
			documents = append(documents, document{path: path, text: text, readers: s.readers})
		}
	}
	if folder, err = setPlaces(documents); err != nil {
		return nil, "", nil, err
	}
	slices.SortFunc(documents, func(a, b document) int { return cmp.Compare(a.place, b.place) })
	return documents, folder, leftOut, nil
}

// joinFirst returns the first texts of a list, and the number of the others.
func joinFirst(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// listFiles returns the absolute paths of the documents of a source, and the other files in its folder. It follows no links
// in a folder, because they may lead out of it.
func listFiles(s source) (files, others []string, err error) {
	top, err := filepath.Abs(s.path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.from, err)
	}
	info, err := os.Stat(top)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, exitErrorf(exitInput, "%s: read documents: %s does not exist, want a file or a folder", s.from, s.path)
	case err != nil:
		return nil, nil, exitErrorf(exitInput, "%s: read documents: %w", s.from, err)
	case !info.IsDir():
		return []string{top}, nil, nil
	}
	err = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		hidden := path != top && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case e.IsDir() && hidden:
			return fs.SkipDir
		case e.IsDir() || hidden:
		case e.Type().IsRegular() && isDocument(path):
			files = append(files, path)
		default:
			others = append(others, path)
		}
		return nil
	})
	if err != nil {
		return nil, nil, exitErrorf(exitInput, "%s: read documents: %w", s.from, err)
	}
	if len(files) == 0 {
		return nil, nil, exitErrorf(exitInput,
			"%s: read documents: %s has no documents, want files that end with %s", s.from, s.path, strings.Join(documentEndings(), ", "))
	}
	return files, others, nil
}

// documentEndings returns the endings of the files that are documents in a folder.
func documentEndings() []string {
	return slices.Sorted(slices.Values(slices.Concat(textFiles, extract.Endings())))
}

func isDocument(path string) bool {
	return slices.Contains(documentEndings(), strings.ToLower(filepath.Ext(path)))
}

// readDocument returns the text of a file.
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
	if !slices.Contains(extract.Endings(), strings.ToLower(filepath.Ext(path))) {
		return readText("document", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", exitErrorf(exitInput, "read document: %w", err)
	}
	text, err := r.Text(ctx, filepath.Base(path), data)
	if err != nil {
		return "", exitErrorf(exitInput, "read document %s: %w", path, err)
	}
	return text, nil
}

// setPlaces sets the places of documents below the deepest folder that contains all, and returns that folder.
func setPlaces(list []document) (folder string, err error) {
	for i := range list {
		at := filepath.Dir(list[i].path)
		if i == 0 {
			folder = at
		}
		for !within(at, folder) {
			if folder == filepath.Dir(folder) {
				return "", exitErrorf(exitInput, "read documents: %s and %s have no folder in common", list[0].path, list[i].path)
			}
			folder = filepath.Dir(folder)
		}
	}
	for i := range list {
		d := &list[i]
		below, err := filepath.Rel(folder, d.path)
		if err != nil {
			return "", exitErrorf(exitInput, "read document %s: %w", d.path, err)
		}
		d.place = filepath.ToSlash(below)
		if len(d.place) > maxDocumentName || strings.TrimSpace(d.place) != d.place || !utf8.ValidString(d.place) || strings.ContainsFunc(d.place, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return "", exitErrorf(exitInput,
				"read document: %q is no valid name, use at most %d bytes, without control characters and blanks at its ends", d.place, maxDocumentName)
		}
	}
	return folder, nil
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(below)
}
