//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// withFewFiles runs this command in a process that may open 256 files, until stop is called. It returns the address that
// follows a word in its messages.
func withFewFiles(t *testing.T, word string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := binaryCommand(t, environment(), args...)
	cmd.Env = append(cmd.Env, tokenVar+"=secret")
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 256 && exec "$0" "$@"`, cmd.Path}, args...)
	cmd.Path = "/bin/sh"
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines, all := bufio.NewScanner(stderr), make(chan string, 1)
	var text strings.Builder
	for address == "" && lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		_, address, _ = strings.Cut(lines.Text(), word+" ")
	}
	require.NotEmpty(t, address, text.String())
	go func() {
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		all <- text.String()
	}()
	return address, func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		said := <-all
		require.NoError(t, cmd.Wait(), said)
		require.NotContains(t, said, "too many open files")
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}
}

// Strangers who send their bodies slowly do not keep clients with a token from being served.
func TestStrangersDoNotLockClientsOut(t *testing.T) {
	folder(t)
	_, _, _ = start(t, environment(), "--store", "d.db", "--protocol", "vote", topic)
	for _, tt := range []struct{ word, path, strangers string }{
		{"serving", "debates", "/debates"},
		{"serving", "debates", "/v1/chat/completions"},
		{"serving", "mcp", "/mcp"},
		{"open", "", "/debates/x/forks"},
	} {
		t.Run(tt.word+tt.strangers, func(t *testing.T) {
			args := []string{"serve", "--http", "127.0.0.1:0", "--store", "d.db"}
			switch {
			case tt.path == "mcp":
				args = []string{"mcp", "--http", "127.0.0.1:0", "--store", "d.db"}
			case tt.word == "open":
				args = []string{"inspect", "--no-open", "--store", "d.db"}
			}
			address, stop := withFewFiles(t, tt.word, args...)
			defer stop()
			base, token, browser := strings.Cut(address, "?token=")
			if !browser {
				token = "secret"
			}
			host, _, _ := strings.Cut(strings.TrimPrefix(base, "http://"), "/")
			for range 300 {
				conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
				require.NoError(t, err)
				defer conn.Close()
				_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\nx", tt.strangers, host)
				require.NoError(t, err)
			}
			client := &http.Client{Transport: withToken(token), Timeout: 2 * time.Minute}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/"+tt.path, http.NoBody)
			require.NoError(t, err)
			res, err := client.Do(r)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, res.StatusCode, "MCP has no page, but takes the token")
		})
	}
}
