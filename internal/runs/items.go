package runs

import (
	"bytes"
	"errors"
	"fmt"
)

// Items collects what a file has, such as tasks or pairs, and what of it cannot be used.
type Items[T any] struct {
	list  []T
	lines map[string]int // where each id was first
	wrong []error
}

// Refuse adds what is wrong with a line.
func (l *Items[T]) Refuse(line int, err error) {
	l.wrong = append(l.wrong, fmt.Errorf("line %d: %w", line, err))
}

// Add adds the item of a line, unless it has an error or its id is that of another line.
func (l *Items[T]) Add(line int, id string, item T, err error) {
	if before, again := l.lines[id]; err == nil && again {
		err = fmt.Errorf("id: %q is the id of line %d too", id, before)
	}
	if err != nil {
		l.Refuse(line, err)
		return
	}
	if l.lines == nil {
		l.lines = map[string]int{}
	}
	l.lines[id] = line
	l.list = append(l.list, item)
}

// Len returns how many items were added or refused.
func (l *Items[T]) Len() int { return len(l.list) + len(l.wrong) }

// Read returns all items. If something is wrong, or if there are no items, it returns an error about what it reads, such as "tasks".
func (l *Items[T]) Read(what string) ([]T, error) {
	switch {
	case len(l.wrong) > 0:
		return nil, fmt.Errorf("read %s: %w", what, errors.Join(l.wrong...))
	case len(l.list) == 0:
		return nil, fmt.Errorf("read %s: the file has none", what)
	}
	return l.list, nil
}

// EachLine calls use with each line that is not blank, and with its number.
func EachLine(text []byte, use func(line int, text []byte)) {
	line := 0
	for one := range bytes.Lines(text) {
		line++
		if len(bytes.TrimSpace(one)) > 0 {
			use(line, one)
		}
	}
}
