package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

func TestACommitIsPartOfATransaction(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	b.exec(t, "create table jobs (id text)")
	jobs := func() (n int) {
		require.NoError(t, b.pool.QueryRow(t.Context(), "select count(*) from "+b.quoted()+".jobs").Scan(&n))
		return n
	}
	e := watch(t, s, "d")
	e.hears(t, 0) // the debate does not exist yet
	for _, end := range []func(pgx.Tx, context.Context) error{pgx.Tx.Rollback, pgx.Tx.Commit} {
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "insert into "+b.quoted()+".jobs values ('next')")
		require.NoError(t, err)
		require.NoError(t, s.CommitTx(t.Context(), tx, change("d", 0, "a")))
		require.NoError(t, s.CommitTx(t.Context(), tx, change("d", 1, "b")))
		_, _, err = s.Load(t.Context(), "d", 0)
		require.EqualError(t, err, "load debate d: no such debate", "the transaction is not committed")
		require.Zero(t, jobs())
		require.Empty(t, e)
		require.NoError(t, end(tx, t.Context()))
	}
	e.hears(t, 2)
	require.Equal(t, 1, jobs())
	require.Equal(t, []string{"d"}, ids(t, s, store.Query{}))
}

func TestACommitWithMoreIsOneTransaction(t *testing.T) {
	b := empty(t)
	s, other := b.open(t), b.open(t)
	b.exec(t, "create table jobs (id text)")
	insert := func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "insert into "+b.quoted()+".jobs values ('next')")
		return err
	}
	jobs := func() (n int) {
		require.NoError(t, b.pool.QueryRow(t.Context(), "select count(*) from "+b.quoted()+".jobs").Scan(&n))
		return n
	}
	e, far := watch(t, s, "d"), watch(t, other, "d")
	e.hears(t, 0)
	far.hears(t, 0)

	full := errors.New("the queue is full")
	require.ErrorIs(t, s.CommitWith(t.Context(), change("d", 0, "a"), func(tx pgx.Tx) error { return errors.Join(insert(tx), full) }), full)
	require.Zero(t, jobs())
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)

	require.NoError(t, s.CommitWith(t.Context(), change("d", 0, "a"), insert))
	require.Equal(t, 1, jobs())
	e.hears(t, 1)
	far.hears(t, 1)

	require.Equal(t, &store.Conflict{ID: "d", After: 0, LastSeq: 1, Key: "a"}, s.CommitWith(t.Context(), change("d", 0, "a"), insert))
	require.Equal(t, 1, jobs())
}

func TestATransactionGoesOnAfterAConflict(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a")))
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	wrong := change("d", 1, "b", "a")
	wrong.Status.Topic = "wrong"
	require.Equal(t, &store.Conflict{ID: "d", After: 1, LastSeq: 1, Key: "a"}, s.CommitTx(t.Context(), tx, wrong))
	require.Equal(t, &store.Conflict{ID: "e", After: 1}, s.CommitTx(t.Context(), tx, change("e", 1, "a")))
	require.NoError(t, s.CommitTx(t.Context(), tx, change("f", 0, "a")))
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, []string{"f", "d"}, ids(t, s, store.Query{}))
	status, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, change("d", 0, "a").Status, status)
	require.Len(t, entries, 1)
}

func TestOfSeveralTurnsThatStandTheFirstOfTheChangeIsNamed(t *testing.T) {
	s := empty(t).open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a", "b", "c")))
	require.Equal(t, &store.Conflict{ID: "d", After: 3, LastSeq: 3, Key: "c"}, s.Commit(t.Context(), change("d", 3, "new", "c", "a", "b")))
}

func TestOtherCommitsWaitForATransaction(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a")))
	for n, write := range []func() error{
		func() error { return s.Commit(t.Context(), change("d", 1, "c")) },
		func() error { return s.Delete(t.Context(), "d", 0) },
	} {
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.CommitTx(t.Context(), tx, change("d", int64(1+n), "")))
		done := make(chan error)
		go func() { done <- write() }()
		require.Eventually(t, func() bool { return b.waiting(t) == 1 }, patience, time.Millisecond)
		require.NoError(t, s.Commit(t.Context(), change(fmt.Sprint("other", n), 0, "a")), "commits to another debate do not wait")
		require.NoError(t, tx.Commit(t.Context()))
		err = <-done
		if n == 0 {
			require.Equal(t, &store.Conflict{ID: "d", After: 1, LastSeq: 2}, err)
		} else {
			require.NoError(t, err)
		}
	}
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound, "the rollback leaves nothing")
}

// waiting returns the number of connections that wait for the lock of a debate.
func (b base) waiting(t testing.TB) (n int) {
	t.Helper()
	sql := "select count(*) from pg_locks where locktype = 'advisory' and not granted"
	require.NoError(t, b.pool.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

func TestAnotherIsolationIsRefused(t *testing.T) {
	b := empty(t)
	good := b.open(t)
	require.NoError(t, good.Commit(t.Context(), change("d", 0, "a")))
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		want := fmt.Sprintf(`transaction isolation is %q, want "read committed"`, level)
		tx, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
		require.NoError(t, err)
		require.EqualError(t, good.CommitTx(t.Context(), tx, change("d", 1, "b")), "commit to debate d: "+want)
		require.NoError(t, tx.Rollback(t.Context()))

		s := b.openOn(t, pool(t, func(c *pgxpool.Config) {
			c.ConnConfig.RuntimeParams["default_transaction_isolation"] = string(level)
		}))
		require.EqualError(t, s.Commit(t.Context(), change("d", 1, "b")), "commit to debate d: "+want)
		require.EqualError(t, s.Delete(t.Context(), "d", 0), "delete debate d: "+want)
		status, entries, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, status.Seq)
		require.Len(t, entries, 1)
	}
}

func TestTextThatIsNoUTF8IsStoredAsJSONHasIt(t *testing.T) {
	s := empty(t).open(t)
	c := change("d", 0, "\xffkey")
	c.Entries[0].Type = "\xfftype"
	c.Entries[0].Data = json.RawMessage("{\"text\":\"\xff\"}")
	c.Status.Topic, c.Status.Labels = "\xff", map[string]string{"\xffk": "\xffv\x00"}
	require.NoError(t, s.Commit(t.Context(), c))
	status, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Equal(t, "\uFFFDkey", entries[0].Key)
	require.Equal(t, "\uFFFDtype", entries[0].Type)
	require.JSONEq(t, "{\"text\":\"\uFFFD\"}", string(entries[0].Data.(json.RawMessage)))
	require.Equal(t, "\uFFFD", status.Topic)
	require.Equal(t, []string{"d"}, ids(t, s, store.Query{Labels: map[string]string{"\xffk": "\xffv\x00"}}))
	require.Empty(t, ids(t, s, store.Query{Labels: map[string]string{"\xffk": "\xffv"}}))
	require.Equal(t, &store.Conflict{ID: "d", After: 1, LastSeq: 1, Key: "\uFFFDkey"}, s.Commit(t.Context(), change("d", 1, "\xffkey")))
}

func TestWhatCannotBeStoredIsNamed(t *testing.T) {
	s := empty(t).open(t)
	for _, tt := range []struct {
		change func(*store.Change)
		want   string
	}{
		{func(c *store.Change) { c.Entries[1].Key = "b\x00" }, `entry 2: type "turn", key "b\x00": want no zero byte`},
		{func(c *store.Change) { c.Entries[0].Type = "\x00" }, `entry 1: type "\x00", key "a": want no zero byte`},
		{func(c *store.Change) { c.Entries[1].Data = make(chan int) }, "entry 2: json: unsupported type: chan int"},
		{func(c *store.Change) { c.Status.Created = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "status: json: "},
	} {
		c := change("d", 0, "a", "b")
		tt.change(&c)
		require.ErrorContains(t, s.Commit(t.Context(), c), "commit to debate d: "+tt.want)
	}
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestAListIsReadInPagesByAPoolOfOne(t *testing.T) {
	s := empty(t).openOn(t, pool(t, func(c *pgxpool.Config) { c.MaxConns = 1 }))
	want := []string{}
	for n := range 450 {
		c := change(fmt.Sprintf("d%03d", n), 0, "a")
		if n < 230 {
			c.Status.Created = time.Time{} // a debate without a creation time is listed last
		}
		require.NoError(t, s.Commit(t.Context(), c))
		want = append([]string{c.ID}, want...)
	}
	for _, limit := range []int{0, 199, 200, 201, 400, 401, 450, 451} {
		expected := want
		if limit > 0 {
			expected = want[:min(limit, len(want))]
		}
		require.Equal(t, expected, ids(t, s, store.Query{Limit: limit}), limit)
	}
	n := 0
	for status, err := range s.List(t.Context(), store.Query{}) { // the caller writes while it iterates
		require.NoError(t, err)
		require.NoError(t, s.Commit(t.Context(), change(status.ID, 1, "b")))
		n++
	}
	require.Equal(t, len(want), n)
}

func TestRowsThatCannotBeReadAreNamed(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a", "b")))
	b.exec(t, "alter table entries alter column type drop not null")
	b.exec(t, "update entries set type = null where seq = 2")
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorContains(t, err, "load debate d: read entry 2 of debate d: ")
	b.exec(t, `update debates set status = '{"id":"e"}'`)
	status, _, err := s.Load(t.Context(), "d", 2)
	require.NoError(t, err)
	require.Equal(t, store.Status{ID: "d"}, status)
	for _, err := range s.List(t.Context(), store.Query{}) {
		require.EqualError(t, err, `list debates: read status of debate d: it has the id "e"`)
	}
}

func TestWithoutADatabaseErrorsSayWhatFailed(t *testing.T) {
	b := empty(t)
	p := pool(t)
	s := b.openOn(t, p)
	p.Close()
	require.ErrorContains(t, s.Migrate(t.Context()), `migrate schema "`+b.schema+`": closed pool`)
	require.ErrorContains(t, s.Commit(t.Context(), change("d", 0, "a")), "commit to debate d: closed pool")
	require.ErrorContains(t, s.Delete(t.Context(), "d", 0), "delete debate d: closed pool")
	_, _, err := s.Load(t.Context(), "d", 0)
	require.ErrorContains(t, err, "load debate d: closed pool")
	for _, err := range s.List(t.Context(), store.Query{}) {
		require.ErrorContains(t, err, "list debates: closed pool")
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.CommitTx(t.Context(), tx, change("d", 0, "a")))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Commit(ctx, change("d", 0, "b")) }()
	require.Eventually(t, func() bool { return b.waiting(t) == 1 }, patience, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, tx.Commit(t.Context()))
}
