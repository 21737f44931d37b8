package prompts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// funcs are the functions for templates, in addition to those of text/template.
var funcs = template.FuncMap{"join": join, "sorted": sorted}

// join joins strings with separator, and the last two with last.
func join(list []string, separator, last string) string {
	n := len(list) - 1
	if n < 1 {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:n], separator) + last + list[n]
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render executes a template and tidies the result.
func render(t *template.Template, data any) (string, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := t.Execute(b, data); err != nil {
		return "", fmt.Errorf("render prompt: %w", err)
	}
	return string(tidy(b.Bytes())), nil
}

// tidy removes spaces at line ends, blank lines at both ends, and all but one of several blank lines in a row. It works in
// place.
func tidy(text []byte) []byte {
	out := text[:0]
	blank := true
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		if blank && len(line) == 0 {
			continue
		}
		blank = len(line) == 0
		out = append(append(out, line...), '\n')
	}
	return bytes.TrimRight(out, "\n")
}
