package debatehttp

import (
	"net/http"
	"slices"
)

// CrossOrigin returns a handler that refuses writes that a browser sends for a page of another site. Pages of the trusted
// origins, such as "https://app.example.com", may send every request and read the answers, with cookies too (CORS).
// CrossOrigin returns an error if an origin is not valid. New calls it with Options.TrustedOrigins.
func CrossOrigin(next http.Handler, trusted ...string) (http.Handler, error) {
	guard := http.NewCrossOriginProtection()
	for _, origin := range trusted {
		if err := guard.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem("cross-origin", "a page of another site sent it; add the site to Options.TrustedOrigins to allow this").writeFor(w, r)
	}))
	guarded := guard.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if !slices.Contains(trusted, origin) {
			guarded.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Should-Retry")
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			guarded.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE")
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers")) // clients of OpenAI send many
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
	}), nil
}
