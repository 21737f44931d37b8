// Package console is how the examples write what models said.
package console

import (
	"bytes"
	"io"
	"io/fs"
	"unicode"
)

// SafeWriter drops from all that is written to it what could command a terminal or reorder its text: topics, models and
// services are not to be trusted with it.
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

// IsTerminal says whether w is a terminal, so that somebody reads along.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}
