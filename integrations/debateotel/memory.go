package debateotel

import (
	"sync"

	"go.opentelemetry.io/otel/trace"
)

// memory is what telemetry remembers of a debate between its drives.
type memory struct {
	drive   *drive            // that is open; nil if there is none
	last    trace.SpanContext // of the previous drive
	pending []note            // transitions since then, such as a resume, which the next drive shows
}

const (
	maxDebates = 10_000 // debates to remember
	maxPending = 16     // transitions of each
)

// memories are the memories of debates, by id.
type memories struct {
	mu   sync.Mutex
	byID map[string]*memory
}

// of returns the memory of a debate. The mutex is held.
func (a *memories) of(id string) *memory {
	if m := a.byID[id]; m != nil {
		return m
	}
	if len(a.byID) >= maxDebates {
		tried := 0
		for other, m := range a.byID { // in random order
			if m.drive == nil {
				delete(a.byID, other)
				break
			}
			tried++
			if tried == 100 { // almost all are driven, and end by themselves
				break
			}
		}
	}
	m := &memory{}
	a.byID[id] = m
	return m
}

// begin notes that a drive begins, which start starts with a link to the previous one.
func (a *memories) begin(id string, start func(previous trace.SpanContext) *drive) *drive {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.of(id)
	d := start(m.last)
	for _, n := range m.pending {
		d.note(n)
	}
	m.drive, m.pending = d, nil
	return d
}

// end notes that a drive ends. The debate is forgotten if it has ended.
func (a *memories) end(d *drive, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.byID[d.id]
	if m == nil || m.drive != d { // another engine has driven the same debate
		return
	}
	m.drive, m.last = nil, d.span.SpanContext()
	if ended {
		delete(a.byID, d.id)
	}
}

// note adds an event to the open drive of a debate, or keeps it for the next one. After a final one, there is no next one.
func (a *memories) note(id string, n note, final bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.of(id)
	if m.drive != nil {
		m.drive.note(n)
		return
	}
	if final {
		delete(a.byID, id)
		return
	}
	if len(m.pending) < maxPending {
		m.pending = append(m.pending, n)
	}
}
