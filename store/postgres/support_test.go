package postgres_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/pgtest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
	"github.com/elenchus-go/debate/store/storetest"
)

// A base is a schema for one test.
type base struct {
	schema string
	pool   *pgxpool.Pool // used by the test, not by its stores
}

func empty(t testing.TB) base {
	t.Helper()
	b := base{schema: "test " + rand.Text(), pool: pool(t, func(c *pgxpool.Config) { c.MaxConns = 100 })}
	t.Cleanup(func() { b.exec(t, "drop schema if exists "+b.quoted()+" cascade") })
	return b
}

func (b base) quoted() string { return pgx.Identifier{b.schema}.Sanitize() }

// exec runs SQL in the schema.
func (b base) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	ctx := context.Background() // not t.Context, because cleanups use it too
	err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "select set_config('search_path', $1, true)", b.quoted())
		if err == nil {
			_, err = tx.Exec(ctx, sql, args...)
		}
		return err
	})
	require.NoError(t, err)
}

// pool returns a new pool, as a process would open.
func pool(t testing.TB, settings ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	c, err := pgxpool.ParseConfig(pgtest.DSN(t))
	require.NoError(t, err)
	for _, set := range settings {
		set(c)
	}
	p, err := pgxpool.NewWithConfig(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// open returns a store with its own pool, as another process would open.
func (b base) open(t testing.TB) *postgres.Store {
	t.Helper()
	return b.openOn(t, pool(t))
}

func (b base) openOn(t testing.TB, p *pgxpool.Pool) *postgres.Store {
	t.Helper()
	s, err := postgres.New(p, postgres.Config{Schema: b.schema, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Migrate(t.Context()))
	return s
}

// ids returns the IDs that a query lists.
func ids(t testing.TB, s store.Store, q store.Query) []string {
	t.Helper()
	found := []string{}
	for status, err := range s.List(t.Context(), q) {
		require.NoError(t, err)
		found = append(found, status.ID)
	}
	return found
}

// place returns the backend for storetest. Its stores share a pool, because a new connection takes PostgreSQL longer than a whole debate.
func (b base) place() storetest.Backend {
	sql := func(s string) func(testing.TB, string) {
		return func(t testing.TB, id string) { b.exec(t, s, id) }
	}
	entry := func(s string) func(testing.TB, string, int64) {
		return func(t testing.TB, id string, seq int64) { b.exec(t, s, id, seq) }
	}
	return storetest.Backend{
		Open: func(t testing.TB) store.Store { return b.openOn(t, b.pool) },
		Corruption: &storetest.Corruption{
			DeleteStatus:  sql("delete from debates where id = $1"),
			CorruptStatus: sql(`update debates set status = '["no status"]' where id = $1`),
			SetStatusSeq:  entry("update debates set status = jsonb_set(status::jsonb, '{seq}', to_jsonb($2::bigint))::json where id = $1"),
			DeleteEntry:   entry("delete from entries where debate = $1 and seq = $2"),
			CorruptEntry:  entry("update entries set data = '[]' where debate = $1 and seq = $2"),
			SetEntryField: func(t testing.TB, id string, seq int64, path, value string) {
				b.setEntryField(t, id, seq, path, value)
			},
			Rewrite: func(t testing.TB, id string, seq int64, e store.Entry) bool {
				_, err := b.pool.Exec(t.Context(), "update "+b.quoted()+".entries set seq = $3, type = $4, key = nullif($5, ''), at = $6, data = $7::text::json where debate = $1 and seq = $2",
					id, seq, e.Seq, e.Type, e.Key, e.At, string(e.Data.(json.RawMessage)))
				return err == nil
			},
		},
	}
}

// setEntryField replaces a string in the data of an entry, and the entry's checksum.
func (b base) setEntryField(t testing.TB, id string, seq int64, path, value string) {
	t.Helper()
	_, entries, err := b.openOn(t, b.pool).Load(t.Context(), id, seq-1)
	require.NoError(t, err)
	var data string
	sql := "select jsonb_set($1::jsonb, string_to_array($2, '.'), to_jsonb($3::text))::text"
	require.NoError(t, b.pool.QueryRow(t.Context(), sql, string(entries[0].Data.(json.RawMessage)), path, value).Scan(&data))
	sum := int32(entries[0].Checksum(id, []byte(data))) //nolint:gosec // the sign is only another reading of a bit
	b.exec(t, "update entries set data = $3::text::json, checksum = $4 where debate = $1 and seq = $2", id, seq, data, sum)
}

// created is the creation time of the debates in these tests.
var created = time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)

// change returns a change with an entry for each key.
func change(id string, after int64, keys ...string) store.Change {
	at := created
	c := store.Change{ID: id, After: after, Status: store.Status{ID: id, Seq: after + int64(len(keys)), Created: at, Updated: at}}
	for i, key := range keys {
		c.Entries = append(c.Entries, store.Entry{Seq: after + int64(i) + 1, Type: "turn", Key: key, At: at, Data: map[string]any{"text": key}})
	}
	return c
}
