package view

import "strings"

// wrapper breaks a clean text that arrives in pieces into lines. The work for a piece does not depend on the length of
// the text before it.
type wrapper struct {
	columns int      // most columns of a line
	keep    int      // number of complete lines to keep; 0 keeps all
	lines   []string // complete lines
	rest    string   // the last line, which may still grow
}

func (w *wrapper) write(text string) {
	for w.rest += text; ; {
		line, rest, ok := breakLine(w.rest, w.columns)
		if !ok {
			return
		}
		w.rest = rest
		w.lines = append(w.lines, line)
		if w.keep > 0 && len(w.lines) >= 2*w.keep {
			w.lines = append(w.lines[:0], w.lines[len(w.lines)-w.keep:]...)
		}
	}
}

// tail returns the last lines, at most n.
func (w *wrapper) tail(n int) []string {
	lines := w.lines[max(0, len(w.lines)-n):]
	if last := strings.TrimRight(w.rest, " "); last != "" && n > 0 {
		lines = append(lines[max(0, len(lines)+1-n):len(lines):len(lines)], last)
	}
	return lines
}

// wrap returns the lines of a clean text.
func wrap(text string, columns int) []string {
	w := wrapper{columns: columns}
	w.write(text + "\n")
	return w.lines
}

// breakLine splits the first line off a text. It returns false if the line is not complete: more text may belong to it.
// Lines break at spaces, next to wide characters such as those of Chinese and, in words that are longer than a line,
// anywhere.
func breakLine(text string, columns int) (line, rest string, ok bool) {
	used := 0
	breakAt := 0
	began := false // began: the line has more than spaces
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			return strings.TrimRight(text[:i], " "), text[i+1:], true
		}
		cluster, n := nextCluster(text[i:])
		space := cluster == " "
		if used+n > columns {
			if space {
				return breakAtSpaces(text, i, columns)
			}
			switch {
			case i == 0:
				breakAt = len(cluster) // does not fit into any line
			case breakAt == 0, n > 1:
				breakAt = i
			}
			return strings.TrimRight(text[:breakAt], " "), strings.TrimLeft(text[breakAt:], " "), true
		}
		if began && (space || n > 1) {
			breakAt = i
		}
		began = began || !space
		used += n
		i += len(cluster)
		if n > 1 {
			breakAt = i
		}
	}
	return "", text, false
}

// breakAtSpaces splits a text at the spaces from i on, which follow a full line.
func breakAtSpaces(text string, i, columns int) (line, rest string, ok bool) {
	end := len(text) - len(strings.TrimLeft(text[i:], " "))
	if end == len(text) && end-i <= columns {
		return "", text, false // a line feed may follow
	}
	return strings.TrimRight(text[:i], " "), strings.TrimPrefix(text[end:], "\n"), true
}
