package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// checkFiles creates the folders of the output and the reports, and returns an error if it cannot write one of these
// files. It runs before the debate, so that an error costs nothing.
func (p *program) checkFiles() error {
	for _, path := range append([]string{p.output, p.audit.records, p.sarif}, p.reports...) {
		if path == "" {
			continue
		}
		if err := checkFile(path); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// checkFile returns an error if a file cannot be written. It does not change an existing file.
func checkFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	existed := fileExists(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil || existed {
		return err
	}
	return os.Remove(path)
}

// createPrivate creates an empty file that only its owner can read and write, unless there is one. SQLite gives the files
// next to a database the mode of the database.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create folder of %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if _, statErr := os.Stat(path); statErr != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return nil
}

// makePrivate ensures that only its owner can read and write an open database, and the files next to it.
func (p *program) makePrivate(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(file, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.warnf("other users can access %s: %v", path, err)
			return
		}
	}
	p.warnf("other users could access %s; its mode is 0600 now", path)
}

func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.WriteFile(path, b, 0o600)
}

// encodeJSON returns the JSON of a value. It escapes control characters and characters that change the direction of text,
// which could otherwise control a terminal.
func encodeJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	var out bytes.Buffer
	for _, r := range strings.ReplaceAll(string(b), "##[", `#\u0023[`) { // which could control GitHub Actions
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
