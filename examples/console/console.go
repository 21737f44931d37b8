// Package console contains what the examples share: their flags, their exit codes, and the display of a debate. It may
// change with any version.
package console

import (
	"bytes"
	"io"
	"io/fs"
	"unicode"
)

// SafeWriter removes control characters, except newlines and tabs, and characters that change the direction of text.
// Use it to write text from users, models or services, which might otherwise control the terminal.
type SafeWriter struct{ io.Writer }

// Write implements io.Writer.
func (p SafeWriter) Write(b []byte) (int, error) {
	text := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, b)
	if _, err := p.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// IsTerminal reports whether a file, such as os.Stdin or os.Stderr, is a terminal.
func IsTerminal(file any) bool {
	f, ok := file.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
