//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// An openedFolder gives its files by their names. In a repository with many files, a debate begins later by the time that each
// of them takes, so load asks the system for nothing that it does not need.
type openedFolder struct {
	file *os.File
	fd   int
}

// openFolder opens a folder below another one.
func openFolder(top *os.Root, place string) (*openedFolder, error) {
	file, err := top.Open(place)
	if err != nil {
		return nil, err
	}
	return &openedFolder{file, int(file.Fd())}, nil
}

func (f *openedFolder) close() { _ = f.file.Close() } // it is only read

// load reads at most that many bytes of a file to a buffer, and returns which kind of file it is. It reads regular files alone, and
// follows no link.
func (f *openedFolder) load(name string, to *bytes.Buffer, most int64) (fs.FileMode, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := uninterrupted(func() (int, error) { return unix.Openat(f.fd, name, flags, 0) })
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK): // what systems say of a link
		return fs.ModeSymlink, nil
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.EOPNOTSUPP): // a socket
		return fs.ModeSocket, nil
	case err != nil:
		return 0, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd) //nolint:errcheck // it is only read
	var info unix.Stat_t
	_, err = uninterrupted(func() (int, error) { return 0, unix.Fstat(fd, &info) })
	if err != nil {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return fs.ModeIrregular, nil
	}
	return 0, readTo(to, fd, name, info.Size, most)
}

// readTo reads at most that many bytes of an open file, which had the given size when it was opened.
func readTo(to *bytes.Buffer, fd int, name string, size, most int64) error {
	for int64(to.Len()) < most {
		room := max(size-int64(to.Len())+1, bytes.MinRead) // one byte more than the file has shows that it ends
		room = min(room, most-int64(to.Len()))
		to.Grow(int(room))
		into := to.AvailableBuffer()[:room]
		n, err := uninterrupted(func() (int, error) { return unix.Read(fd, into) })
		if err != nil {
			return &fs.PathError{Op: "read", Path: name, Err: err}
		}
		to.Write(into[:n])
		hasEnded := n == 0 || n < len(into) && int64(to.Len()) >= size
		if hasEnded {
			return nil
		}
	}
	return nil
}

// uninterrupted repeats a call of the system that a signal has interrupted.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
