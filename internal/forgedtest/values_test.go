package forgedtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/internal/forgedtest"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

// use does with a stored debate everything that reads it. What is wrong with the debate must be an error: nothing may
// panic, take long or need much memory.
func use(t testing.TB, s store.Store, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	before := allocated()
	e, err := debate.NewEngine(debate.Options{Store: s})
	require.NoError(t, err)
	visit(ctx, t, e, id)
	read(ctx, t, e, id)
	require.NoError(t, ctx.Err(), "it takes too long")
	require.Less(t, allocated()-before, uint64(1<<30), "it needs too much memory")
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// visit gets the addresses of a debate over HTTP, and the pages of the inspector.
func visit(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	api, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	at := "/debates/" + url.PathEscape(id)
	for path, h := range map[string]http.Handler{
		"/debates": api, at: api, at + "/result": api, at + "/report?full=true&format=html": api, at + "/waiting": api,
		"/": pages, at + "/judges": pages, at + "/past?seq=7": pages, at + "/family": pages, at + "/archive": pages,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}
}

// read calls the methods of a debate that read it.
func read(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	for status, err := range e.List(ctx, store.Query{}) {
		require.True(t, err != nil || status.ID != "")
	}
	_, _ = e.Fork(ctx, id, 0, debate.Edits{ID: "fork"})
	d, err := e.Open(ctx, id)
	if err != nil {
		var damaged *store.Damaged
		require.True(t, errors.As(err, &damaged) || errors.Is(err, debate.ErrUnsupported) || errors.Is(err, store.ErrNotFound), "%v", err)
		return
	}
	r, err := d.Result(ctx)
	require.NoError(t, err)
	_, err = json.Marshal(r)
	require.NoError(t, err)
	for _, turn := range r.Turns[:min(len(r.Turns), 3)] {
		_, _ = d.PromptOf(ctx, turn.Key)
	}
	for m, err := range d.ReplayAs(ctx, "A") {
		require.True(t, err != nil || m != nil)
	}
	_, _ = d.Waiting(ctx)
	if doc, err := report.Collect(ctx, d); err == nil {
		require.NoError(t, report.HTML(io.Discard, doc))
		require.NoError(t, report.Markdown(io.Discard, doc.Redact()))
	}
}

// try imports a journal, stores it as it is too, and uses both debates.
func try(t testing.TB, raw []byte) (imported bool) {
	t.Helper()
	j := &archive.Journal{}
	if json.Unmarshal(raw, j) != nil {
		return false
	}
	s := store.Memory()
	err := archive.Import(t.Context(), s, j)
	if err == nil {
		use(t, s, j.Status.ID)
	}
	s = store.Memory()
	if id, stored := forgedtest.Put(t, s, raw); stored == nil {
		use(t, s, id)
	}
	return err == nil
}

// A journal in which some values are changed is refused, or it is another valid journal.
func TestChangedValuesAreHarmless(t *testing.T) {
	exports := forgedtest.Exports(t)
	imported := 0
	for i, name := range slices.Sorted(maps.Keys(exports)) {
		require.True(t, try(t, exports[name]), name)
		for n := range 12 {
			raw, what := forgedtest.Change(t, exports[name], rand.New(rand.NewPCG(uint64(i), uint64(n))), 1+n%3) //nolint:gosec // the same each time
			if !t.Run(name+": "+what, func(t *testing.T) {
				if try(t, raw) {
					imported++
				}
			}) {
				return
			}
		}
	}
	require.NotZero(t, imported, "not every change is refused")
}

// FuzzValues changes values of exported debates.
func FuzzValues(f *testing.F) {
	exports := forgedtest.Exports(f)
	names := slices.Sorted(maps.Keys(exports))
	for i := range names {
		f.Add(uint(i), uint64(1), uint8(1))
	}
	f.Fuzz(func(t *testing.T, which uint, seed uint64, changes uint8) {
		name := names[which%uint(len(names))]
		raw, what := forgedtest.Change(t, exports[name], rand.New(rand.NewPCG(seed, 0)), int(changes%4)) //nolint:gosec // the fuzzer chooses the seed
		t.Log(name, what)
		try(t, raw)
	})
}

// An engine and an import name the entry that no version of the library writes.
func TestAForgedEntryIsNamed(t *testing.T) {
	for _, f := range forgedtest.Forgeries(t) {
		t.Run(f.Name, func(t *testing.T) {
			s := store.Memory()
			id, err := forgedtest.Put(t, s, f.Journal)
			require.NoError(t, err)
			e, err := debate.NewEngine(debate.Options{Store: s})
			require.NoError(t, err)
			d, opened := e.Open(t.Context(), id)
			_, forked := e.Fork(t.Context(), id, 0, debate.Edits{})
			_, result := d.Result(t.Context())
			_, once := d.RunOnce(t.Context())
			for what, err := range map[string]error{"open": opened, "fork": forked, "result": result, "work": once, "start": d.Start(t.Context())} {
				var damaged *store.Damaged
				require.ErrorAs(t, err, &damaged, what)
				require.Equal(t, f.Entry, damaged.Seq, "%s: %v", what, err)
			}
			j := &archive.Journal{}
			require.NoError(t, json.Unmarshal(f.Journal, j))
			require.ErrorContains(t, archive.Import(t.Context(), store.Memory(), j), "entry ")
		})
	}
}
