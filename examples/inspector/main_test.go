package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/examples/console"
)

func TestTheProgram(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- console.Run(ctx, run, []string{"-listen", "127.0.0.1:0", "Ban cars?"}, w, io.Discard, func(string) string { return "" })
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	require.True(t, lines.Scan())
	_, url, found := strings.Cut(lines.Text(), "listening on ")
	require.True(t, found)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(body), ">Ban cars?</a>"))
	req.Host = "evil.example" // a site that lets its name point at this machine
	refused, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, refused.Body.Close())
	require.Equal(t, http.StatusForbidden, refused.StatusCode)
	interrupt()
	require.Zero(t, <-ended)
}
