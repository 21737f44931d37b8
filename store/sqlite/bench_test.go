package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// turn is the data that each commit of the benchmarks adds, about 2 kB.
var turn = map[string]string{"text": strings.Repeat("To ban cars is to free the town. ", 60)}

// BenchmarkCommit measures commits of one turn by several writers, each to its own debate. It compares them with the
// least SQL that does the same work over the same tables and indexes: an update of a status and an insert of a turn.
func BenchmarkCommit(b *testing.B) {
	for _, kind := range []struct {
		name  string
		start func(b *testing.B) (commit func(id string, after int64) error)
	}{{"store", benchStore}, {"raw", benchRaw}} {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", kind.name, writers), func(b *testing.B) {
				write(b, writers, kind.start(b))
			})
		}
	}
}

// BenchmarkCommitRatio makes commits of the store and with raw SQL in turn, and reports the median ratio of their speeds.
// A change of the machine's speed then affects both.
func BenchmarkCommitRatio(b *testing.B) {
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var ratios []float64
			commits := []func(string, int64) error{benchStore(b), benchRaw(b)}
			for i := range 31 {
				var took [2]time.Duration
				for k := range commits {
					which := (i + k) % 2
					start := time.Now()
					var done sync.WaitGroup
					for w := range writers {
						done.Go(func() {
							for after := range int64(40 / writers) {
								if err := commits[which](fmt.Sprint("debate ", i, w), after); err != nil {
									b.Error(err)
								}
							}
						})
					}
					done.Wait()
					took[which] = time.Since(start)
				}
				ratios = append(ratios, float64(took[1])/float64(took[0]))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "store/raw")
		})
	}
}

// write makes b.N commits, divided among the writers.
func write(b *testing.B, writers int, commit func(id string, after int64) error) {
	for w := range writers {
		require.NoError(b, commit(fmt.Sprint("debate ", w), 0))
	}
	var made atomic.Int64
	var done sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		done.Go(func() {
			for after := int64(1); made.Add(1) <= int64(b.N); after++ {
				if err := commit(fmt.Sprint("debate ", w), after); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

func benchStore(b *testing.B) func(string, int64) error {
	s := open(b, filepath.Join(b.TempDir(), "debates.db"))
	return func(id string, after int64) error {
		c := change(id, after, fmt.Sprintf("1/%d/respond/Ann/", after))
		c.Entries[0].Data = turn
		return s.Commit(context.Background(), c)
	}
}

// benchRaw commits with plain SQL to the tables of the store, with their indexes. The primary key of the entries is the
// comparison.
func benchRaw(b *testing.B) func(string, int64) error {
	path := filepath.Join(b.TempDir(), "raw.db")
	require.NoError(b, open(b, path).Close())
	db := raw(b, path)
	db.SetMaxOpenConns(1)
	data := `{"text":"` + turn["text"] + `"}`
	return func(id string, after int64) error {
		ctx := context.Background()
		status, err := json.Marshal(change(id, after, "").Status)
		if err != nil {
			return err
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // does nothing after the commit
		if after == 0 {
			_, err = tx.ExecContext(ctx, `INSERT INTO debates (id, created, updated, state, outcome, failure, labels, status) VALUES (?, ?, ?, '', '', '', '', ?)`,
				id, noon.UnixMicro(), noon.UnixMicro(), string(status))
		} else {
			_, err = tx.ExecContext(ctx, `UPDATE debates SET updated = ?, status = ? WHERE id = ?`, noon.UnixMicro(), string(status), id)
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO entries (debate, seq, type, key, at, data, checksum) VALUES (?, ?, 'turn', ?, ?, ?, 0)`,
			id, after+1, fmt.Sprintf("1/%d/respond/Ann/", after), noon.UnixMicro(), data)
		if err != nil {
			return err
		}
		return tx.Commit()
	}
}

// BenchmarkLoad measures loading a debate of 100 turns.
func BenchmarkLoad(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "debates.db"))
	c := change("d", 0, make([]string, 100)...)
	for i := range c.Entries {
		c.Entries[i].Data = turn
	}
	commit(b, s, c)
	b.ReportAllocs()
	for b.Loop() {
		if _, entries, err := s.Load(context.Background(), "d", 0); err != nil || len(entries) != 100 {
			b.Fatal(len(entries), err)
		}
	}
}

// BenchmarkList measures pages of 20 of 30,000 debates, of which a third has a common label and 30 have a rare one.
func BenchmarkList(b *testing.B) {
	s, labels := open(b, manyDebates(b)), func(labels ...string) store.Query {
		q := store.Query{Labels: map[string]string{}, Limit: 20}
		for _, key := range labels {
			q.Labels[key] = "yes"
		}
		return q
	}
	for name, q := range map[string]store.Query{
		"newest": {Limit: 20}, "state": {States: []fsm.State{fsm.Completed}, Limit: 20}, "rare state": {States: []fsm.State{fsm.Paused}, Limit: 20},
		"failure": {FailureKinds: []string{"network"}, Limit: 20}, "updated": {UpdatedBefore: noon.Add(time.Second), Limit: 20},
		"label": labels("common"), "rare label": labels("rare"), "no such label": labels("none"), "labels": labels("common", "rare"),
		"label and state": {Labels: map[string]string{"common": "yes"}, States: []fsm.State{fsm.Paused}, Limit: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				list(b, s, q)
			}
		})
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			counts, err := s.Count(b.Context(), store.Query{})
			require.NoError(b, err)
			require.Equal(b, 30_000, counts[fsm.Completed]+counts[fsm.Paused])
		}
	})
}

// manyDebates returns the path of a database with 30,000 debates.
func manyDebates(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	c := change("d", 0, "")
	c.Status.State, c.Status.Topic = fsm.Completed, strings.Repeat("a long topic ", 50)
	commit(t, s, c)
	alter(t, path, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 29999)
		INSERT INTO debates (id, created, updated, state, outcome, failure, labels, status)
		SELECT 'd' || i, created + i * 1000000, created + i * 1000000, iif(i % 1000 = 7, 'paused', state), outcome, iif(i % 1000 = 7, 'network', ''), labels,
			json_set(status, '$.id', 'd' || i) FROM debates, n`)
	alter(t, path, `INSERT INTO labels SELECT '6:common3:yes', created, id FROM debates WHERE CAST(substr(id, 2) AS INTEGER) % 3 = 0`)
	alter(t, path, `INSERT INTO labels SELECT '4:rare3:yes', created, id FROM debates WHERE CAST(substr(id, 2) AS INTEGER) % 1000 = 0`)
	return path
}
