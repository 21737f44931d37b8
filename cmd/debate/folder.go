package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/elenchus-go/debate/evidence/extract"
)

// readFolder reads the documents of a folder. In a Git work tree, they are the files that Git sees, and their places are relative to
// its top folder, the base.
func (l *library) readFolder(ctx context.Context, r *extract.Reader, s source, top string) (list []*document, base string, err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, "", exitErrorf(exitInput, "read documents: %w", err)
	}
	defer root.Close() //nolint:errcheck // it is only read
	f := folderReader{root: root, reader: r, top: top}
	base = worktreeOf(top)
	if base != "" {
		f.tree = &worktree{}
		*f.tree, err = readWorktree(ctx, top)
	}
	if err == nil && (f.tree == nil || len(f.tree.files) == 0) { // a folder that Git ignores as a whole is read as any other
		f.tree = nil
		base = ""
		err = f.walk()
	}
	if err != nil {
		return nil, "", err
	}
	if f.tree != nil {
		f.places = f.tree.files
		l.leftOut[isIgnored] = append(l.leftOut[isIgnored], f.tree.ignored...)
		if len(f.tree.ignored) == 0 {
			delete(l.leftOut, isIgnored)
		}
	}
	for i, x := range f.readAll(ctx) {
		switch {
		case x.err != nil:
			return nil, "", x.err
		case x.why != "":
			l.leftOut[x.why] = append(l.leftOut[x.why], f.places[i])
		default:
			path := filepath.Join(top, filepath.FromSlash(f.places[i]))
			list = append(list, &document{path: path, text: x.text, hash: x.hash, readers: s.readers})
		}
	}
	if len(list) == 0 {
		return nil, "", exitErrorf(exitInput, "read documents: %s has no documents, want files with text%s", s.path, l.leftOut.summary())
	}
	return list, base, nil
}

// folderReader reads the documents of a folder.
type folderReader struct {
	root   *os.Root // refuses what is not below it
	reader *extract.Reader
	top    string
	tree   *worktree // nil if it is no Git work tree
	places []string  // of files below it, with slashes
}

// walk lists the files of a folder that is no Git work tree, without hidden ones. It follows no links.
func (f *folderReader) walk() error {
	err := fs.WalkDir(f.root.FS(), ".", func(place string, e fs.DirEntry, err error) error {
		hidden := place != "." && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case e.IsDir() && hidden:
			return fs.SkipDir
		case !e.IsDir() && !hidden:
			f.places = append(f.places, place)
		}
		return nil
	})
	if err != nil {
		return exitErrorf(exitInput, "read documents: %w", err)
	}
	return nil
}

// A folderRoom holds the bytes of the file that is being read, and the texts of those that were.
type folderRoom struct {
	data  bytes.Buffer
	texts textRoom
}

// fileText holds the text of a file with its SHA-256, or the reason why it is no document.
type fileText struct {
	text string
	hash string
	why  reason
	err  error
}

// readAll reads the files, those of several folders at the same time.
func (f *folderReader) readAll(ctx context.Context) []fileText {
	list := make([]fileText, len(f.places))
	next := make(chan [2]int) // the first file of a folder, and the first that is not in it
	var workers sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var room folderRoom
			for files := range next {
				f.readSome(ctx, f.places[files[0]:files[1]], list[files[0]:files[1]], &room)
			}
		})
	}
	for start := 0; start < len(f.places); {
		end := start + 1
		for end < len(f.places) && folderOf(f.places[end]) == folderOf(f.places[start]) {
			end++
		}
		next <- [2]int{start, end}
		start = end
	}
	close(next)
	workers.Wait()
	return list
}

// readSome reads files of one folder. It opens the folder once, because to open each file from the top folder takes longer.
func (f *folderReader) readSome(ctx context.Context, places []string, to []fileText, room *folderRoom) {
	in, err := openFolder(f.root, filepath.FromSlash(folderOf(places[0])))
	if err == nil {
		defer in.close()
	}
	for i, place := range places {
		to[i].why = f.unwanted(place)
		switch {
		case to[i].why != "":
		case isMissing(err):
			to[i].why = isGone
		case err != nil:
			to[i].err = f.refuse(place, err)
		default:
			to[i] = f.read(ctx, in, place, room)
		}
	}
}

// folderOf returns the folder that has a place. Git lists a repository within this one with a slash at the end.
func folderOf(place string) string { return path.Dir(strings.TrimSuffix(place, "/")) }

// unwanted returns why a file is no document, as far as its place tells.
func (f *folderReader) unwanted(place string) reason {
	switch {
	case f.tree != nil && f.tree.unwanted(place) != "":
		return f.tree.unwanted(place)
	case !isPlace(place):
		return isUnnamed
	}
	return ""
}

// read reads a file of an open folder, if it is a document.
func (f *folderReader) read(ctx context.Context, in *openedFolder, place string, room *folderRoom) (c fileText) {
	local := filepath.FromSlash(strings.TrimSuffix(place, "/"))
	most := int64(maxFolderFile)
	if isExtracted(place) {
		most = extract.MaxSize
	}
	room.data.Reset()
	kind, err := in.load(filepath.Base(local), &room.data, most+1)
	switch {
	case isMissing(err):
		c.why = isGone
	case err != nil:
		c.err = f.refuse(place, err)
	case kind&fs.ModeSymlink != 0:
		c.why, c.err = f.readLink(local, place)
	case kind != 0: // such as a repository within this one
		c.why = isOther
	case int64(room.data.Len()) > most && most == maxFolderFile:
		c.why = isLarge
	default:
		return f.examine(ctx, place, room)
	}
	return c
}

// readLink returns why a symbolic link is no document: what it leads to has a name of its own. A link out of the folder is an error,
// because whoever made it could have the debate read any file.
func (f *folderReader) readLink(local, place string) (reason, error) {
	_, err := f.root.Stat(local)
	if err == nil || isMissing(err) || errors.Is(err, syscall.ELOOP) {
		return isLink, nil
	}
	return "", exitErrorf(exitInput,
		"read documents: %s is a symbolic link that leaves %s; remove it, or mark it with %s in .gitattributes", printableLine(place),
		f.top, vendoredAttribute)
}

// refuse returns the error for a file that cannot be read, such as one below a link that leaves the folder.
func (f *folderReader) refuse(place string, err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		err = failure.Err
	}
	return exitErrorf(exitInput, "read documents: %s in %s: %w", printableLine(place), f.top, err)
}

// examine returns the text that a file holds, or why it is no document.
func (f *folderReader) examine(ctx context.Context, place string, room *folderRoom) fileText {
	read := f.textOf
	if isExtracted(place) {
		read = f.extract
	}
	text, why, err := read(ctx, place, room.data.Bytes())
	if why != "" || err != nil {
		return fileText{why: why, err: err}
	}
	sum := sha256.Sum256(text)
	var digits [2 * sha256.Size]byte
	hex.Encode(digits[:], sum[:])
	return fileText{text: room.texts.keep(text), hash: room.texts.keep(digits[:])}
}

// extract returns the text of a file such as a PDF, or why it is no document.
func (f *folderReader) extract(ctx context.Context, place string, data []byte) ([]byte, reason, error) {
	text, err := f.reader.Text(ctx, path.Base(place), data)
	switch {
	case err != nil && f.tree != nil: // such as the file of a test
		return nil, isBinary, nil
	case err != nil:
		return nil, "", exitErrorf(exitInput, "read document %s: %w", filepath.Join(f.top, filepath.FromSlash(place)), err)
	}
	return []byte(text), "", nil
}

// textOf returns the text that a file holds as it is, or why it is no document.
func (f *folderReader) textOf(_ context.Context, place string, data []byte) ([]byte, reason, error) {
	text, ok := decodeText(data)
	switch {
	case !ok:
		return nil, isBinary, nil
	case len(bytes.TrimSpace(text)) == 0:
		return nil, isBlank, nil
	case f.tree != nil && f.tree.saysItIsGenerated(place, text):
		return nil, isGenerated, nil
	}
	return text, "", nil
}
