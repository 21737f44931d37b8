package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

func ExampleMemory() {
	ctx := context.Background()
	s := store.Memory()

	created := store.Change{ID: "d1", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Head: store.Head{ID: "d1", Seq: 1}}
	fmt.Println(s.Commit(ctx, created))
	fmt.Println(s.Commit(ctx, created)) // by another process, which did not know

	said := store.Change{ID: "d1", After: 1, Entries: []store.Entry{{Seq: 2, Type: "turn", Key: "1/1/respond/Ann/"}}, Head: store.Head{ID: "d1", Seq: 2}}
	fmt.Println(s.Commit(ctx, said))

	head, entries, err := s.Load(ctx, "d1", 1)
	fmt.Println(head.Seq, entries[0].Key, err)
	// Output:
	// <nil>
	// commit to debate d1: computed on entry 0, the journal ends at 1
	// <nil>
	// 2 1/1/respond/Ann/ <nil>
}

func TestCommitIsRefused(t *testing.T) {
	misnumbered := func(c store.Change, at int, seq int64) store.Change {
		c.Entries[at].Seq = seq
		return c
	}
	for _, tt := range []struct {
		name     string
		change   store.Change
		conflict *store.Conflict // nil: another error
		message  string
	}{
		{
			"computed on less than there is", change("d", 1, "new"), &store.Conflict{ID: "d", After: 1, Last: 2},
			"commit to debate d: computed on entry 1, the journal ends at 2",
		},
		{
			"computed on more than there is", change("d", 3, "new"), &store.Conflict{ID: "d", After: 3, Last: 2},
			"commit to debate d: computed on entry 3, the journal ends at 2",
		},
		{
			"created a second time", change("d", 0, ""), &store.Conflict{ID: "d", After: 0, Last: 2},
			"commit to debate d: computed on entry 0, the journal ends at 2",
		},
		{
			"goes on with a debate that does not exist", change("other", 2, "new"), &store.Conflict{ID: "other", After: 2, Last: 0},
			"commit to debate other: computed on entry 2, the journal ends at 0",
		},
		{
			"with a turn that stands already", change("d", 2, "new", "a"), &store.Conflict{ID: "d", After: 2, Last: 2, Key: "a"},
			"commit to debate d: turn a stands already",
		},
		{
			"too late, and with a turn that stands already", change("d", 1, "a"), &store.Conflict{ID: "d", After: 1, Last: 2, Key: "a"},
			"commit to debate d: turn a stands already",
		},
		{
			"with the same turn twice", change("d", 2, "new", "", "new"), &store.Conflict{ID: "d", After: 2, Last: 2, Key: "new"},
			"commit to debate d: turn new stands already",
		},
		{
			"with a number left out", misnumbered(change("d", 2, "new", ""), 1, 5), nil,
			"commit to debate d: entry 1 is numbered 5, want 4",
		},
		{
			"with a number that is taken", misnumbered(change("d", 2, "new"), 0, 2), nil,
			"commit to debate d: entry 0 is numbered 2, want 3",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store.Memory()
			commit(t, s, change("d", 0, "", "a"))
			told, _ := watch(t, s, tt.change.ID)

			err := s.Commit(t.Context(), tt.change)
			require.EqualError(t, err, tt.message)
			conflict, ok := errors.AsType[*store.Conflict](err)
			require.Equal(t, tt.conflict != nil, ok)
			require.Equal(t, tt.conflict, conflict)

			require.Equal(t, []int64{1, 2}, load(t, s, "d", 0), "it is refused whole")
			require.Equal(t, []string{"d"}, list(t, s, store.Query{}))
			require.Empty(t, *told)
			commit(t, s, change("d", 2, "new")) // no key of it was kept
		})
	}
}

func TestCommitReplacesTheHead(t *testing.T) {
	s := store.Memory()
	commit(t, s, change("d", 0, "", ""))
	next := change("d", 2, "a")
	next.Head.State, next.Head.Topic = fsm.Ready, "Ban cars?"
	commit(t, s, next)
	head, _, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, next.Head, head)
}

func TestManyEntriesNeedNoKey(t *testing.T) {
	s := store.Memory()
	commit(t, s, change("d", 0, "", "", ""))
	commit(t, s, change("d", 3, "", ""))
	require.Equal(t, []int64{1, 2, 3, 4, 5}, load(t, s, "d", 0))
}

func TestAKeyIsUniqueInItsDebateOnly(t *testing.T) {
	s := store.Memory()
	commit(t, s, change("d", 0, "a"))
	commit(t, s, change("e", 0, "a"))
	require.Equal(t, []int64{1}, load(t, s, "e", 0))
}

func TestCommitNeedsALivingContext(t *testing.T) {
	s := store.Memory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Commit(ctx, change("d", 0, ""))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "commit to debate d: context canceled")
	require.Empty(t, list(t, s, store.Query{}))
}

func TestLoadGivesWhatIsNew(t *testing.T) {
	s := store.Memory()
	commit(t, s, change("d", 0, "a", "b"))
	commit(t, s, change("d", 2, "c"))
	for _, tt := range []struct {
		name  string
		after int64
		want  []int64
	}{
		{"after nothing: all", 0, []int64{1, 2, 3}},
		{"after a number that none has: all", -1, []int64{1, 2, 3}},
		{"after the least number: all", math.MinInt64, []int64{1, 2, 3}},
		{"after the first", 1, []int64{2, 3}},
		{"after the last but one", 2, []int64{3}},
		{"after the last: nothing", 3, []int64{}},
		{"beyond the end: nothing", 4, []int64{}},
		{"after the greatest number: nothing", math.MaxInt64, []int64{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, entries, err := s.Load(t.Context(), "d", tt.after)
			require.NoError(t, err)
			require.Equal(t, tt.want, seqs(entries))
			require.Equal(t, change("d", 2, "c").Head, head, "the head is that of the whole debate")
		})
	}
}

func TestLoadGivesEntriesAsTheyWereCommitted(t *testing.T) {
	s := store.Memory()
	c := change("d", 0, "a", "")
	commit(t, s, c)
	_, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, c.Entries, entries)
}

func TestLoadedEntriesStayAsTheyAre(t *testing.T) {
	s := store.Memory()
	var loaded [][]store.Entry
	for n := range int64(8) { // at some lengths the journal has room to spare
		c := change("d", n, "")
		commit(t, s, c)
		c.Entries[0].Type = "changed by its maker"
		_, entries, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		loaded = append(loaded, append(entries, store.Entry{Type: "a reader's own"}))
	}
	for n, entries := range loaded {
		for i, e := range entries[:n+1] {
			require.EqualValues(t, i+1, e.Seq)
			require.Equal(t, "turn", e.Type)
		}
		require.Equal(t, "a reader's own", entries[n+1].Type, "a later commit took its place")
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	s := store.Memory()
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.EqualError(t, err, `load debate "d": no such debate`)
	err = s.Delete(t.Context(), "d")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.EqualError(t, err, `delete debate "d": no such debate`)
}

func TestDeleteTakesAllAway(t *testing.T) {
	s := store.Memory()
	commit(t, s, change("d", 0, "a"))
	commit(t, s, change("e", 0, "a"))
	require.NoError(t, s.Delete(t.Context(), "d"))

	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, s.Delete(t.Context(), "d"), store.ErrNotFound)
	require.Equal(t, []string{"e"}, list(t, s, store.Query{}))

	commit(t, s, change("d", 0, "a")) // the id and the key are free again
	require.Equal(t, []int64{1}, load(t, s, "d", 0))
}

func TestWatchersAreWokenAfterEachCommit(t *testing.T) {
	s := store.Memory()
	told, _ := watch(t, s, "d") // before there is such a debate
	commit(t, s, change("d", 0, "", ""))
	require.Equal(t, []int64{2}, *told)

	second, stop := watch(t, s, "d")
	commit(t, s, change("d", 2, "a"))
	commit(t, s, change("other", 0, "a"))
	require.Equal(t, []int64{2, 3}, *told)
	require.Equal(t, []int64{3}, *second)

	stop()
	commit(t, s, change("d", 3, "b"))
	stop() // once more does no harm
	commit(t, s, change("d", 4, "c"))
	require.Equal(t, []int64{2, 3, 4, 5}, *told)
	require.Equal(t, []int64{3}, *second, "nothing comes after stop")
}

func TestWatchersOutliveTheDebate(t *testing.T) {
	s := store.Memory()
	told, _ := watch(t, s, "d")
	commit(t, s, change("d", 0, "a"))
	require.NoError(t, s.Delete(t.Context(), "d"))
	commit(t, s, change("d", 0, "", "", "")) // created again
	require.Equal(t, []int64{1, 3}, *told)
}

func TestOneOfManyCommitsWins(t *testing.T) {
	const writers = 16
	s := store.Memory()
	commit(t, s, change("d", 0, ""))
	var woken atomic.Int64
	stop := s.(store.Watcher).Watch("d", func(last int64) { woken.Add(last) })
	defer stop()

	errs := make([]error, writers)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range writers {
		done.Go(func() {
			start.Wait()
			errs[i] = s.Commit(context.Background(), change("d", 1, fmt.Sprint("turn ", i)))
		})
	}
	start.Done()
	done.Wait()

	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		conflict, ok := errors.AsType[*store.Conflict](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, &store.Conflict{ID: "d", After: 1, Last: 2}, conflict)
	}
	require.Equal(t, 1, won)
	require.Equal(t, []int64{1, 2}, load(t, s, "d", 0))
	require.EqualValues(t, 2, woken.Load(), "one commit wakes once")
}

// Losers load what is new and commit again; readers see whole changes only.
func TestLosersGetTheirTurnIn(t *testing.T) {
	const writers, turns = 4, 25
	s := store.Memory()
	commit(t, s, change("d", 0, "", ""))
	var last atomic.Int64
	stop := s.(store.Watcher).Watch("d", func(n int64) {
		for old := last.Load(); n > old && !last.CompareAndSwap(old, n); old = last.Load() {
		}
	})
	defer stop()

	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for n := 0; n < turns; {
				head, entries, err := s.Load(context.Background(), "d", 0)
				if err != nil || len(entries)%2 != 0 || head.Seq != int64(len(entries)) {
					t.Errorf("read %d entries, the head is at %d: %v", len(entries), head.Seq, err)
					return
				}
				err = s.Commit(context.Background(), change("d", head.Seq, fmt.Sprint(w, "/", n), ""))
				if err == nil {
					n++
				} else if _, lost := errors.AsType[*store.Conflict](err); !lost {
					t.Error(err)
					return
				}
				for h, err := range s.List(context.Background(), store.Query{Limit: 1}) {
					if err != nil || h.Seq < head.Seq {
						t.Errorf("list a head at %d after one at %d: %v", h.Seq, head.Seq, err)
					}
				}
			}
		})
	}
	done.Wait()
	_, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Len(t, entries, 2+2*writers*turns)
	for i, e := range entries {
		require.EqualValues(t, i+1, e.Seq)
	}
	require.EqualValues(t, len(entries), last.Load())
}

func TestListFindsTheNewestFirst(t *testing.T) {
	s := store.Memory()
	for _, d := range []struct {
		id      string
		created time.Duration
		state   fsm.State
		labels  map[string]string
	}{
		{"b", time.Hour, fsm.Paused, map[string]string{"team": "red", "kind": "test"}},
		{"a", time.Hour, fsm.Completed, map[string]string{"team": "red"}},
		{"d", 3 * time.Hour, fsm.Completed, map[string]string{"team": "blue"}},
		{"c", 2 * time.Hour, fsm.Awaiting, nil},
	} {
		c := change(d.id, 0, "")
		c.Head.Created, c.Head.State, c.Head.Labels = noon.Add(d.created), d.state, d.labels
		commit(t, s, c)
	}
	for _, tt := range []struct {
		name  string
		query store.Query
		want  []string
	}{
		{"all, and of the same time by id", store.Query{}, []string{"d", "c", "b", "a"}},
		{"of one state", store.Query{States: []fsm.State{fsm.Completed}}, []string{"d", "a"}},
		{"of several states", store.Query{States: []fsm.State{fsm.Paused, fsm.Awaiting}}, []string{"c", "b"}},
		{"with a label", store.Query{Labels: map[string]string{"team": "red"}}, []string{"b", "a"}},
		{"with all labels", store.Query{Labels: map[string]string{"team": "red", "kind": "test"}}, []string{"b"}},
		{"created before", store.Query{Before: noon.Add(2 * time.Hour)}, []string{"b", "a"}},
		{"at most so many", store.Query{Limit: 2}, []string{"d", "c"}},
		{"fewer than the limit", store.Query{Limit: 9}, []string{"d", "c", "b", "a"}},
		{"the limit counts what is found", store.Query{States: []fsm.State{fsm.Completed}, Limit: 2}, []string{"d", "a"}},
		{"the next page", store.Query{Before: noon.Add(3 * time.Hour), Limit: 1}, []string{"c"}},
		{"nothing", store.Query{States: []fsm.State{fsm.Canceled}}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, list(t, s, tt.query))
		})
	}
}

func TestListCanBeLeftEarlyAndUsedInBetween(t *testing.T) {
	s := store.Memory()
	for _, id := range []string{"a", "b", "c"} {
		commit(t, s, change(id, 0, ""))
	}
	all := s.List(t.Context(), store.Query{})
	for h, err := range all {
		require.NoError(t, err)
		require.NoError(t, s.Delete(t.Context(), h.ID), "the store is not locked meanwhile")
		break
	}
	require.Equal(t, []string{"b", "a"}, list(t, s, store.Query{}))
	var again []string
	for h, err := range all {
		require.NoError(t, err)
		again = append(again, h.ID)
	}
	require.Equal(t, []string{"b", "a"}, again, "a list that is ranged over again is a new look")
}
