package inspector

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
)

// A route is one page, or one form that a page sends.
type route struct {
	pattern string
	handle  func(*visit) error
}

// routes lists the pages and forms. The API of package debatehttp is below /api/.
var routes = []route{
	{"GET /{$}", (*visit).list},
	{"GET /inbox", (*visit).inbox},
	{"GET /new", (*visit).newDebate},
	{"POST /new", (*visit).begin},
	{"GET /debates/{id}", (*visit).nowOrThen},
	{"GET /debates/{id}/events", (*visit).events},
	{"GET /debates/{id}/archive", (*visit).archive},
	{"GET /debates/{id}/attachments/{number}", (*visit).attachment},
	{"GET /debates/{id}/documents/{number}", (*visit).document},
	{"GET /debates/{id}/past", (*visit).past},
	{"GET /debates/{id}/judges", (*visit).judges},
	{"GET /debates/{id}/turn", (*visit).turn},
	{"GET /debates/{id}/family", (*visit).family},
	{"GET /debates/{id}/compare", (*visit).compare},
	{"GET /debates/{id}/fork", (*visit).fork},
	{"POST /debates/{id}/forks", (*visit).makeFork},
	{"GET /debates/{id}/delete", (*visit).askToDelete},
	{"POST /debates/{id}/delete", (*visit).delete},
	{"POST /debates/{id}/{control}", (*visit).control},
}

// policy holds the content security policy of all pages.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Handler returns a handler that serves the inspector of an engine's debates. It works below any path, with
// http.StripPrefix. It returns an error if Options.Authorize is nil.
func Handler(e *debate.Engine, o Options) (http.Handler, error) {
	if o.Authorize == nil {
		return nil, fmt.Errorf("make inspector: Options.Authorize is nil, set it, for example to debatehttp.OwnersOnly(%q)", "owner")
	}
	s := &site{Options: o.withDefaults(), engine: e}
	var err error
	api := debatehttp.Options{Authorize: s.authorize, Principal: s.Principal, Offer: s.Offer, Logger: s.Logger}
	if s.Offer != nil {
		api.MaxBody = maxLaunch
	}
	s.api, err = debatehttp.New(e, api)
	if err != nil {
		return nil, fmt.Errorf("make inspector: %w", err)
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.pattern, s.serve(r))
	}
	mux.Handle("/", s.serve(route{handle: func(*visit) error { return notFound("There is no such page", "it has moved, or the address is wrong") }}))
	mux.Handle("/api/", http.StripPrefix("/api", s.api))
	mux.HandleFunc("GET /assets/{name}", asset)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	}), nil
}

// storeTime limits how long a page waits for the store, for example for a connection of its pool.
const storeTime = 10 * time.Second

// maxSeat limits the bytes of a seat, which a page repeats in each link. Names of participants and judges are no longer.
const maxSeat = 64

// serve returns the handler of a route.
func (s *site) serve(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		ctx, stop := context.WithTimeout(r.Context(), storeTime)
		defer stop()
		v := &visit{site: s, w: w, r: r.WithContext(ctx), whole: r, seat: r.URL.Query().Get("seat")}
		var err error
		v.principal, err = s.Principal(r)
		if err != nil {
			err = unauthenticated(err)
		} else if len(v.seat) > maxSeat {
			err = invalid("seat", "it has %d bytes, use the name of a participant or judge, which has at most %d", len(v.seat), maxSeat)
		} else {
			err = to.handle(v) //nolint:contextcheck // the visit holds the request with its context
		}
		if err != nil {
			v.fail(err) //nolint:contextcheck // the same
		}
	})
}

// fail answers with a page that tells what is wrong. It logs errors whose text the visitor does not read.
func (v *visit) fail(err error) {
	p := problemOf(err)
	if p.Status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "5")
	}
	if (p.Status == http.StatusInternalServerError || unavailable(err)) && v.whole.Context().Err() == nil {
		v.Logger.ErrorContext(v.r.Context(), "show page", "path", v.r.URL.Path, "error", err)
	}
	v.debate = nil // the page has no parts of the debate
	v.write(p.Status, "problem", page{Title: p.Title, Main: p})
}
