// Package extract returns the text of documents: PDF, HTML and DOCX.
//
//	var r extract.Reader
//	defer r.Close()
//	text, err := r.Text(ctx, "report.pdf", data)
//
// Files from others are not trusted. PDFium reads PDF files within WebAssembly, with limited memory, no files and no network.
// The limits of sizes and times, and what a library panics with, become errors.
package extract

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
)

// Reader reads documents. It is safe for concurrent use. The zero value has the defaults.
type Reader struct {
	// Timeout limits the time for a document. Defaults to 2 minutes.
	Timeout time.Duration
	// Cache is a folder that keeps the compiled PDFium, which takes some seconds to compile. Defaults to none: each Reader
	// compiles it before the first PDF.
	Cache string

	pdf pdfReader
}

// formats has a function for each ending of a file's name.
var formats = map[string]func(ctx context.Context, r *Reader, data []byte) (string, error){
	".pdf": func(ctx context.Context, r *Reader, data []byte) (string, error) {
		return r.pdf.read(ctx, r.Cache, data)
	},
	".docx": func(ctx context.Context, _ *Reader, data []byte) (string, error) { return readDOCX(ctx, data) },
	".html": fromHTML, ".htm": fromHTML, ".xhtml": fromHTML,
}

func fromHTML(_ context.Context, _ *Reader, data []byte) (string, error) { return readHTML(data) }

// Endings returns the endings of the names of files that Text reads, in lower case, such as ".pdf".
func Endings() []string { return []string{".docx", ".htm", ".html", ".pdf", ".xhtml"} }

// Text returns the text of a file as valid UTF-8, without control characters except tabs and line breaks. The ending of the
// name chooses the format. The error names the file and says what is wrong. It is [ErrNoText] if there is nothing to read.
//
// A Reader reads one PDF after another. Reading stops when ctx or the time ends. Reading of another format may go on for a
// while after Text has returned.
func (r *Reader) Text(ctx context.Context, name string, data []byte) (string, error) {
	ending := strings.ToLower(path.Ext(name))
	read := formats[ending]
	switch {
	case read == nil:
		return "", fmt.Errorf("read %s: %q is no known format, use one of %s", name, ending, strings.Join(Endings(), ", "))
	case len(data) > MaxSize:
		return "", fmt.Errorf("read %s: it has %d bytes, use at most %d", name, len(data), MaxSize)
	case len(data) == 0:
		return "", fmt.Errorf("read %s: %w", name, ErrNoText)
	}
	limit := r.Timeout
	if limit <= 0 {
		limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it takes longer than %v", limit))
	defer cancel()
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("the library ended its goroutine")}
		defer func() {
			if v := recover(); v != nil {
				o.err = fmt.Errorf("the file is malformed: the library panicked: %v", v)
			}
			done <- o
		}()
		text, err := read(ctx, r, data)
		o = outcome{text, err}
	}()
	select {
	case o := <-done:
		if o.err == nil {
			o.text, o.err = clean(o.text)
		}
		if cause := context.Cause(ctx); o.err != nil && cause != nil {
			o.err = cause
		}
		if o.err != nil {
			return "", fmt.Errorf("read %s: %w", name, o.err)
		}
		return o.text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("read %s: %w", name, context.Cause(ctx))
	}
}

// Close frees what the Reader needs to read PDF files. It waits for calls of Text that read one.
func (r *Reader) Close() error { return r.pdf.close() }

// clean returns a text as Text describes.
func clean(text string) (string, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n", "\v", "\n", "\u00a0", " ").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", ErrNoText
	case len(text) > MaxText:
		return "", tooLong()
	}
	return text, nil
}
