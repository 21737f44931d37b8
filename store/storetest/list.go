package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var listTests = []testCase{
	{"a list shows the newest debates first", testListOrder},
	{"a list selects what the query matches", testListSelects},
	{"lists and counts select by time, outcome and failure", testListFilters},
	{"a change of labels, outcome or failure changes what is selected", testListFollows},
	{"a list with unusual labels selects what the query matches", testListLabels},
	{"pages contain each debate once", testPages},
	{"a long list is complete", testListLong},
	{"a list shows the progress of debates", testListProgress},
	{"a loop over a list may end early and may use the store", testListLeft},
	{"a list of an empty store is empty", testListEmpty},
}

// expected returns the IDs that a query finds among the statuses.
func expected(statuses []store.Status, q store.Query) []string {
	ids := []string{}
	statuses = slices.SortedFunc(slices.Values(statuses), func(a, b store.Status) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	for _, h := range statuses {
		if q.Matches(h) && (q.Limit == 0 || len(ids) < q.Limit) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

func testListOrder(t *testing.T, p Backend) {
	s := p.Open(t)
	ages := []time.Duration{-time.Hour, -time.Microsecond, 0, time.Microsecond, 500 * time.Millisecond, 1500 * time.Millisecond, time.Hour}
	var statuses []store.Status
	for i, id := range []string{"b", "a", "B", "A", "a-1", "a.1", "a_1", "a1", "10", "9", "_", "-"} {
		for _, age := range []int{i, i + 1} {
			c := creation(fmt.Sprint(id, age%2))
			c.Status.Created = noon.Add(ages[age%len(ages)])
			commit(t, s, c)
			statuses = append(statuses, c.Status)
		}
	}
	require.Equal(t, expected(statuses, store.Query{}), list(t, s, store.Query{}))
}

func testListSelects(t *testing.T, p Backend) {
	s := p.Open(t)
	var statuses []store.Status
	for _, d := range []struct {
		id      string
		created time.Duration
		state   fsm.State
		labels  map[string]string
		waiting []string
		parent  string
	}{
		{"b", time.Hour, fsm.Paused, map[string]string{"team": "red", "kind": "test"}, []string{"Bo", "Ada", "Bo"}, ""},
		{"a", time.Hour, fsm.Completed, map[string]string{"team": "red", "note": "", "Ada": "", "parent": "d"}, nil, "b"},
		{"d", 3 * time.Hour, fsm.Completed, map[string]string{"team": "blue"}, nil, "a"},
		{"c", 2 * time.Hour, fsm.AwaitingResponses, nil, []string{"Ada"}, "b"},
	} {
		c := creation(d.id)
		c.Status.Created = noon.Add(d.created)
		c.Status.State = d.state
		c.Status.Labels = d.labels
		c.Status.Waiting = d.waiting
		c.Status.Parent = transcript.Parent{ID: d.parent}
		commit(t, s, c)
		statuses = append(statuses, c.Status)
	}
	before, abroad := noon.Add(2*time.Hour), time.FixedZone("abroad", 3600)
	for _, tt := range []struct {
		name  string
		query store.Query
		want  []string
	}{
		{"all, ordered by time and then by id", store.Query{}, []string{"d", "c", "b", "a"}},
		{"of any state or label", store.Query{States: []fsm.State{}, Labels: map[string]string{}}, []string{"d", "c", "b", "a"}},
		{"of one state", store.Query{States: []fsm.State{fsm.Completed}}, []string{"d", "a"}},
		{"of several states", store.Query{States: []fsm.State{fsm.Paused, fsm.AwaitingResponses}}, []string{"c", "b"}},
		{"of a state named twice", store.Query{States: []fsm.State{fsm.Paused, fsm.Paused}}, []string{"b"}},
		{"of states that no debate has", store.Query{States: []fsm.State{fsm.Canceled, "running"}}, []string{}},
		{"with a label", store.Query{Labels: map[string]string{"team": "red"}}, []string{"b", "a"}},
		{"with all labels", store.Query{Labels: map[string]string{"team": "red", "kind": "test"}}, []string{"b"}},
		{"with one label of two", store.Query{Labels: map[string]string{"team": "blue", "kind": "test"}}, []string{}},
		{"with an empty label value", store.Query{Labels: map[string]string{"note": ""}}, []string{"a"}},
		{"that wait for a person", store.Query{Waiting: "Ada"}, []string{"c", "b"}},
		{"that wait for another person", store.Query{Waiting: "Bo"}, []string{"b"}},
		{"that wait for nobody of that name", store.Query{Waiting: "ada"}, []string{}},
		{"that wait for a person, with labels", store.Query{Waiting: "Ada", Labels: map[string]string{"team": "red"}}, []string{"b"}},
		{"forks of a debate", store.Query{Parent: "b"}, []string{"c", "a"}},
		{"forks of a fork", store.Query{Parent: "a"}, []string{"d"}},
		{"forks of a debate without forks", store.Query{Parent: "d"}, []string{}},
		{"forks of a debate that wait for a person", store.Query{Parent: "b", Waiting: "Ada"}, []string{"c"}},
		{"forks of a debate with a label", store.Query{Parent: "b", Labels: map[string]string{"team": "red"}}, []string{"a"}},
		{"created before", store.Query{CreatedBefore: before}, []string{"b", "a"}},
		{"created before, in another time zone", store.Query{CreatedBefore: before.In(abroad)}, []string{"b", "a"}},
		{"created a microsecond before", store.Query{CreatedBefore: before.Add(time.Microsecond)}, []string{"c", "b", "a"}},
		{"created a nanosecond before", store.Query{CreatedBefore: before.Add(1)}, []string{"c", "b", "a"}},
		{"created at that time, with a lesser id", store.Query{CreatedBefore: noon.Add(time.Hour), BeforeID: "b"}, []string{"a"}},
		{"created at that time, with a greater id", store.Query{CreatedBefore: before, BeforeID: "d"}, []string{"c", "b", "a"}},
		{"a lesser id without a time is ignored", store.Query{BeforeID: "b"}, []string{"d", "c", "b", "a"}},
		{"at most two", store.Query{Limit: 2}, []string{"d", "c"}},
		{"fewer than the limit", store.Query{Limit: 9}, []string{"d", "c", "b", "a"}},
		{"the limit counts debates that match the state", store.Query{States: []fsm.State{fsm.Completed}, Limit: 2}, []string{"d", "a"}},
		{"the limit counts debates that match the label", store.Query{Labels: map[string]string{"team": "red"}, Limit: 1}, []string{"b"}},
		{"all at once", store.Query{
			States: []fsm.State{fsm.Completed, fsm.Paused}, Labels: map[string]string{"team": "red"},
			CreatedBefore: noon.Add(time.Hour), BeforeID: "b", Limit: 3,
		}, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, list(t, s, tt.query))
			require.Equal(t, tt.want, expected(statuses, tt.query), "Query.Matches agrees")
		})
	}
}

func testListFilters(t *testing.T, p Backend) {
	s := p.Open(t)
	var statuses []store.Status
	for i := range 12 {
		c := creation(fmt.Sprintf("d%02d", i))
		h := &c.Status
		h.Created, h.Updated = noon.Add(time.Duration(i/2)*time.Second), noon.Add(time.Hour+time.Duration(i*5%12)*time.Microsecond)
		h.State = []fsm.State{fsm.Completed, fsm.Error, fsm.Paused}[i%3]
		h.Labels = map[string]string{"team": []string{"red", "blue"}[i%2]}
		switch h.State {
		case fsm.Completed:
			h.Ending.Outcome = []transcript.Outcome{transcript.Converged, transcript.RoundLimit}[i/3%2]
		case fsm.Error:
			h.FailureKind, h.FailureCause = []string{"network", "timeout"}[i/3%2], "It failed."
		default:
		}
		commit(t, s, c)
		statuses = append(statuses, *h)
	}
	created, updated := noon.Add(2*time.Second), noon.Add(time.Hour+5*time.Microsecond)
	for _, q := range []store.Query{
		{CreatedSince: created},
		{CreatedSince: created.Add(1)},
		{CreatedSince: created.In(time.FixedZone("abroad", 3600)), CreatedBefore: created.Add(2 * time.Second)},
		{CreatedSince: created, CreatedBefore: created},
		{CreatedSince: created, CreatedBefore: created, BeforeID: "d05"},
		{CreatedSince: created.Add(1), CreatedBefore: created, BeforeID: "d05"},
		{UpdatedSince: updated},
		{UpdatedSince: updated.Add(1)},
		{UpdatedBefore: updated},
		{UpdatedBefore: updated.Add(1)},
		{UpdatedSince: updated, UpdatedBefore: updated.Add(3 * time.Microsecond)},
		{Outcomes: []transcript.Outcome{transcript.Converged}},
		{Outcomes: []transcript.Outcome{transcript.RoundLimit, transcript.Converged, transcript.RoundLimit}},
		{Outcomes: []transcript.Outcome{transcript.Canceled, "none"}},
		{Outcomes: []transcript.Outcome{""}},
		{FailureKinds: []string{"timeout"}},
		{FailureKinds: []string{"timeout", "network"}, Labels: map[string]string{"team": "red"}},
		{FailureKinds: []string{"timeout"}, Outcomes: []transcript.Outcome{transcript.Converged}},
		{States: []fsm.State{fsm.Completed, fsm.Error}, Labels: map[string]string{"team": "blue"}, UpdatedSince: updated, Limit: 2},
		{Limit: 5},
	} {
		require.Equal(t, expected(statuses, q), list(t, s, q), "%+v", q)
		requireCounts(t, s, statuses, q)
	}
}

// requireCounts checks that Count agrees with Query.Matches.
func requireCounts(t testingT, s store.Store, statuses []store.Status, q store.Query) {
	t.Helper()
	counts, err := s.Count(t.Context(), q)
	require.NoError(t, err)
	want := map[fsm.State]int{}
	for _, h := range statuses {
		if q.Matches(h) {
			want[h.State]++
		}
	}
	require.Equal(t, want, counts, "%+v", q)
}

func testListFollows(t *testing.T, p Backend) {
	s := p.Open(t)
	commit(t, s, creation("d"), creation("e"))
	c := creation("d")
	for i, labels := range []map[string]string{nil, {"team": "red"}, {"team": "blue", "kind": "test"}, {"kind": "test"}, nil, {"team": "red"}} {
		c = change("d", c.Status.Seq, "")
		c.Status.Labels = labels
		c.Status.FailureKind = fmt.Sprint("kind ", i%2)
		c.Status.Updated = noon.Add(time.Duration(i) * time.Hour)
		c.Status.Ending.Outcome = transcript.Outcome(fmt.Sprint("outcome ", i%3))
		commit(t, s, c)
		other := creation("e").Status
		for _, q := range []store.Query{
			{Labels: map[string]string{"team": "red"}},
			{Labels: map[string]string{"team": "blue"}},
			{Labels: map[string]string{"kind": "test"}},
			{Labels: map[string]string{"kind": "test", "team": "blue"}},
			{FailureKinds: []string{"kind 0"}},
			{Outcomes: []transcript.Outcome{"outcome 1"}},
			{UpdatedSince: noon.Add(3 * time.Hour)},
			{UpdatedBefore: noon.Add(2 * time.Hour)},
		} {
			require.Equal(t, expected([]store.Status{c.Status, other}, q), list(t, s, q), "change %d, %+v", i, q)
		}
	}
}

func testListLabels(t *testing.T, p Backend) {
	s := p.Open(t)
	var statuses []store.Status
	for i, text := range unusualTexts {
		c := creation(fmt.Sprint("d", i))
		c.Status.Labels = map[string]string{"text": text, text: "key"}
		commit(t, s, c)
		statuses = append(statuses, c.Status)
	}
	for _, text := range unusualTexts {
		for _, labels := range []map[string]string{{"text": text}, {text: "key"}, {"text": "key", text: text}} {
			q := store.Query{Labels: labels}
			require.Equal(t, expected(statuses, q), list(t, s, q), "labels %q", labels)
		}
	}
}

func testPages(t *testing.T, p Backend) {
	s := p.Open(t)
	var statuses []store.Status
	for i := range 30 {
		c := creation(fmt.Sprintf("d%02d", i*7%30))
		c.Status.Created = noon.Add(time.Duration(i/25) * time.Microsecond) // most at the same time
		c.Status.Labels = map[string]string{"odd": fmt.Sprint(i % 2)}
		commit(t, s, c)
		statuses = append(statuses, c.Status)
	}
	for _, q := range []store.Query{{Limit: 1}, {Limit: 7}, {Limit: 30}, {Limit: 4, Labels: map[string]string{"odd": "1"}}} {
		all := expected(statuses, store.Query{Labels: q.Labels})
		found := []string{}
		for range len(all)/q.Limit + 1 {
			n := 0
			for h, err := range s.List(t.Context(), q) {
				require.NoError(t, err)
				found = append(found, h.ID)
				q.CreatedBefore, q.BeforeID = h.Created, h.ID
				n++
			}
			require.LessOrEqual(t, n, q.Limit)
		}
		require.Equal(t, all, found, "pages of %d", q.Limit)
	}
}

func testListLong(t *testing.T, p Backend) {
	s := p.Open(t)
	var statuses []store.Status
	for i := range 250 { // more than a store may read at a time
		c := creation(fmt.Sprint("d", i))
		c.Status.Created = noon.Add(time.Duration(i%3) * time.Second)
		c.Status.Labels = map[string]string{"long": "yes", "odd": fmt.Sprint(i % 2)}
		statuses = append(statuses, c.Status)
		commit(t, s, c)
	}
	for _, q := range []store.Query{{}, {Limit: 220}, {Labels: map[string]string{"long": "yes"}}, {Labels: map[string]string{"odd": "1", "long": "yes"}}, {CreatedBefore: noon.Add(time.Second), BeforeID: "d8"}} {
		require.Equal(t, expected(statuses, q), list(t, s, q))
	}
}

func testListProgress(t *testing.T, p Backend) {
	a, b := p.Open(t), p.Open(t)
	commit(t, a, creation("d"), creation("e"))
	for n := range int64(5) {
		c := change("d", n+1, "")
		c.Status.State, c.Status.MaxRounds = fsm.AwaitingResponses, int(n)
		commit(t, a, c)
		for h, err := range b.List(t.Context(), store.Query{States: []fsm.State{fsm.AwaitingResponses}}) {
			require.NoError(t, err)
			require.Equal(t, encode(t, c.Status), encode(t, h))
		}
		require.Equal(t, []string{"e", "d"}, list(t, b, store.Query{}))
	}
}

func testListLeft(t *testing.T, p Backend) {
	s := p.Open(t)
	for _, id := range []string{"a", "b", "c"} {
		commit(t, s, creation(id))
	}
	all := s.List(t.Context(), store.Query{})
	for h, err := range all {
		require.NoError(t, err)
		load(t, s, h.ID, 0)
		deleteDebate(t, s, h.ID)
		commit(t, s, change("a", 1, ""))
		break
	}
	require.Equal(t, []string{"b", "a"}, list(t, s, store.Query{}))
	var again []string
	for h, err := range all {
		require.NoError(t, err)
		again = append(again, h.ID)
		require.Equal(t, []string{"b", "a"}, list(t, s, store.Query{}), "a list inside a list")
	}
	require.Equal(t, []string{"b", "a"}, again, "ranging over a list again reads the store again")
	for range 20 { // a list that ends early holds no resources
		for _, err := range all {
			require.NoError(t, err)
			break
		}
	}
}

func testListEmpty(t *testing.T, p Backend) {
	s := p.Open(t)
	require.Empty(t, list(t, s, store.Query{}))
	require.Empty(t, list(t, s, store.Query{States: []fsm.State{fsm.Ready}, CreatedBefore: noon, BeforeID: "d", Limit: 3}))
}
