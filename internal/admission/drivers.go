package admission

import "sync"

// Drivers tells which debates an engine drives. Each debate has at most one driver. The zero value has none.
type Drivers struct {
	mu     sync.Mutex
	closed bool
	slots  map[string]*slot // by debate
	all    sync.WaitGroup
}

// slot notes that a debate has a driver.
type slot struct {
	next func() // called when the driver has left; nil if there is nothing to do; guarded by Drivers.mu until then
}

// Enter notes that a debate has a driver until leave is called. It returns nil if the debate has one already, or after
// Close.
func (d *Drivers) Enter(id string) (leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.slots[id] != nil {
		return nil
	}
	if d.slots == nil {
		d.slots = map[string]*slot{}
	}
	s := &slot{}
	d.slots[id] = s
	d.all.Add(1)
	return func() {
		defer d.all.Done()
		d.mu.Lock()
		delete(d.slots, id)
		d.mu.Unlock()
		if s.next != nil {
			s.next()
		}
	}
}

// After arranges for f to be called when the debate's driver has left. It returns false if the debate has no driver.
func (d *Drivers) After(id string, f func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.slots[id]
	if s != nil {
		s.next = f
	}
	return s != nil
}

// Drives reports whether a debate has a driver.
func (d *Drivers) Drives(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slots[id] != nil
}

// Close lets no further driver enter. It returns false if it was called before.
func (d *Drivers) Close() (first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first, d.closed = !d.closed, true
	return first
}

// Closed reports whether Close was called.
func (d *Drivers) Closed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

// Wait waits until all drivers have left.
func (d *Drivers) Wait() { d.all.Wait() }
