package debatehttp

import (
	"context"
	"net"
	"net/http"
	"strings"
)

// CheckHost returns a handler that protects a server on your own machine from pages of other sites. Such a site can let its
// name point at 127.0.0.1 (DNS rebinding), and then a browser takes your server for a part of the site. The handler refuses
// requests that arrive at a loopback address but name another host than localhost or a loopback address. It leaves others
// alone, because it does not know by which names clients reach the server.
//
// [AllowEveryone] does the same. Use CheckHost for handlers of yours that need no sign-in.
func CheckHost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isForeign(r.Context(), r.Host) {
			foreignHost().writeFor(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func foreignHost() *Problem {
	return problem("forbidden", "this server answers only requests for 127.0.0.1 and localhost")
}

// isForeign reports whether a request arrived at a loopback address but names another host. Browsers always name one.
func isForeign(ctx context.Context, host string) bool {
	at, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr)
	return ok && host != "" && isLocal(at.String()) && !isLocal(host)
}

// isLocal reports whether a host, with or without a port, is this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
