package inspector

import (
	"sync"
)

// A line is what a list says of a debate besides its status.
type line struct {
	Answer string // the beginning of the answer
	Waits  string // for whom or what the debate waits
}

// lines keeps the lines of debates, because a line needs the whole journal.
type lines struct {
	mu   sync.Mutex
	list map[lineKey]line
}

// A lineKey tells everything that a line depends on.
type lineKey struct {
	id      string
	created int64
	seq     int64
}

// maxLines limits the lines that are kept.
const maxLines = 4000

func (l *lines) get(key lineKey, read func() (line, bool)) line {
	l.mu.Lock()
	kept, ok := l.list[key]
	l.mu.Unlock()
	if ok {
		return kept
	}
	made, ok := read()
	if !ok {
		return made
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil || len(l.list) >= maxLines {
		l.list = map[lineKey]line{}
	}
	l.list[key] = made
	return made
}
