package main

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// guard lets only authorized requests reach a handler.
type guard struct {
	next  http.Handler
	token string // required of each request, as a bearer token; empty if everyone may send requests
	local bool   // the server is for this machine only
	// cookie is the name of a cookie for browsers. They get it for the token in the query of their first request, or for
	// the ticket, which works once. It is empty if the server is not for browsers.
	cookie, ticket string
	ticketUsed     atomic.Bool
}

// browserGuard returns a guard for a server for browsers on this machine. Cookies do not depend on the port, so their names
// have it.
func browserGuard(next http.Handler, port string) *guard {
	return &guard{next: next, token: rand.Text(), local: true, cookie: "debate-" + port, ticket: rand.Text()}
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	bearer := strings.EqualFold(scheme, "Bearer")
	cookie, err := r.Cookie(g.cookie)
	switch {
	case g.local && !isLocal(r.Host):
		// A page of another site could point the name of that site at this machine, and read the answer.
		http.Error(w, "this server answers only requests for 127.0.0.1 and localhost", http.StatusForbidden)
	case g.cookie != "" && r.URL.Query().Has("token"):
		g.signIn(w, r)
	case g.token == "" || bearer && equal(given, g.token) || err == nil && g.cookie != "" && equal(cookie.Value, g.token):
		g.next.ServeHTTP(w, r)
	case g.cookie != "" && err == nil:
		http.Error(w, "this server was started again: open the address that it printed", http.StatusForbidden)
	case g.cookie != "":
		http.Error(w, "open the address that debate inspect printed: it has a token", http.StatusUnauthorized)
	default:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a bearer token is required", http.StatusUnauthorized)
	}
}

// signIn replaces the token in the address by a cookie.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	given := query.Get("token")
	if !equal(given, g.token) && (!equal(given, g.ticket) || g.ticketUsed.Swap(true)) {
		http.Error(w, "the token is wrong: open the address that debate inspect printed", http.StatusForbidden)
		return
	}
	query.Del("token")
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // loopback has no TLS
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	path := "/" + strings.TrimLeft(r.URL.Path, "/") // two slashes would begin the name of another site
	http.Redirect(w, r, (&url.URL{Path: path, RawQuery: query.Encode()}).String(), http.StatusSeeOther)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isLocal reports whether the host of a request is this machine.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
