package evidencetest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/canarytest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// No output of a debate of any preset, or of its fork, has the secret of the journal. Only the journal and its archive have it.
func TestNoOutputHasTheSecret(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { searchForSecret(t, cfg) })
		})
	}
}

func searchForSecret(t *testing.T, cfg debate.Config) {
	o, kept := &canarytest.Output{T: t}, store.Memory()
	m := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		o.JSON("request", r)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	var early bytes.Buffer // logged before the secret is known
	w := &switched{to: &early}
	e := debatetest.Engine(t, debate.Options{
		Store: kept, Providers: map[string]providers.Provider{"m": m}, Observer: o.Observe(), KeepReasoning: true, KeepReplies: true,
		Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})), LogTexts: true,
	})
	d := debatetest.Create(t, e, cfg)
	o.Hide(canarytest.KeysIn(t, kept, d.ID()))
	w.to = o
	o.Add("log", early.String())
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		o.Show("run", ev)
	}
	r := debatetest.Result(t, d)
	fork := debatetest.Fork(t, e, d.ID(), r.Turns[len(r.Turns)-1].Seq-1, debate.Edits{ID: "fork"})
	keys := canarytest.KeysIn(t, kept, "fork")
	if len(r.Turns) > 4 {
		require.Greater(t, len(keys), 6, "the fork has keys of its parent")
	}
	o.Hide(keys)
	for ev, err := range fork.Run(t.Context()) {
		require.NoError(t, err)
		o.Show("run", ev)
	}
	for _, d := range []*debate.Debate{d, fork} {
		searchDoors(o, e, kept, d)
	}
	require.Empty(t, o.Leaks)
	require.Greater(t, o.Seen, 50_000, "the outputs were looked at")

	j, err := archive.Export(t.Context(), kept, d.ID())
	require.NoError(t, err)
	o.JSON("archive", j)
	require.NotEmpty(t, o.Leaks, "an archive has the secret, so that the test would find it")
	require.NoError(t, e.Close(t.Context()))
}

// switched is a writer that can change.
type switched struct {
	to interface{ Write([]byte) (int, error) }
}

// Write implements io.Writer.
func (s *switched) Write(b []byte) (int, error) { return s.to.Write(b) }

// searchDoors adds what the engine and its doors show of a debate.
func searchDoors(o *canarytest.Output, e *debate.Engine, kept store.Store, d *debate.Debate) {
	ctx := o.Context()
	r, err := d.Result(ctx)
	require.NoError(o, err)
	o.JSON("result", r)
	status, err := d.Status(ctx)
	require.NoError(o, err)
	o.JSON("status", status)
	for _, turn := range r.Turns {
		p, err := d.PromptOf(ctx, turn.Key)
		require.NoError(o, err)
		o.JSON("prompt", p)
	}
	for m, err := range d.Replay(ctx) {
		require.NoError(o, err)
		o.Show("replay", m.Event)
	}
	for ev, err := range d.Watch(ctx, 0) {
		require.NoError(o, err)
		o.Show("watch", ev)
	}
	for ev, err := range d.WatchAs(ctx, r.Participants[0].Name, 0) {
		require.NoError(o, err)
		o.Show("watch as a seat", ev)
	}
	o.Pages(e, kept, d)
	events := httptest.NewRecorder()
	pages, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(o, err)
	pages.ServeHTTP(events, httptest.NewRequestWithContext(context.WithoutCancel(ctx), "GET", "/debates/"+d.ID()+"/events", nil))
	require.Equal(o, 200, events.Code)
	o.Add("events", events.Body.String())
}
