package evidencetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// keysIn returns the secret and the keys in the first entry of a debate, in each form in which something could show them.
func keysIn(t *testing.T, s store.Store, id string) (list []string) {
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

// No output of a debate of any preset, or of its fork, has the secret of the journal. Only the journal and its archive have it.
func TestNoOutputHasTheSecret(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { searchForSecret(t, cfg) })
		})
	}
}

func searchForSecret(t *testing.T, cfg debate.Config) {
	o, kept := &output{T: t, hidden: []string{"no secret yet"}}, store.Memory()
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		o.json("request", r)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	var early bytes.Buffer // logged before the secret is known
	w := &switched{to: &early}
	e, err := debate.NewEngine(debate.Options{
		Store: kept, Providers: map[string]providers.Provider{"m": m}, Observer: o.observe(), KeepReasoning: true, KeepReplies: true,
		Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})), LogTexts: true,
	})
	require.NoError(t, err)
	d, err := e.Create(t.Context(), cfg)
	require.NoError(t, err)
	o.hide(keysIn(t, kept, d.ID()))
	w.to = o
	o.add("log", early.String())
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		o.show("run", ev)
	}
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	fork, err := e.Fork(t.Context(), d.ID(), r.Turns[len(r.Turns)-1].Seq-1, debate.Edits{ID: "fork"})
	require.NoError(t, err)
	keys := keysIn(t, kept, "fork")
	if len(r.Turns) > 4 {
		require.Greater(t, len(keys), 6, "the fork has keys of its parent")
	}
	o.hide(keys)
	for ev, err := range fork.Run(t.Context()) {
		require.NoError(t, err)
		o.show("run", ev)
	}
	for _, d := range []*debate.Debate{d, fork} {
		searchDoors(o, e, kept, d)
	}
	require.Empty(t, o.leaks)
	require.Greater(t, o.seen, 50_000, "the outputs were looked at")

	j, err := archive.Export(t.Context(), kept, d.ID())
	require.NoError(t, err)
	o.json("archive", j)
	require.NotEmpty(t, o.leaks, "an archive has the secret, so that the test would find it")
	require.NoError(t, e.Close(t.Context()))
}

// switched is a writer that can change.
type switched struct {
	to interface{ Write([]byte) (int, error) }
}

// Write implements io.Writer.
func (s *switched) Write(b []byte) (int, error) { return s.to.Write(b) }

// show adds an event, as JSON and printed.
func (o *output) show(where string, ev debate.Event) {
	o.json(where, ev)
	o.add(where, fmt.Sprintf("%v %+v %#v", ev, ev, ev))
}

// searchDoors adds what the engine and its doors show of a debate.
func searchDoors(o *output, e *debate.Engine, kept store.Store, d *debate.Debate) {
	ctx := o.Context()
	r, err := d.Result(ctx)
	require.NoError(o, err)
	o.json("result", r)
	status, err := d.Status(ctx)
	require.NoError(o, err)
	o.json("status", status)
	for _, turn := range r.Turns {
		p, err := d.PromptOf(ctx, turn.Key)
		require.NoError(o, err)
		o.json("prompt", p)
	}
	for m, err := range d.Replay(ctx) {
		require.NoError(o, err)
		o.show("replay", m.Event)
	}
	for ev, err := range d.Watch(ctx, 0) {
		require.NoError(o, err)
		o.show("watch", ev)
	}
	for ev, err := range d.WatchAs(ctx, r.Participants[0].Name, 0) {
		require.NoError(o, err)
		o.show("watch as a seat", ev)
	}
	full, err := report.Collect(ctx, d)
	require.NoError(o, err)
	o.json("report", full)
	var b bytes.Buffer
	require.NoError(o, report.HTML(&b, full))
	require.NoError(o, report.Markdown(&b, full))
	o.add("report", b.String())
	pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone, Store: kept, Controls: true})
	require.NoError(o, err)
	base := "/debates/" + d.ID()
	paths := []string{"/", base, base + "/past", base + "/judges", base + "/family", base + "/fork", "/api" + base, "/api" + base + "/report", "/api" + base + "/events"}
	for _, page := range turnPages(r) {
		paths = append(paths, strings.Replace(page, "/debates/d/", base+"/", 1))
	}
	for _, path := range paths {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequestWithContext(context.WithoutCancel(ctx), "GET", path, nil))
		require.Equal(o, 200, w.Code, path)
		o.add("page "+path, w.Body.String())
	}
}
