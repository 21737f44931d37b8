package forktest_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// ledger is a store that notes the acts of each commit.
type ledger struct {
	store.Store

	mu      sync.Mutex
	commits [][]journal.Act
}

func (l *ledger) Commit(ctx context.Context, c store.Change) error {
	err := l.Store.Commit(ctx, c)
	var acts []journal.Act
	for _, e := range c.Entries {
		ev, failed := journal.DecodeEntry(e)
		if failed != nil {
			return failed
		}
		acts = append(acts, ev.Meta().Act)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && acts != nil {
		l.commits = append(l.commits, acts)
	}
	return err
}

// The first entry of each commit says what led to it, and the others follow from it. A fork begins with the entries of its parent.
func TestEachCommitHasOneAct(t *testing.T) {
	seen := map[journal.Act]bool{}
	for name, l := range lives() {
		t.Run(name, func(t *testing.T) {
			cfg := lifeConfig()
			if l.change != nil {
				l.change(&cfg)
			}
			kept := &ledger{Store: store.Memory()}
			e, _ := newEngine(t, cfg, func(o *debate.Options) {
				o.Store = kept
				o.Providers = map[string]providers.Provider{"m": failing{o.Providers["m"], l.fails}, "n": o.Providers["m"]}
			})
			d := create(t, e, cfg)
			l.finish(t, d, cfg, l.after)
			for _, acts := range kept.commits {
				require.NotEmpty(t, acts[0])
				for _, follows := range acts[1:] {
					require.Empty(t, follows, "%q", acts)
				}
				seen[acts[0]] = true
			}
			kept.commits = nil
			f := debatetest.Fork(t, e, d.ID(), 5, debate.Edits{})
			require.Len(t, kept.commits, 1)
			require.Contains(t, kept.commits[0][5:], journal.ActFork)
			require.Equal(t, int64(len(kept.commits[0])), debatetest.Status(t, f).Seq)
		})
	}
	for _, act := range []journal.Act{
		journal.ActCreate, journal.ActEdit, journal.ActStart, journal.ActCheck, journal.ActTurn, journal.ActFailure, journal.ActPause,
		journal.ActResume, journal.ActStop, journal.ActCancel, journal.ActReset, journal.ActDecide, journal.ActAnswer, journal.ActDecline,
		journal.ActRemark,
	} {
		require.Contains(t, seen, act)
	}
}

// alike holds acts that lead to the same entries, as far as a journal tells.
var alike = [][]journal.Act{
	{journal.ActAnnotate, journal.ActWait, journal.ActSign},
	{journal.ActStart, journal.ActResume},
	{journal.ActFailure, journal.ActBroken},
}

// An act that did not lead to an entry is found, with the number of the entry.
func TestAForgedActIsFound(t *testing.T) {
	acts := []journal.Act{
		"", "told", journal.ActCreate, journal.ActEdit, journal.ActFork, journal.ActStart, journal.ActPause, journal.ActResume, journal.ActStop,
		journal.ActCancel, journal.ActRetry, journal.ActReset, journal.ActDecide, journal.ActAnswer, journal.ActDecline, journal.ActRemark,
		journal.ActAnnotate, journal.ActTurn, journal.ActTools, journal.ActFailure, journal.ActClock, journal.ActBroken, journal.ActWait,
		journal.ActCheck, journal.ActDrive, journal.ActSign,
	}
	sample := enginetest.NewSample(t, 150)
	found := 0
	all := lives()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, _, _, d := all[name].lead(t)
		status, err := d.Status(t.Context())
		require.NoError(t, err)
		entries, err := d.Entries(t.Context())
		require.NoError(t, err)
		for i, e := range entries {
			was, err := journal.DecodeEntry(e)
			require.NoError(t, err)
			for _, act := range acts {
				if act == was.Meta().Act || !sample.Tries("act") || areAlike(act, was.Meta().Act) {
					continue
				}
				forged := slices.Clone(entries)
				forged[i].Data = journal.Data(withAct(was, act))
				require.Equal(t, e.Seq, firstWrong(t, status, forged), "%s: entry %d has the act %q, not %q", name, e.Seq, act, was.Meta().Act)
				found++
			}
		}
	}
	require.Greater(t, found, 50)
}

func areAlike(a, b journal.Act) bool {
	return slices.ContainsFunc(alike, func(list []journal.Act) bool { return slices.Contains(list, a) && slices.Contains(list, b) })
}

// withAct returns an event with another act.
func withAct(ev journal.Event, act journal.Act) journal.Event {
	v := reflect.New(reflect.TypeOf(ev)).Elem()
	v.Set(reflect.ValueOf(ev))
	v.FieldByName("EventMeta").FieldByName("Act").Set(reflect.ValueOf(act))
	return v.Interface().(journal.Event)
}

// firstWrong returns the seq of the first entry that is wrong, or 0.
func firstWrong(t *testing.T, status store.Status, entries []store.Entry) int64 {
	t.Helper()
	s := store.Memory()
	require.NoError(t, s.Commit(t.Context(), store.Change{ID: status.ID, Status: status, Entries: entries}))
	e := debatetest.Engine(t, debate.Options{Store: s})
	for c, err := range debatetest.Open(t, e, status.ID).VerifyEntries(t.Context()) {
		require.NoError(t, err, fmt.Sprint(c))
		if c.Verdict == debate.EntryWrong {
			return c.Seq
		}
	}
	return 0
}
