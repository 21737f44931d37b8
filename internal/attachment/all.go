package attachment

import (
	"fmt"
	"strings"
	"unicode"
)

// The limits of the attachments of a debate.
const (
	maxFiles   = 20
	maxAllData = 12 << 20 // bytes of all
	maxName    = 128      // bytes
)

// Named is a file with its name, and the names of those who see it.
type Named struct {
	File

	Name    string
	Readers []string
}

// CheckAll returns what is wrong with the attachments of a debate. The fields begin with an index, except those that concern
// all. isSeat reports whether a participant or a judge has a name.
func CheckAll(files []Named, isSeat func(name string) bool) []Problem {
	var l list
	all, seen := 0, map[string]bool{}
	for i := range files {
		f, field := &files[i], fmt.Sprintf("[%d]", i)
		if f.Name == "" || len(f.Name) > maxName || strings.TrimSpace(f.Name) != f.Name || strings.ContainsFunc(f.Name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) {
			l.add(field+".name", "%q is not valid, use 1 to 128 bytes without '/', control characters, and blanks at its ends", f.Name[:min(len(f.Name), maxName)])
		} else if seen[f.Name] {
			l.add(field+".name", "%q is the name of two attachments", f.Name)
		}
		seen[f.Name] = true
		for _, p := range f.Check() {
			l.add(field+p.Field, "%s", p.Reason)
		}
		for _, name := range f.Readers {
			if !isSeat(name) {
				l.add(field+".readers", "%q is neither a participant nor a judge", name)
			}
		}
		all += len(f.Data)
	}
	if all > maxAllData {
		l.add("", "they have %d bytes, use at most %d for all, because each prompt contains them", all, maxAllData)
	}
	if n := len(files); n > maxFiles {
		l.add("", "%d are too many, use at most %d", n, maxFiles)
	}
	return l
}
