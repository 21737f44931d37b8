package debatehttp

import (
	"net"
	"net/http"
	"sync"
)

// mostConnections limits the connections of a server, if the process can open enough files.
const mostConnections = 10_000

// connections counts the connections of a server, and knows which of them wait for a request.
type connections struct {
	slots chan struct{} // has an element for each connection

	mu      sync.Mutex
	waiting map[net.Conn]wait
	waits   int  // number of waits so far
	full    bool // a new connection waits for a slot
	ended   bool
}

// wait is why a connection waits for a request.
type wait struct {
	number int  // the oldest wait has the lowest number
	unused bool // the connection has sent no request yet
}

// limitConnections makes a server accept only so many connections at a time. If there are more, it closes the one that
// has waited longest for a request, if any, and waits until one is closed. A server that ends closes connections that have
// sent no request: browsers and HTTP clients open some in advance, and Shutdown waits for them.
func limitConnections(s *http.Server, most int) {
	c := &connections{slots: make(chan struct{}, most), waiting: map[net.Conn]wait{}}
	s.ConnState = c.change
	s.RegisterOnShutdown(c.end)
}

// change follows the state of a connection. The server accepts no other connection before it returns for a new one.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.acquire()
		c.await(conn, true)
	case http.StateIdle:
		c.await(conn, false)
	case http.StateActive:
		c.forget(conn)
	case http.StateClosed, http.StateHijacked:
		c.forget(conn)
		<-c.slots
	}
}

// acquire waits for a slot.
func (c *connections) acquire() {
	select {
	case c.slots <- struct{}{}:
		return
	default:
	}
	c.makeRoom(true)
	c.slots <- struct{}{}
	c.makeRoom(false)
}

// await records that a connection waits for a request, unless others need its slot or, if it is new, the server ends.
func (c *connections) await(conn net.Conn, unused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if unused && c.ended || !unused && c.full {
		_ = conn.Close()
		return
	}
	c.waits++
	c.waiting[conn] = wait{c.waits, unused}
}

func (c *connections) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, conn)
}

// makeRoom records whether a new connection waits for a slot. If so, it closes the connection that has waited longest for a
// request, if there is one.
func (c *connections) makeRoom(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
	if !full {
		return
	}
	var longest net.Conn
	for conn, w := range c.waiting {
		if longest == nil || w.number < c.waiting[longest].number {
			longest = conn
		}
	}
	if longest != nil {
		delete(c.waiting, longest)
		_ = longest.Close()
	}
}

// end closes the connections that have sent no request.
func (c *connections) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for conn, w := range c.waiting {
		if w.unused {
			_ = conn.Close()
		}
	}
}
