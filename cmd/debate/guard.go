package main

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// checkBearer returns an error if a request does not have a token as a bearer token.
func checkBearer(r *http.Request, token string) error {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !equal(given, token) {
		return errors.New("a bearer token is required")
	}
	return nil
}

// requireBearer lets only requests with a token reach a handler.
func requireBearer(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkBearer(r, token); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// browserGuard lets only the user's browser, and programs with the token, reach a handler. The browser gets a cookie for the
// token in the query of its first request, or for the ticket, which works once.
type browserGuard struct {
	next                  http.Handler
	token, ticket, cookie string // cookie is a name
	ticketUsed            atomic.Bool
}

// newBrowserGuard returns a guard for a server on this machine. Cookies do not depend on the port, so their names have it.
func newBrowserGuard(next http.Handler, port string) *browserGuard {
	return &browserGuard{next: next, token: rand.Text(), cookie: "debate-" + port, ticket: rand.Text()}
}

// ServeHTTP implements http.Handler.
func (g *browserGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie(g.cookie)
	switch {
	case r.URL.Query().Has("token"):
		g.signIn(w, r)
	case checkBearer(r, g.token) == nil || err == nil && equal(cookie.Value, g.token):
		g.next.ServeHTTP(w, r)
	case err == nil:
		http.Error(w, "this server was started again: open the address that it printed", http.StatusForbidden)
	default:
		http.Error(w, "open the address that debate inspect printed: it has a token", http.StatusUnauthorized)
	}
}

// signIn replaces the token in the address by a cookie.
func (g *browserGuard) signIn(w http.ResponseWriter, r *http.Request) {
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
