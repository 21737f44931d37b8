package forgedtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/inspector"
	"github.com/elenchus-go/debate/internal/forgedtest"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
)

func use(t *testing.T, s store.Store, id string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := debate.NewEngine(debate.Options{Store: s})
	require.NoError(t, err)
	for _, err := range e.List(ctx, store.Query{}) {
		_ = err
	}
	api, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	pages, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	for _, at := range []string{"/debates", "/debates/" + url.PathEscape(id), "/debates/" + url.PathEscape(id) + "/result", "/debates/" + url.PathEscape(id) + "/report?full=true&format=html", "/debates/" + url.PathEscape(id) + "/events"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", at, nil).WithContext(ctx))
		if w.Code == 500 && os.Getenv("V") != "" { t.Log(at, w.Code, w.Body.String()) }
	}
	for _, at := range []string{"/", "/debates/" + url.PathEscape(id), "/debates/" + url.PathEscape(id) + "/judges", "/debates/" + url.PathEscape(id) + "/past?seq=7", "/debates/" + url.PathEscape(id) + "/family"} {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", at, nil).WithContext(ctx))
		if w.Code == 500 && os.Getenv("V") != "" { t.Log(at, w.Code) }
	}
	d, err := e.Open(ctx, id)
	if err != nil {
		return
	}
	st, err := d.Status(ctx)
	_, _ = d.Waiting(ctx)
	r, err := d.Result(ctx)
	if err == nil {
		_, err = json.Marshal(r)
		if err != nil { t.Error("ENC", err) }
		for i, turn := range r.Turns {
			if i % 5 == 0 {
				_, _ = d.PromptOf(ctx, turn.Key)
			}
		}
	}
	for _, err := range d.Replay(ctx) { _ = err }
	for _, err := range d.ReplayAs(ctx, "A") { _ = err }
	rep, err := report.Collect(ctx, d)
	if err == nil {
		_ = report.HTML(io.Discard, rep)
		_ = report.Markdown(io.Discard, rep.Redact())
	}
	_, _ = e.Fork(ctx, id, st.Seq/2, debate.Edits{ID: "f"})
	_ = ctx.Err()
	if ctx.Err() != nil { t.Error("HANG") }
}

func TestSweep(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	seen := map[string]int{}
	ok, refused, stored := 0,0,0
	for i := range n {
		for _, name := range slices.Sorted(maps.Keys(forgedtest.Exports(t))) {
			raw, what := forgedtest.Change(t, forgedtest.Exports(t)[name], rand.New(rand.NewPCG(uint64(seed), uint64(i))), 1+i%2)
			func() {
				defer func() {
					if v := recover(); v != nil {
						stack := string(debug.Stack())
						k := fmt.Sprint(v)
						if len(k) > 60 { k = k[:60] }
						if seen[k]++; seen[k] < 3 { t.Errorf("%s: %s: %v\n%s", name, what, v, stack) }
					}
				}()
				j := &archive.Journal{}
				if json.Unmarshal(raw, j) != nil { refused++; return }
				s := store.Memory()
				if err := archive.Import(t.Context(), s, j); err == nil {
					ok++
					use(t, s, j.Status.ID)
				} else { refused++; if os.Getenv("V2") != "" { fmt.Println(what, err) } }
				s = store.Memory()
				if id, err := forgedtest.Put(t, s, raw); err == nil {
					stored++
					use(t, s, id)
				}
			}()
		}
	}
	t.Log(ok, refused, stored, seen)
}
