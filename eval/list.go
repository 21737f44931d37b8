package eval

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
)

// taskList collects tasks, and what cannot be used.
type taskList struct {
	tasks []Task
	lines map[string]int // where each id was first
	wrong []error
}

func (l *taskList) refuse(line int, err error) {
	l.wrong = append(l.wrong, fmt.Errorf("line %d: %w", line, err))
}

// add adds the task of a line. Its id defaults to the number of the line.
func (l *taskList) add(line int, t Task) {
	t.ID = cmp.Or(t.ID, strconv.Itoa(line))
	if err := t.check(); err != nil {
		l.refuse(line, err)
		return
	}
	if before, again := l.lines[t.ID]; again {
		l.refuse(line, fmt.Errorf("id: %q is the id of line %d too", t.ID, before))
		return
	}
	l.lines[t.ID] = line
	l.tasks = append(l.tasks, t)
}

// eachLine calls use with each line that is not blank, and with its number.
func eachLine(text []byte, use func(line int, text []byte)) {
	line := 0
	for one := range bytes.Lines(text) {
		if line++; len(bytes.TrimSpace(one)) > 0 {
			use(line, one)
		}
	}
}
