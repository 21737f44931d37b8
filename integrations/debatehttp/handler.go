package debatehttp

import (
	"context"
	_ "embed" // openapi.json
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// A route is one operation of the handler.
type route struct {
	method     string
	path       string
	action     Action
	parameters []string // parameters of the query
	handle     func(*call) error
}

var (
	filters = []string{
		"state", "outcome", "failure_kind", "label", "waiting", "parent", "created_since", "created_before", "updated_since", "updated_before",
		"limit", "cursor",
	}
	seats = []string{"seat"}
)

// openAPI describes the routes. go test -update writes it.
//
//go:embed openapi.json
var openAPI []byte

// routes lists everything that needs an action. openapi.json describes it.
var routes = []route{
	{"POST", "/debates", Launch, nil, (*call).launch},
	{"GET", "/debates", List, filters, (*call).list},
	{"GET", "/debates/{id}", Status, nil, (*call).status},
	{"DELETE", "/debates/{id}", Delete, nil, (*call).delete},
	{"PUT", "/debates/{id}/config", Edit, nil, (*call).edit},
	{"GET", "/debates/{id}/result", Result, nil, (*call).result},
	{"GET", "/debates/{id}/report", Report, []string{"format", "full"}, (*call).report},
	{"GET", "/debates/{id}/events", Watch, seats, (*call).events},
	{"POST", "/debates/{id}/start", Start, nil, control((*debate.Debate).Start)},
	{"POST", "/debates/{id}/pause", Pause, nil, control((*debate.Debate).Pause)},
	{"POST", "/debates/{id}/resume", Resume, nil, control((*debate.Debate).Resume)},
	{"POST", "/debates/{id}/stop", Stop, nil, control((*debate.Debate).Stop)},
	{"POST", "/debates/{id}/cancel", Cancel, nil, control((*debate.Debate).Cancel)},
	{"POST", "/debates/{id}/retry", Retry, nil, (*call).retry},
	{"POST", "/debates/{id}/reset", Reset, nil, control((*debate.Debate).Reset)},
	{"POST", "/debates/{id}/decisions", Decide, nil, (*call).decide},
	{"POST", "/debates/{id}/remarks", Inject, nil, (*call).inject},
	{"PUT", "/debates/{id}/annotations/{name}", Annotate, nil, (*call).annotate},
	{"POST", "/debates/{id}/forks", Fork, nil, (*call).fork},
	{"GET", "/debates/{id}/prompts", Prompt, keyParameters, (*call).prompt},
	{"GET", "/debates/{id}/waiting", Waiting, seats, (*call).waiting},
	{"GET", "/debates/{id}/documents/{name}", Waiting, seats, (*call).document},
	{"POST", "/debates/{id}/answers", Answer, nil, (*call).reply},
	{"POST", "/debates/{id}/declines", Decline, nil, (*call).decline},
	{"GET", "/inbox", Inbox, append([]string{"seat"}, filters...), (*call).inbox},
	{"GET", chatPath + "models", Models, nil, (*call).models},
	{"GET", chatPath + "models/{model}", Models, nil, (*call).model},
	{"POST", chatPath + "chat/completions", Launch, nil, (*call).chat},
}

// New returns a handler that serves the debates of an engine. It returns an error if Options.Authorize is nil or a trusted
// origin or a preset is invalid. The handler starts nothing on its own: call Engine.Recover to continue earlier debates, and
// Engine.Close to end the streams of all viewers.
func New(e *debate.Engine, o Options) (http.Handler, error) {
	if o.Authorize == nil {
		return nil, errNoAuthorize
	}
	for name, cfg := range o.Presets {
		if err := checkPreset(cfg); err != nil {
			return nil, fmt.Errorf("make handler: preset %q: %w", name, err)
		}
	}
	s := newService(e, o)
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.method+" "+r.path, s.serve(r))
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // fails if the client has disconnected
	})
	web, err := CrossOrigin(known(mux), o.TrustedOrigins...)
	if err != nil {
		return nil, fmt.Errorf("make handler: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		web.ServeHTTP(w, r)
	}), nil
}

// checkPreset reports what is wrong with a preset, whatever the topic.
func checkPreset(cfg debate.Config) error {
	scratch, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return err
	}
	cfg.ID, cfg.Topic = "", "any"
	_, err = scratch.Create(context.Background(), cfg)
	return err
}

// known serves the routes of the mux, and answers other requests with a problem. It does not redirect, for example from
// /debates/./x to /debates/x.
func known(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if _, route := h.(http.HandlerFunc); route && pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		refusal := &discarded{header: http.Header{}}
		h.ServeHTTP(refusal, r)
		if refusal.status == http.StatusMethodNotAllowed {
			methods := refusal.header.Get("Allow")
			w.Header().Set("Allow", methods)
			problem("method-not-allowed", "use one of %s", methods).writeFor(w, r)
			return
		}
		problem("no-route", "GET /openapi.json describes all addresses").writeFor(w, r)
	})
}

// discarded takes a response without its body.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

// serve returns the handler of a route.
func (s *service) serve(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c := &call{service: s, w: w, r: req, asked: req, access: Access{Action: r.action, Host: req.Host}, release: func() {}}
		if err := c.run(r); err != nil { //nolint:contextcheck // the call holds the request with its context
			c.fail(err) //nolint:contextcheck // the same
		}
	})
}

// run finds out who asks for what, and performs the route's operation.
func (c *call) run(r route) error {
	principal, err := c.Principal(c.r)
	if err != nil {
		return unauthenticated(err)
	}
	c.query, err = url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return problem("invalid", "the query is not valid: %v", err)
	}
	if p := unknownParameters(c.query, r.parameters); p != nil && !strings.HasPrefix(r.path, chatPath) { // OpenAI clients may send some
		return p
	}
	c.access.Principal = principal
	if slices.Contains(r.parameters, "seat") {
		c.access.Seat = c.query.Get("seat")
	}
	defer func() { c.release() }() // later sets it
	return r.handle(c)
}

// fail answers with the problem of an error.
func (c *call) fail(err error) { c.problemOf(err).writeFor(c.w, c.r) }
