package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

// A server that cannot be reached, that ends, or whose disk is full may work again later. Other errors stay.
func TestErrorsThatMayPass(t *testing.T) {
	for code, want := range map[string]bool{
		"08006": true, "53100": true, "53300": true, "57P01": true, "57P03": true, "58030": true, "42P01": false, "23505": false, "40001": false, "57014": false,
	} {
		err := fmt.Errorf("query: %w", &pgconn.PgError{Code: code})
		require.Equal(t, want, errors.Is(postgres.Unavailable(err), store.ErrUnavailable), code)
		require.ErrorIs(t, postgres.Unavailable(err), err)
	}
	require.NoError(t, postgres.Unavailable(nil))
	require.ErrorIs(t, postgres.Unavailable(io.ErrUnexpectedEOF), store.ErrUnavailable)
	require.NotErrorIs(t, postgres.Unavailable(context.DeadlineExceeded), store.ErrUnavailable)
	require.NotErrorIs(t, postgres.Unavailable(store.ErrNotFound), store.ErrUnavailable)

	pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/none")
	require.NoError(t, err)
	defer pool.Close()
	s, err := postgres.New(pool, postgres.Config{})
	require.NoError(t, err)
	defer s.Close()
	_, _, err = s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrUnavailable)
	for _, err := range s.List(t.Context(), store.Query{}) {
		require.ErrorIs(t, err, store.ErrUnavailable)
	}
	_, err = s.Count(t.Context(), store.Query{})
	require.ErrorIs(t, err, store.ErrUnavailable)
	change := store.Change{ID: "d", Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: "d", Seq: 1}}
	require.ErrorIs(t, s.Commit(t.Context(), change), store.ErrUnavailable)
	require.ErrorIs(t, s.Delete(t.Context(), "d", 0), store.ErrUnavailable)
}
