//go:build unix

package main

import (
	"bytes"
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
	switch err {
	case nil:
	case unix.ELOOP, unix.EMLINK: // what systems say of a link
		return fs.ModeSymlink, nil
	case unix.ENXIO, unix.EOPNOTSUPP: // a socket
		return fs.ModeSocket, nil
	default:
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
	for int64(to.Len()) < most {
		room := min(max(info.Size-int64(to.Len()), 0)+1, most-int64(to.Len())) // one byte more shows that the file has ended
		to.Grow(int(room))
		into := to.AvailableBuffer()[:room]
		n, err := uninterrupted(func() (int, error) { return unix.Read(fd, into) })
		if err != nil {
			return 0, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		to.Write(into[:n])
		if n < len(into) {
			break
		}
	}
	return 0, nil
}

// uninterrupted repeats a call of the system that a signal has interrupted.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
