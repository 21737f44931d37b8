package inspector

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// prefix holds the path below which the tests mount the inspector.
const prefix = "/some/where"

// web is an inspector on a server.
type web struct {
	t      testing.TB
	engine *debate.Engine
	server *httptest.Server
}

// open starts a server with an inspector.
func open(t testing.TB, o Options, models ...providers.Provider) *web {
	t.Helper()
	model := offline.Model(false)
	if len(models) > 0 {
		model = models[0]
	}
	engine := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"model": model}, Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
		return privateDocument, nil
	}})
	return serve(t, engine, o)
}

// privateDocument is the text of each private document.
const privateDocument = "The private text."

// serve starts a server with an inspector of an engine.
func serve(t testing.TB, engine *debate.Engine, o Options) *web {
	t.Helper()
	if o.Authorize == nil {
		o.Authorize = debatehttp.AllowEveryone
	}
	h, err := Handler(engine, o)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, h))
	w := &web{t, engine, httptest.NewServer(mux)}
	t.Cleanup(func() {
		debatetest.Kill(engine)
		w.server.Close()
	})
	return w
}

// pair returns a configuration with two participants and a judge.
func pair(id string) debate.Config {
	return debate.Config{
		ID: id, Topic: "Ban <b>cars</b>?", Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges: []debate.Participant{{Name: "Jo"}}, Limits: debate.Limits{MaxRounds: 2},
	}
}

// create stores a debate.
func (w *web) create(cfg debate.Config) *debate.Debate {
	w.t.Helper()
	return debatetest.Create(w.t, w.engine, cfg)
}

// run runs a debate as far as it goes.
func (w *web) run(cfg debate.Config) *debate.Debate {
	w.t.Helper()
	d := w.create(cfg)
	debatetest.Finish(w.t, d)
	return d
}

// do sends a request to a path below the prefix. It follows no redirect.
func (w *web) do(method, path string, form url.Values, header ...string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+prefix+path, strings.NewReader(form.Encode()))
	require.NoError(w.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(w.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	return res, string(b)
}

// get returns a page and requires a status code.
func (w *web) get(want int, path string, header ...string) string {
	w.t.Helper()
	res, body := w.do(http.MethodGet, path, nil, header...)
	require.Equal(w.t, want, res.StatusCode, body)
	return body
}

// post sends a form and requires a status code.
func (w *web) post(want int, path string, form url.Values, header ...string) string {
	w.t.Helper()
	if form == nil {
		form = url.Values{}
	}
	res, body := w.do(http.MethodPost, path, form, header...)
	require.Equal(w.t, want, res.StatusCode, body)
	return body
}
