package main

import (
	"errors"
	"io/fs"
	"os"
)

// fileExists reports whether a file exists.
func fileExists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // the user names the file
	return !errors.Is(err, fs.ErrNotExist)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
