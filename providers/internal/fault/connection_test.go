package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// A host that is unknown, refuses connections or does not answer is not reached, whatever its error says about timeouts.
func TestErrorsOfConnections(t *testing.T) {
	slow := os.ErrDeadlineExceeded
	for name, test := range map[string]struct {
		err  error
		kind providers.ErrorKind
	}{
		"refused":                 {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, providers.Network},
		"nothing answers":         {&net.OpError{Op: "dial", Err: slow}, providers.Network},
		"the proxy is silent":     {&net.OpError{Op: "proxyconnect", Err: &net.OpError{Op: "dial", Err: slow}}, providers.Network},
		"an unknown host":         {&net.DNSError{Err: "no such host", IsNotFound: true}, providers.Network},
		"a silent name server":    {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", IsTimeout: true}}, providers.Network},
		"a handshake":             {errors.New("net/http: TLS handshake timeout"), providers.Network},
		"a reset":                 {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, providers.Network},
		"a slow reply":            {&net.OpError{Op: "read", Err: slow}, providers.Timeout},
		"http.Client.Timeout":     {fmt.Errorf("net/http: request canceled (Client.Timeout exceeded while awaiting headers): %w", context.DeadlineExceeded), providers.Timeout},
		"an error of a transport": {errors.New("no route"), providers.Network},
	} {
		err := Connection(&url.Error{Op: "Post", URL: "http://host.test/v1", Err: test.err}, nil)
		require.Equal(t, test.kind, providers.AsError(err).Kind, name)
	}
}
