package debatehttp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

func TestAHandlerNeedsAuthorization(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	_, err := New(e, Options{})
	require.ErrorContains(t, err, "Options.Authorize is nil")
	_, err = New(e, Options{Authorize: AllowEveryone, TrustedOrigins: []string{"example.com"}})
	require.ErrorContains(t, err, "example.com")
}

// bodies holds a body for each route that reads one, valid enough to reach the authorization.
var bodies = map[Action]string{
	Launch: strings.Replace(posted, "cars", "bikes", 1), Edit: posted, Decide: `{"question": "q", "action": "retry"}`,
	Inject: `{"from": "Cleo", "text": "x"}`, Annotate: `1`, Answer: `{"key": {"actor": "Ada"}, "text": "x"}`, Decline: `{"key": {"actor": "Ada"}}`,
	Fork: `{"seq": 1}`,
}

// Each route asks for its action before it does anything, with the principal, the debate and the seat.
func TestEachRouteIsAuthorized(t *testing.T) {
	var got []Access
	allowed := Action("")
	s := open(t, store.Memory(), Options{
		Heartbeat: time.Hour, Presets: map[string]debate.Config{"pair": preset},
		Principal: func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil },
		Authorize: func(_ context.Context, a *Access) error {
			got = append(got, *a)
			if a.Action == allowed {
				return nil
			}
			return errors.New("a secret reason")
		},
	})
	allowed = Launch
	s.begin()
	d := debatetest.Open(t, s.engine, "cars")
	allowed = ""
	for _, r := range routes {
		before := debatetest.Status(t, d)
		got = nil
		path := strings.NewReplacer("{id}", "cars", "{name}", "note", "{model}", "pair").Replace(r.path)
		if r.action == Inbox || r.action == Watch || r.action == Waiting {
			path += "?seat=Ada"
		}
		if r.action == Prompt {
			path += "?seat=Ada&actor=Ada"
		}
		body := bodies[r.action]
		if strings.HasPrefix(r.path, chatPath) {
			body = strings.Replace(asked, "Ban cars?", "Ban <b>cars</b>?", 1) + "}"
		}
		p := s.refuses("forbidden", r.method, path, body, "X-User", "ann")
		require.NotContains(t, p.Detail, "secret")
		require.Len(t, got, 1, r.path)
		require.Equal(t, r.action, got[0].Action)
		require.Equal(t, "ann", got[0].Principal)
		if strings.Contains(r.path, "{id}") {
			require.Equal(t, "cars", got[0].Debate.ID)
		}
		require.Equal(t, r.action == Launch || r.action == Edit || r.action == Fork, got[0].Config != nil)
		require.Equal(t, r.action == List || r.action == Inbox, got[0].Query != nil)
		require.Equal(t, r.action == Inject, got[0].Seat == "Cleo")
		if slices.Contains([]Action{Answer, Decline, Inbox, Prompt, Watch, Waiting}, r.action) {
			require.Equal(t, "Ada", got[0].Seat)
		}
		after := debatetest.Status(t, d)
		require.Equal(t, before.Labels, after.Labels)
		require.Equal(t, before.State.Active(), after.State.Active(), "%s changed the debate", r.path)
	}
	_, err := s.engine.Open(t.Context(), "bikes")
	require.ErrorIs(t, err, store.ErrNotFound)
	s.refuses("forbidden", http.MethodGet, "/debates/cars/report?full=true", "")
	require.Equal(t, FullReport, got[len(got)-1].Action)
}

// Each principal has its own debates. For others they do not exist.
func TestOwnersOnly(t *testing.T) {
	o := allowing()
	o.Authorize = OwnersOnly("owner")
	o.Principal = func(r *http.Request) (string, error) {
		if user := r.Header.Get("Authorization"); user != "" {
			return strings.TrimPrefix(user, "Bearer "), nil
		}
		return "", errors.New("there is no token")
	}
	s := open(t, store.Memory(), o)
	ann, bob := []string{"Authorization", "Bearer ann"}, []string{"Authorization", "Bearer bob"}
	launch := func(body string, who []string) string {
		body = strings.Replace(body, `"id"`, `"seed"`, 1)
		return parsed[launched](t, s.wants(http.StatusCreated, http.MethodPost, "/debates", body, who...)).ID
	}
	anns := launch(strings.Replace(posted, `"topic"`, `"labels": {"owner": "bob", "team": "red"}, "topic"`, 1), ann)
	bobs := launch(named("bobs", "red"), bob)

	list := func(who []string, query string) (ids []string) {
		for _, d := range parsed[page](t, s.wants(http.StatusOK, http.MethodGet, "/debates"+query, "", who...)).Items {
			ids = append(ids, d.ID)
		}
		return ids
	}
	require.Equal(t, []string{anns}, list(ann, ""))
	require.Equal(t, []string{bobs}, list(bob, "?label=team:red"))
	require.Equal(t, []string{bobs}, list(bob, "?label=owner:ann"), "the hook replaces what the client asks for")
	require.Equal(t, map[string]string{"owner": "ann", "team": "red"}, parsed[store.Status](t, s.wants(http.StatusOK, http.MethodGet, "/debates/"+anns, "", ann...)).Labels)

	for _, r := range routes {
		for _, body := range []string{strings.ReplaceAll(bodies[r.action], "cars", anns), "", "{", "{}", "[]", `{"x": 1}`, `{"key": 1}`, `{"id": "x"}`, strings.Repeat("x", 2<<20)} {
			for _, query := range []string{"", "?x=1", "?full=perhaps", "?format=pdf", "?seat=Cleo"} {
				if !strings.Contains(r.path, "{id}") || query != "" && r.method != http.MethodGet {
					continue
				}
				ask := func(id string) (int, string) {
					path := strings.NewReplacer("{id}", id, "{name}", "note").Replace(r.path)
					code, _, text := s.do(r.method, path+query, strings.ReplaceAll(body, anns, id), append(bob, "Last-Event-ID", "x"+body[:min(1, len(body))])...)
					return code, strings.ReplaceAll(text, id, "")
				}
				hidden, text := ask(anns)
				missing, want := ask("missing")
				require.Equal(t, missing, hidden, "nobody learns that the debate exists: %s %s %.20s", r.method, r.path+query, body)
				require.Equal(t, want, text)
			}
		}
		if strings.Contains(r.path, "{id}") {
			path := strings.NewReplacer("{id}", anns, "{name}", "note").Replace(r.path)
			s.refuses("not-found", r.method, path, strings.ReplaceAll(bodies[r.action], "cars", anns), bob...)
		}
	}
	taken := s.refuses("invalid", http.MethodPost, "/debates", strings.Replace(posted, "cars", anns, 1), bob...)
	free := s.refuses("invalid", http.MethodPost, "/debates", strings.Replace(posted, "cars", "missing", 1), bob...)
	require.Equal(t, free, taken, "nobody learns that an id is taken")
	p := s.refuses("unauthenticated", http.MethodGet, "/debates", "")
	require.NotContains(t, p.Detail, "there is no token")
	_, h, _ := s.do(http.MethodGet, "/debates", "")
	require.Equal(t, "Bearer", h.Get("WWW-Authenticate"))
	require.Error(t, o.Authorize(t.Context(), &Access{Action: List, Query: &store.Query{}}), "nobody")

	// An owner cannot give a debate away.
	s.wants(http.StatusNoContent, http.MethodPost, "/debates/"+anns+"/cancel", "", ann...)
	require.NoError(t, OwnersOnly("owner")(t.Context(), &Access{Principal: "ann", Action: Models}))
	cfg := debate.Config{Labels: map[string]string{"owner": "bob"}}
	require.NoError(t, OwnersOnly("owner")(t.Context(), &Access{Principal: "ann", Action: Edit, Config: &cfg, Debate: store.Status{Labels: map[string]string{"owner": "ann"}}}))
	require.Equal(t, "ann", cfg.Labels["owner"])
}

// The functions of Options may choose what the client reads. Other errors reach only the log.
func TestProblemsOfTheProgram(t *testing.T) {
	var log bytes.Buffer
	o := allowing()
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	o.Authorize = func(context.Context, *Access) error {
		return &Problem{Status: http.StatusPaymentRequired, Title: "You have no credit"}
	}
	s := open(t, store.Memory(), o)
	require.Contains(t, s.wants(http.StatusPaymentRequired, http.MethodGet, "/debates", ""), "no credit")
	o.Principal = func(*http.Request) (string, error) {
		return "", &Problem{Status: http.StatusTooManyRequests, Title: "Later"}
	}
	s = open(t, store.Memory(), o)
	s.wants(http.StatusTooManyRequests, http.MethodGet, "/debates", "")

	broken := open(t, brokenStore{store.Memory()}, Options{Authorize: AllowEveryone, Logger: o.Logger})
	text := broken.wants(http.StatusInternalServerError, http.MethodGet, "/debates/cars", "")
	require.NotContains(t, text, "password")
	require.Contains(t, log.String(), "password")
}

// brokenStore cannot be read.
type brokenStore struct{ store.Store }

func (brokenStore) Load(context.Context, string, int64) (store.Status, []store.Entry, error) {
	return store.Status{}, nil, errors.New("connect to postgres://me:password@db")
}

// A page of another site cannot change anything.
func TestWritesOfOtherSites(t *testing.T) {
	o := allowing()
	o.TrustedOrigins = []string{"https://app.example.com"}
	s := open(t, store.Memory(), o)
	s.begin()
	for _, r := range routes {
		path := strings.NewReplacer("{id}", "cars", "{name}", "note", "{model}", "pair").Replace(r.path)
		if r.action.Changes() {
			s.refuses("cross-origin", r.method, path, bodies[r.action], "Sec-Fetch-Site", "cross-site")
			s.refuses("cross-origin", r.method, path, bodies[r.action], "Origin", "https://evil.example")
		}
		require.Equal(t, r.action.Changes(), r.method != http.MethodGet, r.path)
	}
	s.wants(http.StatusNoContent, http.MethodPost, "/debates/cars/cancel", "", "Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site")
}

// The key of a request stays the same if Authorize changes the configuration in another way.
func TestHooksDoNotChangeTheKey(t *testing.T) {
	o, calls := allowing(), 0
	o.Authorize = func(_ context.Context, a *Access) error {
		calls++
		a.Config.Labels["call"] = strconv.Itoa(calls)
		return nil
	}
	s := open(t, store.Memory(), o)
	body := strings.Replace(posted, `"id": "cars", `, "", 1)
	first := s.wants(http.StatusCreated, http.MethodPost, "/debates", body, "Idempotency-Key", "k")
	require.Equal(t, first, s.wants(http.StatusCreated, http.MethodPost, "/debates", body, "Idempotency-Key", "k"))
	require.Equal(t, 2, calls)
}
