//go:build !unix

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
)

// An openedFolder gives its files by their names.
type openedFolder struct{ root *os.Root }

// openFolder opens a folder below another one.
func openFolder(top *os.Root, place string) (*openedFolder, error) {
	root, err := top.OpenRoot(place)
	if err != nil {
		return nil, err
	}
	return &openedFolder{root}, nil
}

func (f *openedFolder) close() { _ = f.root.Close() } // it is only read

// load reads at most that many bytes of a file to a buffer, and returns which kind of file it is. It reads regular files alone, and
// follows no link.
func (f *openedFolder) load(name string, to *bytes.Buffer, most int64) (fs.FileMode, error) {
	info, err := f.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return kindOf(info), err
	}
	file, err := f.root.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	_, err = to.ReadFrom(io.LimitReader(file, most))
	return 0, err
}

// kindOf returns the kind of a file, or of none.
func kindOf(info fs.FileInfo) fs.FileMode {
	if info == nil {
		return 0
	}
	return info.Mode().Type()
}
