package main

import (
	"strconv"
	"strings"
)

// diffFiles returns the paths of the files that a unified diff changes, in their order. It returns nil for any other text.
func diffFiles(text string) (list []string) {
	seen := map[string]bool{"": true}
	before := "" // the path in the line before, if that was the first of two that name a file
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "--- "):
			before = diffPath(line[4:])
			continue
		case strings.HasPrefix(line, "+++ ") && before != "":
			for _, path := range []string{diffPath(line[4:]), before} {
				if path != devNull && !seen[path] {
					seen[path] = true
					list = append(list, path)
					break
				}
			}
		}
		before = ""
	}
	return list
}

// devNull stands in a diff for a file that is new or deleted.
const devNull = "/dev/null"

// diffPath returns the path that a line of a diff names, without the prefix that Git puts before it, and without a time behind it.
func diffPath(text string) string {
	text, _, _ = strings.Cut(text, "\t")
	plain, err := strconv.Unquote(text)
	if err == nil {
		text = plain
	}
	for _, prefix := range []string{"a/", "b/", "i/", "w/", "c/", "o/"} {
		rest, found := strings.CutPrefix(text, prefix)
		if found {
			return rest
		}
	}
	return text
}
