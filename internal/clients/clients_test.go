package clients_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
)

// plain is a provider that says nothing about itself.
type plain struct{}

func (plain) Generate(context.Context, providers.Request) (providers.Response, error) {
	panic("nobody is called")
}

// telling is a provider that says everything.
type telling struct {
	plain

	check       func(model string) error
	unsupported func(providers.Request) map[string]string
	window      func(model string) int
	asked       []string
}

func (p *telling) Check(_ context.Context, model string) error {
	p.asked = append(p.asked, model)
	return p.check(model)
}

func (p *telling) Unsupported(r providers.Request) map[string]string { return p.unsupported(r) }

func (p *telling) Window(model string) int { return p.window(model) }

// asker returns an asker, and what it logs.
func asker() (clients.Asker, *strings.Builder) {
	var log strings.Builder
	return clients.Asker{
		Log:   slog.New(slog.NewTextHandler(&log, nil)),
		Shown: func(err error) any { return providers.AsError(err).Kind },
	}, &log
}

// of returns an actor of a provider.
func of(field, model string, p providers.Provider) clients.Actor {
	return clients.Actor{Field: field, Seat: field, Provider: "acme", Client: p, Request: providers.Request{Model: model}}
}

func problems[P interface{ String() string }](list []P) (texts []string) {
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return texts
}

func TestEachModelIsCheckedOnce(t *testing.T) {
	fails := func(kind providers.ErrorKind) func(string) error {
		return func(model string) error {
			if model == "good" {
				return nil
			}
			return &providers.Error{Kind: kind, Err: errors.New("call failed")}
		}
	}
	for _, tt := range []struct {
		name        string
		check       func(string) error
		want, asked []string
		logs        string
	}{
		{"all is well", func(string) error { return nil }, nil, []string{"good", "bad", "worse"}, ""},
		{
			"unknown models", fails(providers.InvalidRequest),
			[]string{"judges[1].model: provider acme: invalid_request: call failed; the same model is in judges[2]", "judges[3].model: provider acme: invalid_request: call failed"},
			[]string{"good", "bad", "worse"},
			"",
		},
		{"a wrong key", fails(providers.Authentication), []string{"judges[1].provider: provider acme: authentication: call failed"}, []string{"good", "bad"}, ""},
		{"no money", fails(providers.Billing), []string{"judges[1].provider: provider acme: billing: call failed"}, []string{"good", "bad"}, ""},
		{"no connection", fails(providers.Network), nil, []string{"good", "bad"}, "error=network"},
		{"a busy service", fails(providers.ServerError), nil, []string{"good", "bad", "worse"}, "error=server_error"},
		{
			"a broken provider", func(string) error { panic("broken") },
			[]string{"judges[0].provider: provider acme: check of its key and model: panic: broken"},
			[]string{"good"},
			"stack=",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &telling{check: tt.check}
			a, log := asker()
			same := of("summarizer", "bad", p)
			same.Inherits = true
			found := a.Access(t.Context(), []clients.Actor{
				of("judges[0]", "good", p), of("judges[1]", "bad", p), of("judges[2]", "bad", p), of("judges[3]", "worse", p), same, of("judges[4]", "other", plain{}),
			})
			require.Equal(t, tt.want, problems(found))
			require.Equal(t, tt.asked, p.asked)
			require.Contains(t, log.String(), tt.logs)
			require.Equal(t, tt.logs == "", log.String() == "")
		})
	}
}

func TestNobodyIsAskedAfterTheEnd(t *testing.T) {
	p := &telling{}
	a, _ := asker()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Empty(t, a.Access(ctx, []clients.Actor{of("judges[0]", "m", p)}))
	require.Empty(t, p.asked)
}

// While one provider cannot be reached, others are asked whether they answer. An error that came from the service is an answer.
func TestWhoAnswers(t *testing.T) {
	named := func(name string, p providers.Provider) clients.Actor {
		x := of("participants[0]", "m", p)
		x.Provider = name
		return x
	}
	failing := func(kind providers.ErrorKind) providers.Provider {
		return &telling{check: func(string) error { return &providers.Error{Kind: kind, Err: errors.New("no")} }}
	}
	fine := &telling{check: func(string) error { return nil }}
	for name, tt := range map[string]struct {
		list          []clients.Actor
		answer, known bool
	}{
		"nobody":             {nil, false, true},
		"one":                {[]clients.Actor{named("a", fine)}, true, true},
		"a refused key":      {[]clients.Actor{named("a", failing(providers.Authentication))}, true, true},
		"no network":         {[]clients.Actor{named("a", failing(providers.Network))}, false, true},
		"too late":           {[]clients.Actor{named("a", failing(providers.Timeout))}, false, true},
		"one of two":         {[]clients.Actor{named("a", failing(providers.Network)), named("b", fine)}, true, true},
		"it cannot tell":     {[]clients.Actor{named("a", plain{})}, false, false},
		"wrapped":            {[]clients.Actor{named("a", middleware.Wrap(fine, middleware.Concurrency(1)))}, true, true},
		"wrapped, and blind": {[]clients.Actor{named("a", middleware.Wrap(plain{}, middleware.Concurrency(1)))}, false, false},
		"a bug":              {[]clients.Actor{named("a", &telling{check: func(string) error { panic("broken") }})}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := asker()
			answer, known := a.AnyAnswers(t.Context(), tt.list)
			require.Equal(t, tt.answer, answer)
			require.Equal(t, tt.known, known)
		})
	}
}

func TestUnsupportedSettings(t *testing.T) {
	p := &telling{unsupported: func(r providers.Request) map[string]string {
		switch r.Model {
		case "panics":
			panic("broken")
		case "fine":
			return nil
		}
		return map[string]string{"seed": "it has no seed", "attachments": "it reads none"}
	}}
	a, _ := asker()
	silent, blind := of("retriever", "", p), of("judges[1]", "", plain{})
	silent.NoText, blind.Request.Messages = true, []providers.Message{{Text: "a picture"}}
	found := problems(a.Settings(t.Context(), []clients.Actor{of("judges[0]", "fine", p), of("judges[0]", "", p), silent, blind, of("judges[2]", "", plain{}), of("judges[4]", "panics", p), of("judges[5]", "", p), of("judges[6]", "panics", p)}))
	require.Len(t, found, 7, "a panic is reported, and the rest are asked")
	require.Equal(t, []string{
		"attachments: judges[0]: provider acme: it reads none, or leave judges[0] out of the readers",
		"judges[0].seed: provider acme: it has no seed",
		"attachments: judges[1]: provider acme does not say what it reads, implement providers.Limited or leave judges[1] out of the readers",
	}, found[:3])
	require.Contains(t, found[3], "judges[4].provider: provider acme: check of its settings: panic: broken")
	require.Equal(t, "judges[5].seed: provider acme: it has no seed", found[5])
	require.Contains(t, found[6], "judges[6].provider: ")
	_, known, failed := a.Unsupported(t.Context(), "acme", plain{}, providers.Request{})
	require.False(t, known)
	require.Nil(t, failed)
}

func TestWindowsThatProvidersKnow(t *testing.T) {
	p := &telling{window: func(model string) int {
		if model == "broken" {
			panic("broken")
		}
		return map[string]int{"small": 4_000, "large": 200_000, "wrong": -1}[model]
	}}
	sized := func(field, model string, size int) clients.Actor {
		x := of(field, model, p)
		x.Window = size
		return x
	}
	a, _ := asker()
	silent := of("retriever", "small", p)
	silent.NoText = true
	require.Equal(t, map[string]int{"a": 4_000, "b": 32_000, "c": 32_000, "d": 4_000, "g": 32_000}, a.Windows(t.Context(), []clients.Actor{
		sized("a", "small", 0), sized("b", "unknown", 0), sized("c", "wrong", 0), sized("d", "small", 8_000), sized("e", "large", 8_000), sized("f", "unknown", 8_000),
		sized("g", "broken", 0), silent,
	}))
	require.Nil(t, a.Windows(t.Context(), nil))
}
