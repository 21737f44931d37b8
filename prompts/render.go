package prompts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// funcs are what templates may call besides the functions of text/template.
var funcs = template.FuncMap{"join": join, "sorted": sorted}

func join(list []string, separator, last string) string {
	n := len(list) - 1
	if n < 1 {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:n], separator) + last + list[n]
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func render(t *template.Template, data any) (string, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := t.Execute(b, data); err != nil {
		return "", fmt.Errorf("render prompt: %w", err)
	}
	return string(tidy(b.Bytes())), nil
}

// tidy drops blanks at line ends, and blank lines at both ends and after another one. It works in place.
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
