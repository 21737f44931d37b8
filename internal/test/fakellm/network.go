package fakellm

import (
	"context"
	"net"
)

// MemoryNetwork is an in-memory network with one listener.
type MemoryNetwork struct {
	conns chan net.Conn
	done  context.Context
	close func()
}

// NewMemoryNetwork returns a network that works until it is closed.
func NewMemoryNetwork() *MemoryNetwork {
	ctx, cancel := context.WithCancel(context.Background())
	return &MemoryNetwork{make(chan net.Conn), ctx, cancel}
}

// Addr implements net.Listener.
func (m *MemoryNetwork) Addr() net.Addr { return &net.TCPAddr{} }

// Close implements net.Listener.
func (m *MemoryNetwork) Close() error { m.close(); return nil }

// Accept implements net.Listener.
func (m *MemoryNetwork) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.done.Done():
		return nil, net.ErrClosed
	}
}

// Dial connects to the listener, whatever the address. Use it as http.Transport.DialContext.
func (m *MemoryNetwork) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
