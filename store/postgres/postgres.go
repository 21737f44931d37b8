// Package postgres stores debates in PostgreSQL, for use by many machines.
//
//	s, err := postgres.New(pool, postgres.Config{}) // pool is a *pgxpool.Pool
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	if err := s.Migrate(ctx); err != nil {
//		return err
//	}
//	engine, err := debate.NewEngine(debate.Options{Store: s, Providers: providers})
//
// The caller owns the pool. All tables are in one schema, which [Store.Migrate] creates and updates.
//
// A commit is one round trip and one transaction. It is durable when it returns, unless the server's synchronous_commit
// is off. Afterwards a goroutine notifies other stores, of many commits at once. [Store.CommitTx] commits within your
// own transaction. Commits to the same debate wait for each other on an advisory lock. They need the isolation level
// READ COMMITTED, PostgreSQL's default, and return an error for any other.
//
// [Store.Delete] deletes rows. As always in PostgreSQL, their texts stay in the files of the tables until VACUUM, which
// autovacuum runs by itself, in the write-ahead log until the server recycles it, and in backups and replicas.
//
// [Store.Watch] listens for notifications on one connection outside the pool, until [Store.Close]. It also polls every
// five seconds. So watching works where notifications do not arrive, for example through PgBouncer in transaction mode,
// but with that delay. PgBouncer may also require another DefaultQueryExecMode in pgx's configuration, because pgx
// prepares statements by default.
package postgres

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"
)

const pollInterval = 5 * time.Second

// Config configures a [Store]. The zero Config is valid.
type Config struct {
	// Schema is the schema of the tables and the name of the notification channel. Any name of at most 63 bytes is
	// valid. Defaults to "debate".
	Schema string
	// Logger logs when watching loses and regains its connection to the database. Defaults to slog.Default.
	Logger *slog.Logger
}

// Store keeps debates in a schema of a database. It implements store.Store, store.Watcher and
// store.Heartbeats.
type Store struct {
	pool         *pgxpool.Pool
	log          *slog.Logger
	schema       string
	origin       string // random prefix of the store's notifications, so that it ignores its own
	sql          queries
	pollInterval time.Duration
	watchers     watchers

	announcements announcements
}

// New returns a store that uses the pool. It does not connect to the database.
func New(pool *pgxpool.Pool, c Config) (*Store, error) {
	if pool == nil {
		return nil, errors.New("make store: pool is nil")
	}
	if c.Schema == "" {
		c.Schema = "debate"
	}
	if len(c.Schema) > 63 || invalidText(c.Schema) {
		return nil, fmt.Errorf("make store: schema %q: want at most 63 bytes of UTF-8 without a zero byte", c.Schema)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Store{
		pool: pool, log: c.Logger, schema: c.Schema, origin: rand.Text()[:8], sql: newQueries(c.Schema), pollInterval: pollInterval,
	}, nil
}

// Close sends the pending notifications to other stores, and stops listening for theirs. It does not close the pool.
// Watches still report this store's own commits.
func (s *Store) Close() {
	s.announcements.senders.Wait()
	s.watchers.close()
}

// lockKey returns the text that the advisory lock of a debate is derived from.
func (s *Store) lockKey(id string) string { return s.schema + "." + id }

// invalidText reports whether PostgreSQL cannot store s as text.
func invalidText(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) }
