package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

// BenchmarkCommit measures commits of 2 kB turns by several writers, each to its own debate. It measures the store, the
// store without notifications, and the least SQL that does the same work: a transaction that updates a status and
// inserts a row. The server flushes each commit to the disk.
func BenchmarkCommit(b *testing.B) {
	text := json.RawMessage(`{"text":"` + strings.Repeat("words of a turn ", 125) + `"}`)
	writers := []int{1, 8, 64}
	for _, name := range []string{"store", "mute"} {
		b.Run(name, func(b *testing.B) {
			base, p := benched(b)
			s := base.openOn(b, p)
			if name == "mute" {
				postgres.DisableNotify(s)
			}
			for _, n := range writers {
				b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) {
					race(b, n, func(ctx context.Context, id string, seq int64) error {
						c := change(id, seq, fmt.Sprint("1/1/respond/Ann/", seq))
						c.Entries[0].Data = text
						return s.Commit(ctx, c)
					})
				})
			}
		})
	}
	b.Run("raw", func(b *testing.B) {
		base, p := benched(b)
		base.exec(b, "create table statuses (id text primary key, seq bigint, status json)")
		base.exec(b, "create table turns (debate text, seq bigint, data json, primary key (debate, seq))")
		for _, n := range writers {
			b.Run(fmt.Sprintf("writers=%d", n), func(b *testing.B) {
				race(b, n, func(ctx context.Context, id string, seq int64) error {
					return base.raw(ctx, p, id, seq, text)
				})
			})
		}
	})
}

// benched returns a base and a pool of 64 connections, on a server with production settings.
func benched(b *testing.B) (base, *pgxpool.Pool) {
	b.Helper()
	if testing.Short() {
		b.Skip("starts a server")
	}
	dsn := pgtest.Start(b, true).DSN
	open := func() *pgxpool.Pool {
		c, err := pgxpool.ParseConfig(dsn)
		require.NoError(b, err)
		c.MaxConns = 64
		p, err := pgxpool.NewWithConfig(context.Background(), c)
		require.NoError(b, err)
		b.Cleanup(p.Close)
		return p
	}
	base := base{schema: "bench", pool: open()}
	_, err := base.pool.Exec(context.Background(), "create schema bench")
	require.NoError(b, err)
	return base, open()
}

// raw commits a turn with the least SQL that does the work.
func (b base) raw(ctx context.Context, p *pgxpool.Pool, id string, seq int64, data json.RawMessage) error {
	status, err := json.Marshal(store.Status{ID: id, Seq: seq + 1})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, p, func(tx pgx.Tx) error {
		if seq == 0 {
			if _, err := tx.Exec(ctx, "insert into bench.statuses values ($1, 0, null)", id); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, "update bench.statuses set seq = seq + 1, status = $3::text::json where id = $1 and seq = $2", id, seq, string(status))
		if err == nil && tag.RowsAffected() != 1 {
			err = &store.Conflict{ID: id, After: seq}
		}
		if err == nil {
			_, err = tx.Exec(ctx, "insert into bench.turns values ($1, $2, $3::text::json)", id, seq+1, string(data))
		}
		return err
	})
}

// race makes b.N commits, divided among the writers.
func race(b *testing.B, writers int, commit func(ctx context.Context, id string, seq int64) error) {
	b.Helper()
	run := time.Now().UnixNano()
	errs := make(chan error, writers)
	for w := range writers {
		id := fmt.Sprintf("d%d.%d", run, w)
		share := b.N / writers
		if w < b.N%writers {
			share++
		}
		go func() {
			var err error
			for seq := int64(0); seq < int64(share) && err == nil; seq++ {
				err = commit(context.Background(), id, seq)
			}
			errs <- err
		}()
	}
	for range writers {
		require.NoError(b, <-errs)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkLoad measures loading a debate of 100 turns.
func BenchmarkLoad(b *testing.B) {
	s := empty(b).open(b)
	c := change("d", 0, make([]string, 100)...)
	for i := range c.Entries {
		c.Entries[i].Data = json.RawMessage(`{"text":"` + strings.Repeat("words of a turn ", 125) + `"}`)
	}
	require.NoError(b, s.Commit(context.Background(), c))
	b.ReportAllocs()
	for b.Loop() {
		if _, entries, err := s.Load(context.Background(), "d", 0); err != nil || len(entries) != 100 {
			b.Fatal(len(entries), err)
		}
	}
}

// BenchmarkList measures pages of 20 of 30,000 debates, of which a third has a common label and 30 have a rare one.
func BenchmarkList(b *testing.B) {
	base := manyDebates(b)
	s, labels := base.open(b), func(labels ...string) store.Query {
		q := store.Query{Labels: map[string]string{}, Limit: 20}
		for _, key := range labels {
			q.Labels[key] = "yes"
		}
		return q
	}
	for name, q := range map[string]store.Query{
		"newest": {Limit: 20}, "state": {States: []fsm.State{fsm.Completed}, Limit: 20}, "rare state": {States: []fsm.State{fsm.Paused}, Limit: 20},
		"failure": {FailureKinds: []string{"network"}, Limit: 20}, "updated": {UpdatedBefore: created.Add(time.Second), Limit: 20},
		"label": labels("common"), "rare label": labels("rare"), "no such label": labels("none"), "labels": labels("common", "rare"),
		"label and state": {Labels: map[string]string{"common": "yes"}, States: []fsm.State{fsm.Paused}, Limit: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ids(b, s, q)
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

// manyDebates returns a schema with 30,000 debates.
func manyDebates(t testing.TB) base {
	t.Helper()
	b := empty(t)
	s := b.open(t)
	c := change("d", 0, "")
	c.Status.State, c.Status.Topic = fsm.Completed, strings.Repeat("a long topic ", 50)
	require.NoError(t, s.Commit(t.Context(), c))
	b.exec(t, `insert into debates (id, created, updated, state, outcome, failure, labels, status)
		select 'd' || i, created + i * interval '1 second', created + i * interval '1 second', case i % 1000 when 7 then 'paused' else state end, outcome,
			case i % 1000 when 7 then 'network' else '' end,
			array(select '["common","yes"]' where i % 3 = 0 union all select '["rare","yes"]' where i % 1000 = 0),
			jsonb_set(status::jsonb, '{id}', to_jsonb('d' || i)) from debates, generate_series(1, 29999) i`)
	b.exec(t, `analyze debates, labels`)
	return b
}
