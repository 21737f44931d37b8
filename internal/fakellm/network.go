package fakellm

import (
	"context"
	"net"
)

// Memory is a network of one listener.
type Memory struct {
	conns chan net.Conn
	done  context.Context
	close func()
}

// NewMemory is such a network, until it is closed.
func NewMemory() *Memory {
	ctx, cancel := context.WithCancel(context.Background())
	return &Memory{make(chan net.Conn), ctx, cancel}
}

// Addr implements net.Listener.
func (m *Memory) Addr() net.Addr { return &net.TCPAddr{} }

// Close implements net.Listener.
func (m *Memory) Close() error { m.close(); return nil }

// Accept implements net.Listener.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.done.Done():
		return nil, net.ErrClosed
	}
}

// Dial is the other end, for http.Transport.DialContext.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.done.Done():
		return nil, net.ErrClosed
	}
}
