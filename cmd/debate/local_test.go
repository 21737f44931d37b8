package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// closedAddress returns the address of a port where nothing listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	var c net.ListenConfig
	l, err := c.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// The first interrupt ends the wait for a server that is not running. A stored debate is paused, another one canceled.
func TestAnInterruptEndsTheWaitForAServer(t *testing.T) {
	for stored, want := range map[string]string{"d.db": "debate paused", memoryStore: "debate canceled"} {
		t.Run(stored, func(t *testing.T) {
			folder(t)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			interrupted := make(chan struct{})
			var once sync.Once
			screen := output{seen: func(all string) {
				if strings.Contains(all, "retrying in") {
					once.Do(func() { close(interrupted) })
				}
			}}
			args := []string{"--model", "ollama/llama3.2", "--store", stored, topic}
			code := run(ctx, interrupted, args, strings.NewReader(""), &output{}, &screen, environment("OLLAMA_HOST", closedAddress(t)))
			require.NoError(t, ctx.Err())
			require.Equal(t, exitGeneral, code, screen.String())
			require.Contains(t, screen.String(), want)
		})
	}
}
