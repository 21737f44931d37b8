package eval

import (
	"cmp"
	"strconv"

	"github.com/elenchus-go/debate/internal/runs"
)

// taskList collects tasks, and what cannot be used.
type taskList struct{ runs.Items[Task] }

// add adds the task of a line. Its id defaults to the number of the line.
func (l *taskList) add(line int, t Task) {
	t.ID = cmp.Or(t.ID, strconv.Itoa(line))
	l.Add(line, t.ID, t, t.check())
}
