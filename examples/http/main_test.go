package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
)

func TestTheProgram(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- console.Run(ctx, run, []string{"-listen", "127.0.0.1:0", "Ban cars?"}, io.Discard, w, func(string) string { return "" })
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), offline.Notice)
	require.True(t, lines.Scan())
	_, url, found := strings.Cut(lines.Text(), "listening on ")
	require.True(t, found)

	stranger, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/debates", http.NoBody)
	require.NoError(t, err)
	stranger.Host = "evil.example" // a site that lets its name point at this machine
	res, err := http.DefaultClient.Do(stranger)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusForbidden, res.StatusCode)

	require.Equal(t, 2, strings.Count(page(t, url+"/inspector/"), ">Ban cars?</a>"))
	client := debatehttp.Client{URL: url}
	_, err = client.Status(ctx, "cars")
	require.ErrorIs(t, err, store.ErrNotFound)
	cfg := presets["debate"]
	cfg.Topic = "Should cities ban private cars?"
	id, err := client.Launch(ctx, cfg, "")
	require.NoError(t, err)
	for ev, err := range client.Watch(ctx, id, "", 0) {
		require.NoError(t, err)
		if _, speaking := ev.(debate.TurnStarted); speaking {
			break
		}
	}
	interrupt()
	require.Equal(t, 0, <-ended)
}

func TestAnAddressThatIsTaken(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var stderr bytes.Buffer
	require.Equal(t, 1, console.Run(t.Context(), run, []string{"-listen", l.Addr().String()}, io.Discard, &stderr, func(string) string { return "" }))
	require.Contains(t, stderr.String(), "address already in use")
}

// page returns a page of the inspector.
func page(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(body)
}
