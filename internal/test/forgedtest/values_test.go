package forgedtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// use does with a stored debate what the given doors do with it. What is wrong with the debate must be an error: nothing may
// panic, take long or need much memory.
func use(t testing.TB, s store.Store, id string, through []door) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	before := allocated()
	e := debatetest.Engine(t, debate.Options{Store: s})
	for _, d := range through {
		d(ctx, t, e, id)
	}
	require.NoError(t, ctx.Err(), "it takes too long")
	require.Less(t, allocated()-before, uint64(1<<30), "it needs too much memory")
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// door is something that reads a debate.
type door func(ctx context.Context, t testing.TB, e *debate.Engine, id string)

// doors is everything that reads a debate.
func doors() (list []door) {
	const at = "/debates/{id}"
	for _, path := range []string{"/debates", at, at + "/result", at + "/report?full=true&format=html", at + "/waiting"} {
		list = append(list, func(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
			t.Helper()
			h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
			require.NoError(t, err)
			visit(ctx, h, path, id)
		})
	}
	for _, path := range []string{"/", at + "/judges", at + "/past?seq=7", at + "/family", at + "/archive"} {
		list = append(list, func(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
			t.Helper()
			h, err := inspector.Handler(e, inspector.Options{Authorize: debatehttp.AllowEveryone})
			require.NoError(t, err)
			visit(ctx, h, path, id)
		})
	}
	return append(list, enumerate, branch, results, replay, reports)
}

// visit gets an address about a debate.
func visit(ctx context.Context, h http.Handler, path, id string) {
	path = strings.ReplaceAll(path, "{id}", url.PathEscape(id))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
}

func enumerate(ctx context.Context, t testing.TB, e *debate.Engine, _ string) {
	t.Helper()
	for status, err := range e.List(ctx, store.Query{}) {
		require.True(t, err != nil || status.ID != "")
	}
}

func branch(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	_, _ = e.Fork(ctx, id, 0, debate.Edits{ID: "fork"})
}

func results(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	d, opened := open(ctx, t, e, id)
	if !opened {
		return
	}
	r, err := d.Result(ctx)
	require.NoError(t, err)
	_, err = json.Marshal(r)
	require.NoError(t, err)
	for _, turn := range r.Turns[:min(len(r.Turns), 3)] {
		_, _ = d.PromptOf(ctx, turn.Key)
	}
}

func replay(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	d, opened := open(ctx, t, e, id)
	if !opened {
		return
	}
	for m, err := range d.ReplayAs(ctx, "A") {
		require.True(t, err != nil || m != nil)
	}
	_, _ = d.Waiting(ctx)
}

func reports(ctx context.Context, t testing.TB, e *debate.Engine, id string) {
	t.Helper()
	d, opened := open(ctx, t, e, id)
	if !opened {
		return
	}
	if doc, err := report.Collect(ctx, d); err == nil {
		require.NoError(t, report.HTML(io.Discard, doc))
		require.NoError(t, report.Markdown(io.Discard, doc.Redact()))
	}
}

// open opens a debate. It reports whether it is valid.
func open(ctx context.Context, t testing.TB, e *debate.Engine, id string) (*debate.Debate, bool) {
	t.Helper()
	d, err := e.Open(ctx, id)
	if err != nil {
		var damaged *store.Damaged
		require.True(t, errors.As(err, &damaged) || errors.Is(err, debate.ErrUnsupported) || errors.Is(err, store.ErrNotFound), "%v", err)
	}
	return d, err == nil
}

// try imports a journal and uses the debate.
func try(t testing.TB, raw []byte, through []door) (imported bool) {
	t.Helper()
	j := &archive.Journal{}
	if json.Unmarshal(raw, j) != nil {
		return false
	}
	s := store.Memory()
	if archive.Import(t.Context(), s, j) != nil {
		return false
	}
	use(t, s, j.Status.ID, through)
	return true
}

// tryStored stores a journal as it is and uses the debate.
func tryStored(t testing.TB, raw []byte, through []door) {
	t.Helper()
	s := store.Memory()
	if id, err := forgedtest.Put(t, s, raw); err == nil {
		use(t, s, id, through)
	}
}

// A journal in which some values are changed is refused, or it is another valid journal.
func TestChangedValuesAreHarmless(t *testing.T) {
	exports := forgedtest.Exports(t)
	imported := 0
	for i, name := range slices.Sorted(maps.Keys(exports)) {
		require.True(t, try(t, exports[name], doors()), name)
		for n := range 12 {
			raw, what := forgedtest.Change(t, exports[name], rand.New(rand.NewPCG(uint64(i), uint64(n))), 1+n%3) //nolint:gosec // the same each time
			if !t.Run(name+": "+what, func(t *testing.T) {
				tryStored(t, raw, doors())
				if try(t, raw, doors()) {
					imported++
				}
			}) {
				return
			}
		}
	}
	require.NotZero(t, imported, "not every change is refused")
}

// FuzzValues changes values of exported debates. Each run uses one door, so that there are many runs.
func FuzzValues(f *testing.F) {
	exports := forgedtest.Exports(f)
	names, all := slices.Sorted(maps.Keys(exports)), doors()
	for i := range max(len(names), 2*len(all)) {
		f.Add(uint(i), uint64(1), uint8(1), uint8(i))
	}
	f.Fuzz(func(t *testing.T, which uint, seed uint64, changes, through uint8) {
		name := names[which%uint(len(names))]
		raw, what := forgedtest.Change(t, exports[name], rand.New(rand.NewPCG(seed, 0)), int(changes%4)) //nolint:gosec // the fuzzer chooses the seed
		at := int(through) / 2 % len(all)
		t.Log(name, what, "door", at)
		if one := all[at : at+1]; through%2 == 0 {
			tryStored(t, raw, one)
		} else {
			try(t, raw, one)
		}
	})
}

// An engine and an import name the entry that no version of the library writes.
func TestAForgedEntryIsNamed(t *testing.T) {
	for _, f := range forgedtest.Forgeries(t) {
		t.Run(f.Name, func(t *testing.T) {
			s := store.Memory()
			id, err := forgedtest.Put(t, s, f.Journal)
			require.NoError(t, err)
			e := debatetest.Engine(t, debate.Options{Store: s})
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

// An import refuses a journal in which a value that follows from the entries before is another one.
func TestAnImportRefusesWhatTheRecordContradicts(t *testing.T) {
	derived := regexp.MustCompile(`^\.entries\[(\d+)\]\.data\.(from|round|ending\.round|turn\.(round|order|seq|visible_seq|kind|contract|usage\..*|attempts\[\d+\]\.usage\..*)|.*failure.*\.key\.round|question\.id)$`)
	for name, export := range forgedtest.Exports(t) {
		t.Run(name, func(t *testing.T) {
			sample, refused := enginetest.NewSample(t, 16), map[string]int{} // the number of wrong values that were refused, by field
			forgedtest.Vary(t, export, func(path string, value any) []any {
				at := derived.FindStringSubmatch(path)
				if at == nil {
					return nil
				}
				if !sample.Tries(at[2]) {
					return nil
				}
				if wrong := wrongValues(value); strings.Contains(path, "usage") {
					return wrong[:1] // there are many
				}
				return wrongValues(value)
			}, func(path string, wrong any, raw []byte) {
				at := derived.FindStringSubmatch(path)
				j := &archive.Journal{}
				require.NoError(t, json.Unmarshal(raw, j))
				n, err := strconv.Atoi(at[1])
				require.NoError(t, err)
				require.ErrorContains(t, archive.Import(t.Context(), store.Memory(), j), fmt.Sprintf("entry %d", n+1), "%s = %v", path, wrong)
				refused[at[2]]++
			})
			for _, field := range []string{"from", "round", "turn.round", "turn.order", "turn.seq", "turn.visible_seq", "turn.usage.input", "turn.attempts[0].usage.output"} {
				require.NotZero(t, refused[field], field)
			}
		})
	}
}

// wrongValues returns other values of the kind of v.
func wrongValues(v any) []any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return []any{n - 1, n + 1}
		}
		return []any{json.Number("0.25")}
	case string:
		return []any{v + "2", "paused"}
	case bool:
		return []any{!v}
	}
	return nil
}
