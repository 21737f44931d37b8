// Package forgedtest makes forged journals for tests: exported debates of all presets in which values are changed.
package forgedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// Exports returns a finished debate of each preset as JSON, by the name of the preset. Its id is "d". It runs them once in
// a process.
func Exports(t testing.TB) map[string][]byte {
	t.Helper()
	once.Do(func() {
		for name, cfg := range enginetest.PresetConfigs() {
			exports[name] = export(t, cfg)
		}
	})
	return exports
}

var (
	once    sync.Once
	exports = map[string][]byte{}
)

// export runs a debate with a note and a remark, and returns its journal.
func export(t testing.TB, cfg debate.Config) []byte {
	t.Helper()
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	s := store.Memory()
	d := debatetest.New(t, cfg, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": model}, KeepReplies: true})
	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "1", From: "Mayor", Text: "Think of deliveries."}))
	debatetest.Finish(t, d)
	j, err := archive.Export(t.Context(), s, cfg.ID)
	require.NoError(t, err)
	raw, err := json.Marshal(j)
	require.NoError(t, err)
	return raw
}

// Values are what Change puts in place of a value. The last one, which is nil, removes the value.
var Values = []any{
	-1, 0, 1, int64(1) << 62, json.Number("1e308"), json.Number("-9223372036854775808"), 0.5, "", "x", "\x00\x1b[31m\n", "0001-01-01T00:00:00Z",
	"9999-12-31T23:59:59Z", strings.Repeat("y", 1<<16), true, json.RawMessage("null"),
	[]any{},
	[]any{nil},
	map[string]any{},
	map[string]any{"x": nil},
	nil,
}

// Change returns an export with some of its values changed. The numbers in pick choose which, and to what.
func Change(t testing.TB, export []byte, pick *rand.Rand, changes int) ([]byte, string) {
	t.Helper()
	root := Decode(t, export)
	var told strings.Builder
	for range changes {
		places := placesIn(root, "")
		at := places[pick.IntN(len(places))]
		v := Values[pick.IntN(len(Values))]
		fmt.Fprintf(&told, "%s = %.40v; ", at.path, v)
		at.set(v)
	}
	raw, err := json.Marshal(root)
	require.NoError(t, err)
	return raw, told.String()
}

// Decode decodes JSON with numbers as they are written.
func Decode(t testing.TB, raw []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&v))
	return v
}

// place is a value in a JSON document.
type place struct {
	path  string
	value any
	set   func(any) // removes the value of an object if it is nil
}

// placesIn returns all values in v, in a fixed order.
func placesIn(v any, path string) (list []place) {
	switch v := v.(type) {
	case map[string]any:
		var names []string
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			at := path + "." + name
			list = append(list, place{at, v[name], func(to any) {
				v[name] = to
				if to == nil {
					delete(v, name)
				}
			}})
			list = append(list, placesIn(v[name], at)...)
		}
	case []any:
		for i := range v {
			at := path + "[" + strconv.Itoa(i) + "]"
			list = append(list, place{at, v[i], func(to any) { v[i] = to }})
			list = append(list, placesIn(v[i], at)...)
		}
	}
	return list
}

// Vary calls try for each other value that with returns for a value of an export, given the path of the value, such as
// ".entries[0].type". Only that value is changed.
func Vary(t testing.TB, export []byte, with func(path string, value any) []any, try func(path string, wrong any, raw []byte)) {
	t.Helper()
	root := Decode(t, export)
	for _, at := range placesIn(root, "") {
		for _, wrong := range with(at.path, at.value) {
			at.set(wrong)
			raw, err := json.Marshal(root)
			require.NoError(t, err)
			try(at.path, wrong, raw)
		}
		at.set(at.value)
	}
}

// Put stores a journal as it is, like a database that was damaged later.
func Put(t testing.TB, s store.Store, raw []byte) (id string, err error) {
	t.Helper()
	j := &archive.Journal{}
	if err := json.Unmarshal(raw, j); err != nil {
		return "", err
	}
	id = j.Status.ID
	return id, s.Commit(t.Context(), store.Change{ID: id, Entries: j.Entries, Status: j.Status})
}

// A Forgery is a journal that no version of the library writes.
type Forgery struct {
	Name    string
	Entry   int64 // the entry that is forged
	Journal []byte
}

// Forgeries returns forged journals of the debate "d", for tests of doors: each must answer with an error that names the
// entry.
func Forgeries(t testing.TB) (list []Forgery) {
	t.Helper()
	export := Exports(t)["panel"]
	for _, f := range []struct {
		name  string
		entry int64
		path  string
		value any
	}{
		{"a negative limit", 1, ".entries[0].data.config.limits.max_rounds", -1},
		{"an enormous limit", 1, ".entries[0].data.config.limits.max_rounds", int64(1) << 62},
		{"a name with a slash", 1, ".entries[0].data.config.participants[0].name", "A/B"},
		{"a parameter out of range", 1, ".entries[0].data.config.protocol.mode", "shouted"},
		{"a transition from another state", 4, ".entries[3].data.from", "paused"},
		{"tokens that overflow", 11, ".entries[10].data.turn.usage.input", int64(1) << 62},
		{"an unknown kind", 11, ".entries[10].data.turn.kind", "sung"},
		{"a reply that was followed by a retry", 11, ".entries[10].data.turn.attempts[0].next", "retried"},
		{"an unknown field", 11, ".entries[10].data.turn.promptWtokens", 3},
	} {
		root := Decode(t, export)
		Set(t, root, f.path, f.value)
		raw, err := json.Marshal(root)
		require.NoError(t, err)
		list = append(list, Forgery{f.name, f.entry, raw})
	}
	return list
}

// Set sets the value at a path such as ".entries[0].type". The last field may be new.
func Set(t testing.TB, root any, path string, value any) {
	t.Helper()
	for _, at := range placesIn(root, "") {
		if at.path == path {
			at.set(value)
			return
		}
	}
	dot := strings.LastIndex(path, ".")
	for _, at := range placesIn(root, "") {
		if object, ok := at.value.(map[string]any); ok && at.path == path[:dot] {
			object[path[dot+1:]] = value
			return
		}
	}
	require.Fail(t, "there is no such value", path)
}

// InStores runs a test for each forgery, with an engine over a store that has it, and the message that must name its entry.
func InStores(t *testing.T, test func(t *testing.T, e *debate.Engine, s store.Store, message string)) {
	for _, f := range Forgeries(t) {
		t.Run(f.Name, func(t *testing.T) {
			s := store.Memory()
			_, err := Put(t, s, f.Journal)
			require.NoError(t, err)
			e := debatetest.Engine(t, debate.Options{Store: s})
			test(t, e, s, fmt.Sprintf("entry %d of debate d", f.Entry))
		})
	}
}
