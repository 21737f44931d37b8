package printer

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"unicode"
)

// SafeWriter removes control characters, except newlines and tabs, and characters that change the direction of text.
// Use it to write text from users, models or services, which might otherwise control the terminal.
type SafeWriter struct{ io.Writer }

// Write implements io.Writer.
func (w SafeWriter) Write(b []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.Map(safe, b)); err != nil {
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

// safe returns a character, or -1 if it could control a terminal.
func safe(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}

// clean returns a text without what could control a terminal.
func clean(text string) string { return strings.ReplaceAll(strings.Map(safe, text), "\t", "    ") }

// oneLine returns a text on one line, without what could control a terminal.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// maxQuote limits what waits for the end of a quote, in bytes.
const maxQuote = 8 << 10

// beforeOpenQuote returns the length of the part of a text before a quote that has begun and not ended. The rest waits for its end,
// because a reader sees a quote with its source and not the tags of a model.
func beforeOpenQuote(text string) int {
	const begin, end = "<quote", "</quote>"
	at := strings.LastIndex(text, begin)
	if at >= 0 && len(text)-at < maxQuote && !strings.Contains(text[at:], end) {
		return at
	}
	at = strings.LastIndexByte(text, '<')
	if at >= 0 && strings.HasPrefix(begin, text[at:]) {
		return at
	}
	return len(text)
}
