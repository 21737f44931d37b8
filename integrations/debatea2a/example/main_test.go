package main

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheExampleShowsEachTurn(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + listener.Addr().String()
	go serve(listener, url)
	w := &strings.Builder{}
	ask(t.Context(), w, url, "Should cities ban private cars?")
	for _, name := range []string{"Ada: ", "Bo: ", "Judge: ", "answer: Debate "} {
		require.Contains(t, w.String(), name)
	}
}
