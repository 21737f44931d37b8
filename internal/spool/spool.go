// Package spool hands events to an observer without making their producers wait.
package spool

import (
	"context"
	"sync"
)

// Queue passes events to an observer in order, one at a time, on a goroutine of its own. Add never blocks. The goroutine
// exists only while there are events. A nil Queue has no observer, and its methods do nothing.
//
// The queue holds a bounded number of events. While it is full, it drops live events and counts them. Of a stored event it
// keeps only the number, so that the observer can read it again.
type Queue[E any] struct {
	size    int // number of events that it holds
	deliver func(id string, e E)
	missed  func(id string, m Missed)

	mu      sync.Mutex
	idle    chan struct{} // closed when the goroutine ends; nil if there is none
	items   []item[E]
	taken   int                // items before this index were delivered
	overdue map[string]*Missed // what could not be queued, by id; each has an item that stands for it
	last    map[string]int64   // by id that was entered: number of the last stored event that was added or read
}

// Missed is what a full queue could not hold of the events with one id.
type Missed struct {
	Live   int     // number of live events, which are lost
	Stored []Range // numbers of the stored events, in order
}

// Range is a range of numbers of stored events, with its ends.
type Range struct{ First, Last int64 }

type item[E any] struct {
	id     string
	event  E
	missed bool // the item stands for the events with its id that were not queued
}

// New returns a queue that holds size events. It calls deliver with each event, and missed in place of events that it could
// not hold. A call that panics or ends its goroutine does not stop the queue; pass functions that report it.
func New[E any](size int, deliver func(id string, e E), missed func(id string, m Missed)) *Queue[E] {
	return &Queue[E]{size: size, deliver: deliver, missed: missed, overdue: map[string]*Missed{}, last: map[string]int64{}}
}

// Enter notes that events with an id follow its stored event seq, until Leave is called.
func (q *Queue[E]) Enter(id string, seq int64) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last[id] = seq
}

// Leave ends what Enter began.
func (q *Queue[E]) Leave(id string) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.last, id)
}

// Read notes that a stored event was read, which another queue may have.
func (q *Queue[E]) Read(id string, seq int64) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.advance(id, seq)
}

// advance raises the number of the last stored event. The mutex is held.
func (q *Queue[E]) advance(id string, seq int64) {
	if last, entered := q.last[id]; entered {
		q.last[id] = max(last, seq)
	}
}

// Add adds the stored event seq. Events with the same id are delivered in the order in which they were added.
func (q *Queue[E]) Add(id string, e E, seq int64) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(id, e, seq)
	q.advance(id, seq)
}

// AddLive adds the live event that made returns for the stored event before it.
func (q *Queue[E]) AddLive(id string, made func(after int64) E) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(id, made(q.last[id]), 0)
}

// add adds an event. seq is 0 for a live one. The mutex is held.
func (q *Queue[E]) add(id string, e E, seq int64) {
	m := q.overdue[id]
	switch {
	case m == nil && len(q.items)-q.taken < q.size:
		q.items = append(q.items, item[E]{id: id, event: e})
	case m == nil:
		m = &Missed{}
		q.overdue[id] = m
		q.items = append(q.items, item[E]{id: id, missed: true})
		fallthrough
	default:
		m.add(seq)
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.run()
	}
}

func (m *Missed) add(seq int64) {
	switch last := len(m.Stored) - 1; {
	case seq == 0:
		m.Live++
	case last >= 0 && m.Stored[last].Last == seq-1:
		m.Stored[last].Last = seq
	default:
		m.Stored = append(m.Stored, Range{First: seq, Last: seq})
	}
}

// run delivers events until there are none.
func (q *Queue[E]) run() {
	ended := false
	defer func() {
		if !ended { // an observer ended the goroutine
			go q.run()
		}
	}()
	for {
		next, m, ok := q.take()
		switch {
		case !ok:
			ended = true
			return
		case next.missed:
			q.missed(next.id, m)
		default:
			q.deliver(next.id, next.event)
		}
	}
}

// take removes the next item. It returns false if there is none, and then the goroutine must end.
func (q *Queue[E]) take() (next item[E], m Missed, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken == len(q.items) {
		q.items, q.taken = nil, 0
		close(q.idle)
		q.idle = nil
		return next, m, false
	}
	next, q.items[q.taken] = q.items[q.taken], item[E]{}
	q.taken++
	if q.taken > q.size { // amortized: it copies at most as many items as were taken
		q.items, q.taken = append(q.items[:0:0], q.items[q.taken:]...), 0
	}
	if next.missed {
		m = *q.overdue[next.id]
		delete(q.overdue, next.id)
	}
	return next, m, true
}

// Wait waits until all events were delivered. It returns the error of ctx if that ends first.
func (q *Queue[E]) Wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		idle := q.idle
		q.mu.Unlock()
		if idle == nil {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
