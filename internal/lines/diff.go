package lines

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// IsDiff reports whether a document with this name holds a diff.
func IsDiff(name string) bool {
	end := strings.ToLower(path.Ext(name))
	return end == ".diff" || end == ".patch"
}

// hunk matches the line that begins a part of a unified diff.
var hunk = regexp.MustCompile(`^@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@`)

// diff is the place in a unified diff that its lines have led to.
type diff struct {
	oldFile, newFile string
	oldLine, newLine int // of the next line
	oldLeft, newLeft int // lines of the hunk that are still to come
}

// InDiff returns where a range of lines of a unified diff stands in the changed file: the path and the first and the last line, from 1. A
// removed line stands where the next one is now, and in a removed file where it was. file is empty if the range has no line of a file.
func InDiff(text string, first, last int) (file string, from, to int) {
	var d diff
	n := 0
	for line := range strings.Lines(text) {
		n++
		if n > last {
			break
		}
		at, inHunk := d.next(strings.TrimRight(line, "\r\n"))
		if n < first || !inHunk {
			continue
		}
		if file == "" {
			file = d.file()
			from = at
		}
		if file == d.file() {
			to = at
		}
	}
	return file, from, to
}

// next reads a line. It returns the line of the file, if it is one.
func (d *diff) next(line string) (at int, inHunk bool) {
	if d.oldLeft <= 0 && d.newLeft <= 0 {
		d.header(line)
		return 0, false
	}
	at = d.newLine
	if d.newFile == "" {
		at = d.oldLine
	}
	kind := byte(' ')
	if line != "" {
		kind = line[0]
	}
	switch kind {
	case '+':
		d.newLine++
		d.newLeft--
	case '-':
		d.oldLine++
		d.oldLeft--
	case '\\': // no line break at the end of the file
		return 0, false
	default:
		d.newLine++
		d.newLeft--
		d.oldLine++
		d.oldLeft--
	}
	return max(at, 1), true
}

// header reads a line between hunks.
func (d *diff) header(line string) {
	if name, ok := strings.CutPrefix(line, "--- "); ok {
		d.oldFile = filePath(name, "a/")
		return
	}
	if name, ok := strings.CutPrefix(line, "+++ "); ok {
		d.newFile = filePath(name, "b/")
		return
	}
	found := hunk.FindStringSubmatch(line)
	if found == nil {
		return
	}
	d.oldLine = number(found[1], 0)
	d.oldLeft = number(found[2], 1)
	d.newLine = number(found[3], 0)
	d.newLeft = number(found[4], 1)
}

// file returns the path of the changed file.
func (d *diff) file() string {
	if d.newFile == "" {
		return d.oldFile
	}
	return d.newFile
}

// filePath returns the path in a header, which Git may quote, or "" if there is no file.
func filePath(name, prefix string) string {
	name, _, _ = strings.Cut(name, "\t")
	plain, err := strconv.Unquote(name)
	if err == nil && !strings.ContainsFunc(plain, unicode.IsControl) {
		name = plain
	}
	if name == "/dev/null" {
		return ""
	}
	return strings.TrimPrefix(name, prefix)
}

// number returns a number of a header, or another one if it is left out or too large.
func number(digits string, otherwise int) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return otherwise
	}
	return n
}
