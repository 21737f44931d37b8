package storetest

import (
	"errors"
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var referenceTests = []testCase{
	{"a store behaves like a map", testMatchesReference},
}

// A referenceStore is a map of debates, together with the stores that must behave like it.
type referenceStore struct {
	stores  []store.Store
	debates map[string]debate
}

type debate struct {
	status  store.Status
	entries []store.Entry
}

var (
	ids      = rapid.SampledFrom(debateIDs)
	states   = []fsm.State{fsm.Ready, fsm.AwaitingResponses, fsm.Completed}
	keys     = rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "u", "v", "w", "x", "y", "z"}), 0, 3)
	hours    = rapid.IntRange(0, 2)
	outcomes = rapid.SampledFrom([]transcript.Outcome{"", transcript.Converged})
	failures = rapid.SampledFrom([]string{"", "network"})
	people   = rapid.SampledFrom([]string{"", "team", "Ada"}) // a name may equal a label
	labels   = rapid.MapOfN(rapid.SampledFrom([]string{"team", "kind"}), rapid.SampledFrom([]string{"", "red", "blue"}), 0, 2)
)

// randomStore returns one of the stores that opened the storage.
func (p *referenceStore) randomStore(t *rapid.T) store.Store {
	return p.stores[rapid.IntRange(0, len(p.stores)-1).Draw(t, "store")]
}

// commit commits a random change. Most changes do not conflict.
func (p *referenceStore) commit(t *rapid.T) {
	id := ids.Draw(t, "id")
	stands := p.debates[id].entries
	last := int64(len(stands))
	c := change(id, last+rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1}).Draw(t, "off by"), keys.Draw(t, "keys")...)
	c.Status.State, c.Status.Labels = rapid.SampledFrom(states).Draw(t, "state"), labels.Draw(t, "labels")
	c.Status.Created = noon.Add(time.Duration(hours.Draw(t, "created")) * time.Hour)
	c.Status.Updated = noon.Add(time.Duration(hours.Draw(t, "updated")) * time.Hour)
	c.Status.Ending.Outcome, c.Status.FailureKind = outcomes.Draw(t, "outcome"), failures.Draw(t, "failure")
	for range rapid.IntRange(0, 2).Draw(t, "number of people") {
		c.Status.Waiting = append(c.Status.Waiting, people.Draw(t, "person"))
	}

	if of := people.Draw(t, "parent"); of != "" {
		c.Status.Parent = transcript.Parent{ID: of, Seq: 1}
	}

	taken := []string{}
	for _, e := range c.Entries {
		if e.Key != "" && slices.ContainsFunc(stands, func(f store.Entry) bool { return f.Key == e.Key }) {
			taken = append(taken, e.Key)
		}
	}
	err := p.randomStore(t).Commit(t.Context(), c)
	lost, conflict := errors.AsType[*store.Conflict](err)
	switch malformed := c.Check(); {
	case malformed != nil:
		require.ErrorContains(t, err, malformed.Error())
		require.False(t, conflict)
	case len(taken) > 0:
		require.True(t, conflict, "%v", err)
		require.Contains(t, taken, lost.Key)
		require.Equal(t, store.Conflict{ID: id, After: c.After, LastSeq: last, Key: lost.Key}, *lost)
	case c.After != last:
		require.True(t, conflict, "%v", err)
		require.Equal(t, store.Conflict{ID: id, After: c.After, LastSeq: last}, *lost)
	default:
		require.NoError(t, err)
		p.debates[id] = debate{c.Status, slices.Concat(stands, c.Entries)}
	}
}

func (p *referenceStore) load(t *rapid.T) {
	id := ids.Draw(t, "id")
	after := rapid.OneOf(rapid.Int64Range(-1, 9), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})).Draw(t, "after")
	status, entries, err := p.randomStore(t).Load(t.Context(), id, after)
	want, ok := p.debates[id]
	if !ok {
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	}
	require.NoError(t, err)
	require.Equal(t, encode(t, want.status), encode(t, status))
	rest := slices.DeleteFunc(slices.Clone(want.entries), func(e store.Entry) bool { return e.Seq <= after })
	require.Equal(t, comparableEntries(t, rest), comparableEntries(t, entries))
}

func (p *referenceStore) delete(t *rapid.T) {
	id := ids.Draw(t, "id")
	last := rapid.SampledFrom([]int64{0, 0, 1, 2}).Draw(t, "last")
	err := p.randomStore(t).Delete(t.Context(), id, last)
	d, ok := p.debates[id]
	if !ok {
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	}
	if end := int64(len(d.entries)); last != 0 && last != end {
		require.Equal(t, &store.Conflict{ID: id, After: last, LastSeq: end}, err)
		return
	}
	require.NoError(t, err)
	delete(p.debates, id)
}

func (p *referenceStore) list(t *rapid.T) {
	q := store.Query{
		States:  rapid.SliceOfNDistinct(rapid.SampledFrom(states), 0, 2, rapid.ID).Draw(t, "states"),
		Labels:  labels.Draw(t, "labels"),
		Waiting: people.Draw(t, "waiting"),
		Parent:  people.Draw(t, "parent"),
		Limit:   rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	if n := hours.Draw(t, "before"); n > 0 {
		q.CreatedBefore = noon.Add(time.Duration(n) * time.Hour)
		q.BeforeID = rapid.SampledFrom(append([]string{""}, debateIDs...)).Draw(t, "before id")
	}
	for _, at := range []*time.Time{&q.CreatedSince, &q.UpdatedSince, &q.UpdatedBefore} {
		if rapid.IntRange(0, 3).Draw(t, "with a time") == 0 {
			*at = noon.Add(time.Duration(hours.Draw(t, "time")) * time.Hour)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "with outcome or failure") == 0 {
		q.Outcomes, q.FailureKinds = []transcript.Outcome{outcomes.Draw(t, "outcome")}, []string{failures.Draw(t, "failure")}
	}
	var statuses []store.Status
	for _, d := range p.debates {
		statuses = append(statuses, d.status)
	}
	require.Equal(t, expected(statuses, q), list(t, p.randomStore(t), q), "%+v", q)
	requireCounts(t, p.randomStore(t), statuses, q)
}

// limitChecks lowers rapid's default number of checks, because databases are slow. A -rapid.checks flag takes
// precedence.
func limitChecks(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	if usual := checks.String(); usual == "100" {
		require.NoError(t, checks.Set("40"))
		t.Cleanup(func() { require.NoError(t, checks.Set(usual)) })
	}
}

// testMatchesReference runs random sequences of calls. It empties the storage before each sequence, because opening
// another one may be slow.
func testMatchesReference(t *testing.T, place Backend) {
	limitChecks(t)
	stores := openTwice(t, place)
	rapid.Check(t, func(t *rapid.T) {
		deleteAll(t, stores[0])
		p := &referenceStore{stores: stores, debates: map[string]debate{}}
		t.Repeat(map[string]func(*rapid.T){
			"commit": p.commit,
			"append": p.commit, // twice as often
			"load":   p.load,
			"delete": p.delete,
			"list":   p.list,
		})
		for id, want := range p.debates {
			_, entries := load(t, stores[0], id, 0)
			require.Equal(t, comparableEntries(t, want.entries), comparableEntries(t, entries))
		}
	})
}
