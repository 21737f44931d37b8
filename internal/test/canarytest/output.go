package canarytest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// Output collects what leaves the engine.
type Output struct {
	*testing.T

	mu     sync.Mutex
	hidden []string // further texts that no output has
	Seen   int      // bytes
	Leaks  []string
}

// Write implements io.Writer, for logs.
func (o *Output) Write(b []byte) (int, error) {
	o.Add("log", string(b))
	return len(b), nil
}

// Add looks for the marker in a text.
func (o *Output) Add(where, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Seen += len(text)
	for _, x := range append(slices.Clone(o.hidden), marker) {
		if at := strings.Index(text, x); at >= 0 {
			o.Leaks = append(o.Leaks, fmt.Sprintf("%s: …%s…", where, text[max(0, at-80):min(len(text), at+80)]))
		}
	}
}

// Hide looks for further texts from now on.
func (o *Output) Hide(texts []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hidden = append(slices.Clone(o.hidden), texts...)
}

// JSON adds the JSON of a value.
func (o *Output) JSON(where string, v any) {
	raw, err := json.Marshal(v)
	require.NoError(o, err)
	o.Add(where, string(raw))
}

// Observe adds all that an observer gets.
func (o *Output) Observe() debate.Observer {
	return debate.Observer{
		Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
			return ctx, func(out debate.Outcome) {
				o.Add("outcome of "+s.Key.String(), fmt.Sprintf("%v %+v %+v", out.Err, out.Request, out.Response))
				for err := out.Err; err != nil; err = errors.Unwrap(err) {
					o.Add("cause of "+s.Key.String(), fmt.Sprintf("%v %#v", err, err))
				}
				o.JSON("outcome of "+s.Key.String(), []any{out.Turn, out.Attempt, out.Request, out.Response, out.Status, out.Call})
			}
		},
		Commit: func(_ context.Context, _ string, ev debate.Event) { o.JSON("commit", ev) },
		Event:  func(_ string, ev debate.Event) { o.JSON("event", ev) },
	}
}

// Show adds an event, as JSON and printed.
func (o *Output) Show(where string, ev debate.Event) {
	o.JSON(where, ev)
	o.Add(where, fmt.Sprintf("%v %+v %#v", ev, ev, ev))
}

// Pages adds the report about a debate in each format, and the pages of the inspector and responses of the HTTP API: those that
// every debate has, and more below its address.
func (o *Output) Pages(e *debate.Engine, kept store.Store, d *debate.Debate, more ...string) {
	ctx := o.Context()
	r, err := report.Collect(ctx, d)
	require.NoError(o, err)
	o.JSON("report", r)
	var b bytes.Buffer
	require.NoError(o, report.HTML(&b, r))
	require.NoError(o, report.Markdown(&b, r))
	o.Add("report", b.String())
	pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone, Store: kept, Controls: true})
	require.NoError(o, err)
	base := "/debates/" + d.ID()
	paths := []string{"/", "/api" + base, "/api" + base + "/report"}
	for _, path := range append([]string{"", "/past", "/judges", "/family", "/fork"}, more...) {
		paths = append(paths, base+path)
	}
	for i := range r.Result.Turns {
		seq := fmt.Sprint(r.Result.Turns[i].Seq)
		paths = append(paths, base+"/turn?seq="+seq, base+"/past?at="+seq)
	}
	for _, path := range paths {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequestWithContext(context.WithoutCancel(ctx), "GET", path, nil))
		require.Equal(o, 200, w.Code, path)
		o.Add("page "+path, w.Body.String())
	}
}

// KeysIn returns the secret and the keys in the first entry of a debate, in each form in which something could show them.
func KeysIn(t testing.TB, s store.Store, id string) (list []string) {
	t.Helper()
	_, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	raw, err := json.Marshal(entries[0].Data)
	require.NoError(t, err)
	var first struct {
		Secret string            `json:"secret"`
		Copied map[string]string `json:"copied_keys"`
	}
	require.NoError(t, json.Unmarshal(raw, &first))
	texts := []string{first.Secret}
	for _, key := range first.Copied {
		texts = append(texts, key)
	}
	for _, text := range texts {
		b, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		require.Len(t, b, 16)
		list = append(list, text, base64.RawStdEncoding.EncodeToString(b), hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)), strings.Trim(fmt.Sprintf("%d", b), "[]"))
	}
	return list
}

// marker is in everything that is private: the texts, and what a model and its service make of them.
const marker = "XYLOPHONE-7"
