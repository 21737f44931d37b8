package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

const patience = 5 * time.Minute // no test that passes waits as long, however slow the machine is

// An ear receives the seqs that a watcher is told.
type ear chan int64

func watch(t *testing.T, s store.Watcher, id string) ear {
	t.Helper()
	e := make(ear, 1000)
	t.Cleanup(s.Watch(id, func(last int64) { e <- last }))
	return e
}

// hears waits until the ear receives a seq.
func (e ear) hears(t *testing.T, want int64) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case got := <-e:
			if got == want {
				return
			}
		case <-limit:
			require.FailNow(t, "not told", "of %d", want)
		}
	}
}

// named sets the application name of a pool's connections.
func named(name string) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["application_name"] = name }
}

// listening returns the number of connections with an application name.
func (b base) listening(t testing.TB, name string) (n int) {
	t.Helper()
	sql := "select count(*) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()"
	require.NoError(t, b.pool.QueryRow(t.Context(), sql, name).Scan(&n))
	return n
}

// cut ends all connections with an application name, as a server shutdown would.
func (b base) cut(t testing.TB, name string) {
	t.Helper()
	_, err := b.pool.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", name)
	require.NoError(t, err)
}

func TestWhatIsCommittedWhileTheListenerIsCutOffIsToldLater(t *testing.T) {
	b := empty(t)
	var down atomic.Bool
	var tried atomic.Int32
	p := pool(t, named(b.schema), func(c *pgxpool.Config) {
		c.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
			if down.Load() {
				tried.Add(1)
				return errors.New("the server is down")
			}
			return nil
		}
	})
	var log bytes.Buffer
	s, err := postgres.New(p, postgres.Config{Schema: b.schema, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Migrate(t.Context()))
	other := b.open(t)
	grows := watch(t, s, "grows")
	goes := watch(t, s, "goes")
	comes := watch(t, s, "comes")
	for _, id := range []string{"grows", "goes"} {
		require.NoError(t, other.Commit(t.Context(), change(id, 0, "a")))
	}
	grows.hears(t, 1)
	goes.hears(t, 1)

	down.Store(true)
	b.cut(t, b.schema)
	require.NoError(t, other.Commit(t.Context(), change("grows", 1, "b", "c")))
	require.NoError(t, other.Commit(t.Context(), change("comes", 0, "a")))
	require.NoError(t, other.Delete(t.Context(), "goes", 0))
	require.Eventually(t, func() bool { return tried.Load() >= 3 }, patience, time.Millisecond)
	down.Store(false)

	grows.hears(t, 3)
	comes.hears(t, 1)
	goes.hears(t, 0)
	require.NoError(t, other.Commit(t.Context(), change("grows", 3, "d")))
	grows.hears(t, 4)
	s.Close()
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "watching debates again"), log.String())
}

func TestWhatIsCommittedBeforeSomebodyListensIsTold(t *testing.T) {
	b := empty(t)
	other := b.open(t)
	for n := range 20 {
		s, id := b.open(t), fmt.Sprint("d", n)
		require.NoError(t, other.Commit(t.Context(), change(id, 0, "a")))
		if e := watch(t, s, id); n%2 == 0 {
			require.NoError(t, other.Delete(t.Context(), id, 0))
			e.hears(t, 0)
		} else {
			require.NoError(t, other.Commit(t.Context(), change(id, 1, "b")))
			e.hears(t, 2)
		}
		s.Close()
	}
}

func TestTheListenerSurvivesTheEndOfItsConnection(t *testing.T) {
	b := empty(t)
	s, other := b.openOn(t, pool(t, named(b.schema))), b.open(t)
	e := watch(t, s, "d")
	require.NoError(t, other.Commit(t.Context(), change("d", 0, "")))
	e.hears(t, 1)
	for n := range int64(3) {
		b.cut(t, b.schema)
		require.NoError(t, other.Commit(t.Context(), change("d", n+1, "")))
		e.hears(t, n+2)
	}
}

func TestWhatNobodyNotifiesOfIsFoundByAsking(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	postgres.SetPollInterval(s, 10*time.Millisecond)
	e := watch(t, s, "d")
	b.exec(t, "insert into entries (debate, seq, type, at, data, checksum) values ('d', 1, 'turn', now(), '{}', 0)")
	e.hears(t, 1)
	b.exec(t, "insert into entries (debate, seq, type, at, data, checksum) values ('d', 2, 'turn', now(), '{}', 0)")
	e.hears(t, 2)
	b.exec(t, "delete from entries")
	e.hears(t, 0)
}

func TestSomebodyListensFromTheFirstWatchUntilClose(t *testing.T) {
	b := empty(t)
	p := pool(t, named(b.schema))
	s := b.openOn(t, p)
	listening := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			p.Reset() // ignore the pool's own connections
			return b.listening(t, b.schema) == n
		}, patience, time.Millisecond)
	}
	listening(0)
	first, second := s.Watch("d", func(int64) {}), s.Watch("e", func(int64) {})
	listening(1)
	first()
	first()
	listening(1)
	second()
	listening(1) // wait for the reconnect
	watch(t, s, "d")
	listening(1)
	s.Close()
	listening(0)
	s.Close()
}

func TestAStoreThatIsClosedTellsOfItsOwnCommits(t *testing.T) {
	s := empty(t).open(t)
	s.Close()
	e := watch(t, s, "d")
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a")))
	require.EqualValues(t, 1, <-e, "at once")
	s.Close()
}

func TestAFullPoolKeepsNobodyFromBeingTold(t *testing.T) {
	b := empty(t)
	p := pool(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	s, other := b.openOn(t, p), b.open(t)
	conn, err := p.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	e := watch(t, s, "d")
	require.NoError(t, other.Commit(t.Context(), change("d", 0, "a")))
	e.hears(t, 1)
}

func TestNotificationsOfOthersAreIgnored(t *testing.T) {
	b := empty(t)
	own := func(*pgconn.PgConn, *pgconn.Notification) { panic("called for a notification of the listener") }
	s := b.openOn(t, pool(t, func(c *pgxpool.Config) { c.ConnConfig.OnNotification = own }))
	e := watch(t, s, "d")
	other := b.open(t)
	require.NoError(t, other.Commit(t.Context(), change("d", 0, "a")))
	e.hears(t, 1)
	for _, payload := range []string{"", "d", "x y d", "  d", "x 9"} {
		_, err := b.pool.Exec(t.Context(), "select pg_notify($1, $2)", b.schema, payload)
		require.NoError(t, err)
	}
	require.NoError(t, other.Commit(t.Context(), change("d", 1, "b")))
	require.EqualValues(t, 2, <-e)
}

// notifications counts the statements that notify, and those that a commit contains.
type notifications struct{ sent, payloads, inCommits atomic.Int64 }

func (n *notifications) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.Contains(d.SQL, "pg_notify") {
		n.sent.Add(1)
		n.payloads.Add(int64(len(d.Args[1].([]string))))
	}
	return ctx
}

func (n *notifications) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (n *notifications) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	for _, q := range d.Batch.QueuedQueries {
		if strings.Contains(q.SQL, "insert into") && q.Arguments[2] == true {
			n.inCommits.Add(1)
		}
	}
	return ctx
}

func (n *notifications) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (n *notifications) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// PostgreSQL lets only one transaction at a time notify. So commits do not, and many are announced together.
func TestCommitsAreAnnouncedTogetherAfterThem(t *testing.T) {
	const writers, commits = 8, 40
	b := empty(t)
	other := b.open(t)
	postgres.SetPollInterval(other, time.Hour)
	var n notifications
	p := pool(t, func(c *pgxpool.Config) { c.ConnConfig.Tracer = &n })
	s := b.openOn(t, p)
	var all sync.WaitGroup
	var ears []ear
	for w := range writers {
		ears = append(ears, watch(t, other, fmt.Sprint("d", w)))
		all.Go(func() {
			for seq := range int64(commits) {
				if err := s.Commit(context.Background(), change(fmt.Sprint("d", w), seq, "")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, e := range ears {
		e.hears(t, commits)
	}
	s.Close()
	require.Zero(t, n.inCommits.Load())
	require.Less(t, n.sent.Load(), int64(writers*commits))
	t.Logf("%d commits, %d notifications in %d statements", writers*commits, n.payloads.Load(), n.sent.Load())
}

func TestCloseSendsTheLastAnnouncement(t *testing.T) {
	b := empty(t)
	other := b.open(t)
	postgres.SetPollInterval(other, time.Hour)
	told := watch(t, other, "d")
	s := b.open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a")))
	s.Close()
	told.hears(t, 1)
}
