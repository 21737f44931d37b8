package debatehttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// Options configure a handler.
type Options struct {
	// Authorize decides whether a client may do something. It is required. If it returns an error, the client reads only
	// that the request is forbidden, or that there is no such debate if the error is store.ErrNotFound; it reads all of a
	// *Problem. The function may add conditions to Query and change Config. It is called after the request was read and
	// before anything changes. See AllowEveryone and OwnersOnly.
	Authorize func(context.Context, *Access) error
	// Principal tells who sent a request, for example from a token. A client whose Principal is an error reads only that
	// it is not signed in, or all of a *Problem. Without this function, every principal is empty.
	Principal func(*http.Request) (string, error)
	// Presets are the models of POST /v1/chat/completions, by name. The topic is the user's last message, and the
	// messages before it are added to the background.
	Presets map[string]debate.Config
	// Offer says which debates a client with a principal may begin. If the offer has Only set, other configurations are refused, in
	// Launch, Edit and Fork, after Authorize; presets too. Defaults to everything that Authorize allows.
	Offer func(ctx context.Context, principal string) (*launch.Offer, error)
	// ShowTurns sends the turns of a chat completion as they are committed, in reasoning_content. The message itself is
	// the debate's answer in any case.
	ShowTurns bool
	// StopOnCancel cancels the debate of a chat completion if its client disconnects before the answer, so that the debate
	// costs nothing more. By default the debate continues, and a client that repeats the request finds it. With it, a
	// client that disconnects because of its timeout cancels the debate too.
	StopOnCancel bool
	// TrustedOrigins are other sites whose pages may send requests and read the answers, such as
	// "https://app.example.com"; see CrossOrigin. They may do what the user may whose cookies the browser sends.
	TrustedOrigins []string
	// MaxBody is the largest size of a request's body, in bytes. Defaults to 1 MiB.
	MaxBody int64
	// Heartbeat is the interval of comments in streams, and of blank lines before the answer of a chat completion without
	// streaming, so that proxies do not close quiet connections. Defaults to 15 seconds.
	Heartbeat time.Duration
	// Timeout is the time that a viewer may take to read what the handler writes to a stream at once. Then the handler
	// disconnects the viewer, who can continue with Last-Event-ID. Defaults to 30 seconds. Serve limits other requests.
	Timeout time.Duration
	// Logger receives errors that clients do not see. Defaults to none.
	Logger *slog.Logger
}

// withDefaults returns o with its defaults.
func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	if o.Principal == nil {
		o.Principal = func(*http.Request) (string, error) { return "", nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// service is what all requests share.
type service struct {
	Options
	engine *debate.Engine
	feeds  *feeds

	mu      sync.Mutex
	debates map[string]*handle // debates that requests use now
}

func newService(e *debate.Engine, o Options) *service {
	o = o.withDefaults()
	return &service{
		Options: o, engine: e, debates: map[string]*handle{},
		feeds: &feeds{log: o.Logger, open: map[seat]*feed{}},
	}
}

// A handle is a debate that requests use. They share it, so that the journal is read once for all of them.
type handle struct {
	users int // guarded by service.mu

	mu     sync.Mutex
	debate *debate.Debate // nil if it was not read yet
}

// open returns a debate with its status, until release is called.
func (s *service) open(ctx context.Context, id string) (d *debate.Debate, status store.Status, release func(), err error) {
	s.mu.Lock()
	h := s.debates[id]
	if h == nil {
		h = &handle{}
		s.debates[id] = h
	}
	h.users++
	s.mu.Unlock()
	release = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.users--
		if h.users == 0 {
			delete(s.debates, id)
		}
	})
	d, err = h.open(ctx, s.engine, id)
	if err == nil {
		status, err = d.Status(ctx)
	}
	if err != nil {
		release()
	}
	return d, status, release, err
}

func (h *handle) open(ctx context.Context, e *debate.Engine, id string) (*debate.Debate, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.debate == nil {
		d, err := e.Open(ctx, id)
		if err != nil {
			return nil, err
		}
		h.debate = d
	}
	return h.debate, nil
}

// A call is one request.
type call struct {
	*service
	w      http.ResponseWriter
	r      *http.Request // its context ends storeTime after allow, unless lasts was called
	asked  *http.Request // the request as it came
	query  url.Values    // parameters of the request
	access Access

	debate  *debate.Debate // nil before allow, and for requests about no debate
	release func()         // ends the use of the debate and of the context
}

// storeTime limits how long a request waits for the store, for example for a connection of its pool.
const storeTime = 10 * time.Second

// limit gives the request a context that ends after storeTime.
func (c *call) limit(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, storeTime)
	c.r = c.asked.WithContext(ctx)
	c.later(stop)
}

// lasts gives the request its own context again.
func (c *call) lasts() { c.r = c.asked }

// later adds a function that is called at the end.
func (c *call) later(f func()) {
	before := c.release
	c.release = func() { f(); before() }
}

// detached returns the context of a change, which continues if the client disconnects.
func (c *call) detached() context.Context {
	c.limit(context.WithoutCancel(c.asked.Context()))
	return c.r.Context()
}

// allow opens the debate of the request, if it is about one, and returns an error if the client may not do what the call's
// access says. The request was read before, so that the answer to an invalid one does not tell whether the debate exists.
func (c *call) allow() error {
	c.limit(c.asked.Context())
	if err := c.find(); err != nil {
		return err
	}
	return c.authorize()
}

// find opens the debate of the request, if it is about one.
func (c *call) find() (err error) {
	if id := c.r.PathValue("id"); id != "" {
		var release func()
		c.debate, c.access.Debate, release, err = c.open(c.r.Context(), id)
		c.later(release)
		if errors.Is(err, store.ErrNotFound) {
			return notFound(id)
		}
	}
	return err
}

// authorize returns an error if the client may not do what the call's access says.
func (c *call) authorize() error {
	if cfg := c.access.Config; cfg != nil && cfg.Labels == nil {
		cfg.Labels = map[string]string{} // so that Authorize can add one
	}
	if q := c.access.Query; q != nil && q.Labels == nil {
		q.Labels = map[string]string{}
	}
	return c.refusal(c.Authorize(c.r.Context(), &c.access))
}

// admit returns an error unless the offer for the client admits a configuration, whose missing models and limits it sets.
func (c *call) admit(admits func(*launch.Offer) error) error {
	if c.Offer == nil {
		return nil
	}
	offer, err := c.Offer(c.r.Context(), c.access.Principal)
	if err != nil {
		return c.refusal(err)
	}
	return admits(offer)
}

// refusal returns what the client reads of an error of Options.Authorize or Options.Offer.
func (c *call) refusal(err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if errors.Is(err, store.ErrNotFound) {
		return notFound(c.r.PathValue("id"))
	}
	c.Logger.InfoContext(c.r.Context(), "refuse request", "action", string(c.access.Action), "debate", c.access.Debate.ID, "error", err)
	return problem("forbidden", "the action %s is not allowed", c.access.Action)
}

func notFound(id string) *Problem { return problem("not-found", "debate %q does not exist", id) }

// body reads the request's body.
func (c *call) body() ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, problem("too-large", "the body has more than %d bytes", c.MaxBody)
	}
	if err != nil {
		return nil, problem("invalid", "the body ended early, or took too long")
	}
	return b, nil
}

// decode reads the request's body, a JSON object, into v. It refuses unknown fields.
func (c *call) decode(v any) error {
	b, err := c.body()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return problem("invalid", "the body is not JSON: %v", err)
	}
	if len(raw) == 0 || raw[0] != '{' {
		return problem("invalid", "the body is not a JSON object")
	}
	var list []protocol.Problem
	for _, p := range strictjson.Decode("", raw, v) {
		list = append(list, protocol.Problem{Field: p.Path, Reason: p.Reason})
	}
	if len(list) > 0 {
		return invalidList(list)
	}
	return nil
}

// config reads a configuration from the request's body.
func (c *call) config() (cfg debate.Config, err error) {
	b, err := c.body()
	if err != nil {
		return cfg, err
	}
	cfg, err = c.engine.ParseConfig(bytes.TrimSpace(b))
	if err == nil {
		return cfg, nil
	}
	if _, ok := errors.AsType[*debate.Problems](err); ok {
		return cfg, err
	}
	return cfg, problem("invalid", "the body is not JSON: %v", errors.Unwrap(err))
}

// answer writes a value as JSON.
func (c *call) answer(status int, v any) error {
	writeJSON(c.w, "application/json", status, v)
	return nil
}

// done answers that a change was made.
func (c *call) done(err error) error {
	if err == nil {
		c.w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// problemOf returns the problem that the client reads for an error. It logs errors whose text the client does not read.
func (c *call) problemOf(err error) *Problem {
	p := problemOf(err)
	if (p.Status == http.StatusInternalServerError || p.Type == typeOf("unavailable")) && c.asked.Context().Err() == nil {
		c.Logger.ErrorContext(c.r.Context(), "answer request", "method", c.r.Method, "path", c.r.URL.Path, "error", err)
	}
	return p
}

var errNoAuthorize = fmt.Errorf("make handler: Options.Authorize is nil, set it, for example to debatehttp.OwnersOnly(%q)", "owner")

// unauthenticated returns the problem for an error of Options.Principal.
func unauthenticated(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return problem("unauthenticated", "the request does not tell who sends it, or not correctly")
}
