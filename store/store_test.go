package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// noon is the creation time of the debates in these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestAChangeSaysWhatIsWrongWithIt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		alter func(c *store.Change) // alters a change with the entries 3 and 4 and the keys a and b
		want  string                // empty if the change is valid
	}{
		{"a valid change", func(c *store.Change) {}, ""},
		{"no keys", func(c *store.Change) { c.Entries[0].Key, c.Entries[1].Key = "", "" }, ""},
		{"a status alone", func(c *store.Change) { c.Entries, c.Status.Seq = nil, 2 }, ""},
		{"a duplicate key", func(c *store.Change) { c.Entries[1].Key = "a" }, "commit to debate d: the change has turn a twice"},
		{
			"a skipped number", func(c *store.Change) { c.Entries[1].Seq = 5 },
			"commit to debate d: entry 1 of the change is numbered 5, want 4",
		},
		{
			"numbers that start too low", func(c *store.Change) { c.After = 3 },
			"commit to debate d: entry 0 of the change is numbered 3, want 4",
		},
		{"a status at another entry", func(c *store.Change) { c.Status.Seq = 3 }, "commit to debate d: the status is at entry 3, want 4"},
		{"a status of another debate", func(c *store.Change) { c.Status.ID = "e" }, `commit to debate "d": the status has the id "e"`},
		{"no id", func(c *store.Change) { c.ID, c.Status.ID = "", "" }, `commit to debate "": the status has the id ""`},
		{
			"a new debate without entries", func(c *store.Change) { *c = store.Change{ID: "d", Status: store.Status{ID: "d"}} },
			"commit to debate d: a new debate needs After 0 and at least one entry",
		},
		{
			"a negative After", func(c *store.Change) { c.After, c.Entries, c.Status.Seq = -1, nil, -1 },
			"commit to debate d: a new debate needs After 0 and at least one entry",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries := []store.Entry{{Seq: 3, Key: "a"}, {Seq: 4, Key: "b"}}
			c := store.Change{ID: "d", After: 2, Entries: entries, Status: store.Status{ID: "d", Seq: 4}}
			tt.alter(&c)
			err := c.Check()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestConflictSaysWhatStands(t *testing.T) {
	require.EqualError(t, &store.Conflict{ID: "d", After: 1, LastSeq: 2}, "change debate d: computed on entry 1, but the journal ends at entry 2")
	require.EqualError(t, &store.Conflict{ID: "d", After: 1, LastSeq: 2, Key: "a"}, "change debate d: turn a already exists")
}

func TestQueryMatches(t *testing.T) {
	status := store.Status{
		ID: "d", State: fsm.Paused, Ending: transcript.Ending{Outcome: transcript.Converged}, FailureKind: "network",
		Created: noon, Updated: noon.Add(time.Hour), Labels: map[string]string{"team": "red", "note": ""},
	}
	for _, tt := range []struct {
		name  string
		query store.Query
		want  bool
	}{
		{"an empty query", store.Query{}, true},
		{"the state", store.Query{States: []fsm.State{fsm.Paused}}, true},
		{"the state among others", store.Query{States: []fsm.State{fsm.Ready, fsm.Paused}}, true},
		{"other states", store.Query{States: []fsm.State{fsm.Ready, fsm.Error}}, false},
		{"the label", store.Query{Labels: map[string]string{"team": "red"}}, true},
		{"the label with another value", store.Query{Labels: map[string]string{"team": "blue"}}, false},
		{"one label of two", store.Query{Labels: map[string]string{"team": "red", "kind": "test"}}, false},
		{"a label with an empty value", store.Query{Labels: map[string]string{"note": ""}}, true},
		{"a missing label with an empty value", store.Query{Labels: map[string]string{"kind": ""}}, false},
		{"created before a later time", store.Query{CreatedBefore: noon.Add(time.Nanosecond)}, true},
		{"created before the same time", store.Query{CreatedBefore: noon}, false},
		{"created before the same time in another zone", store.Query{CreatedBefore: noon.In(time.FixedZone("", 3600))}, false},
		{"created before an earlier time", store.Query{CreatedBefore: noon.Add(-time.Nanosecond)}, false},
		{"created at the same time, before a greater id", store.Query{CreatedBefore: noon, BeforeID: "e"}, true},
		{"created at the same time in another zone, before a greater id", store.Query{CreatedBefore: noon.In(time.FixedZone("", 3600)), BeforeID: "e"}, true},
		{"created at the same time, before the same id", store.Query{CreatedBefore: noon, BeforeID: "d"}, false},
		{"created at the same time, before a lesser id", store.Query{CreatedBefore: noon, BeforeID: "c"}, false},
		{"created before a later time, before a lesser id", store.Query{CreatedBefore: noon.Add(1), BeforeID: "c"}, true},
		{"created before an earlier time, before a greater id", store.Query{CreatedBefore: noon.Add(-1), BeforeID: "e"}, false},
		{"before a lesser id, without a time", store.Query{BeforeID: "c"}, true},
		{"created since the same time", store.Query{CreatedSince: noon}, true},
		{"created since a later time", store.Query{CreatedSince: noon.Add(1)}, false},
		{"created in an empty span", store.Query{CreatedSince: noon, CreatedBefore: noon}, false},
		{"created before a greater id, but since a later time", store.Query{CreatedSince: noon.Add(1), CreatedBefore: noon, BeforeID: "e"}, false},
		{"updated since the same time", store.Query{UpdatedSince: noon.Add(time.Hour)}, true},
		{"updated since a later time", store.Query{UpdatedSince: noon.Add(time.Hour + 1)}, false},
		{"updated before the same time", store.Query{UpdatedBefore: noon.Add(time.Hour)}, false},
		{"updated before a later time", store.Query{UpdatedBefore: noon.Add(time.Hour + 1)}, true},
		{"the outcome among others", store.Query{Outcomes: []transcript.Outcome{transcript.Stopped, transcript.Converged}}, true},
		{"another outcome", store.Query{Outcomes: []transcript.Outcome{transcript.Stopped}}, false},
		{"the kind of failure", store.Query{FailureKinds: []string{"network"}}, true},
		{"another kind of failure", store.Query{FailureKinds: []string{"timeout"}}, false},
		{"the limit is ignored", store.Query{Limit: -1}, true},
		{"all", store.Query{States: []fsm.State{fsm.Paused}, Labels: map[string]string{"team": "red"}, CreatedBefore: noon.Add(1)}, true},
		{"all but the time", store.Query{States: []fsm.State{fsm.Paused}, Labels: map[string]string{"team": "red"}, CreatedBefore: noon}, false},
		{"all but the state", store.Query{States: []fsm.State{fsm.Ready}, Labels: map[string]string{"team": "red"}, CreatedBefore: noon.Add(1)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.query.Matches(status))
		})
	}
	require.False(t, store.Query{Labels: map[string]string{"team": ""}}.Matches(store.Status{}), "a debate without labels")
}

// A Status encodes to the JSON that web pages and lists show.
func TestHeadAsJSON(t *testing.T) {
	h := store.Status{
		ID: "d", Seq: 9, State: fsm.Judging, Cursor: transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Assessment, Phase: "assess", PhaseSeq: 8}, MaxRounds: 5,
		Topic: "Ban cars?", Protocol: "panel/1", Usage: transcript.Usage{Input: 3, Output: 2}, RunningTime: time.Second, Format: store.Format, Created: noon, Updated: noon,
	}
	b, err := json.Marshal(h)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"id":"d","seq":9,"state":"running.judging","cursor":{"run":1,"round":2,"stage":"assessment","phase":"assess","phase_seq":8},"max_rounds":5,
		"topic":"Ban cars?","protocol":"panel/1","usage":{"input":3,"output":2},"running_time":1000000000,"format":1,
		"created":"2026-03-01T12:00:00Z","updated":"2026-03-01T12:00:00Z"}`, string(b))

	h.Ending, h.Labels = transcript.Ending{Outcome: transcript.Stopped}, map[string]string{"team": "red"}
	b, err = json.Marshal(h)
	require.NoError(t, err)
	var back store.Status
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, h, back)
}

// changing is a store in which the debate "c" changes after it was listed, and the deletion of "b" fails.
type changing struct{ store.Store }

func (s changing) List(ctx context.Context, q store.Query) iter.Seq2[store.Status, error] {
	return func(yield func(store.Status, error) bool) {
		for h, err := range s.Store.List(ctx, q) {
			if h.ID == "c" {
				h.Seq--
			}
			if h.Topic == "damaged" {
				h, err = store.Status{ID: h.ID}, fmt.Errorf("read status of debate %s: damaged", h.ID)
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

func (s changing) Delete(ctx context.Context, id string, last int64) error {
	if id == "b" {
		return errors.New("delete debate b: disk full")
	}
	return s.Store.Delete(ctx, id, last)
}

// Sums of usage are by the value of a label. A debate that cannot be read is left out, and its error comes at the end.
func TestTotalsByLabel(t *testing.T) {
	s := changing{store.Memory()}
	for i, x := range []struct {
		label string
		cost  float64
		topic string
	}{{"blue", 1, ""}, {"red", 2, ""}, {"blue", 4, ""}, {"", 8, ""}, {"red", 16, "damaged"}} {
		h := store.Status{ID: fmt.Sprint("x", i), Seq: 1, Created: noon.Add(time.Duration(i)), Topic: x.topic, RunningTime: time.Second}
		h.Usage = transcript.Usage{Input: 10, Cost: x.cost}
		if x.label != "" {
			h.Labels = map[string]string{"team": x.label}
		}
		require.NoError(t, s.Commit(t.Context(), store.Change{ID: h.ID, Entries: []store.Entry{{Seq: 1}}, Status: h}))
	}
	sums, err := store.Query{}.TotalsBy(t.Context(), s, "team")
	require.EqualError(t, err, "read status of debate x4: damaged")
	of := func(n int, cost float64) store.Totals {
		return store.Totals{Debates: n, Usage: transcript.Usage{Input: 10 * n, Cost: cost}, RunningTime: time.Duration(n) * time.Second}
	}
	require.Equal(t, map[string]store.Totals{"blue": of(2, 5), "red": of(1, 2), "": of(1, 8)}, sums)
	sums, err = store.Query{Labels: map[string]string{"team": "blue"}}.TotalsBy(t.Context(), s, "team")
	require.NoError(t, err)
	require.Equal(t, map[string]store.Totals{"blue": of(2, 5)}, sums)
}

func TestDeleteAllLeavesChangedDebatesAloneAndStopsAtAnError(t *testing.T) {
	s := changing{store.Memory()}
	for i, id := range []string{"a", "b", "c", "d"} {
		c := store.Change{ID: id, Entries: []store.Entry{{Seq: 1}, {Seq: 2}}, Status: store.Status{ID: id, Seq: 2, Created: noon.Add(time.Duration(i))}}
		require.NoError(t, s.Commit(t.Context(), c))
	}
	n, err := store.Query{}.Delete(t.Context(), s)
	require.EqualError(t, err, "delete debate b: disk full")
	require.Equal(t, 1, n)
	counts, err := s.Count(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Equal(t, map[fsm.State]int{"": 3}, counts)
	for _, id := range []string{"e", "f", "g"} { // "f" is damaged
		c := store.Change{ID: id, Entries: []store.Entry{{Seq: 1}}, Status: store.Status{ID: id, Seq: 1, Created: noon.Add(time.Hour), Topic: map[string]string{"f": "damaged"}[id]}}
		require.NoError(t, s.Commit(t.Context(), c))
	}
	n, err = store.Query{CreatedSince: noon.Add(time.Hour)}.Delete(t.Context(), s)
	require.EqualError(t, err, "read status of debate f: damaged", "it goes on after it")
	require.Equal(t, 2, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Count(ctx, store.Query{})
	require.EqualError(t, err, "count debates: context canceled")
	require.EqualError(t, s.Delete(ctx, "a", 0), "delete debate a: context canceled")
}
