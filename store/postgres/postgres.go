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
// A commit is one round trip and one transaction, and lasts when it has returned, unless the server's synchronous_commit
// is off. [Store.CommitTx] commits within a transaction of the caller. Commits to one debate wait for each other, by an
// advisory lock. They need READ COMMITTED, PostgreSQL's default, and refuse another isolation.
//
// [Store.Watch] listens for notifications on one connection beside the pool, until [Store.Close]. It asks
// every five seconds, too: so watching works, with that delay, where notifications do not arrive, as through PgBouncer in
// transaction mode. That may also want another DefaultQueryExecMode in pgx's configuration, since statements are
// prepared otherwise.
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

// Config says where debates are kept.
type Config struct {
	// Schema holds the tables, and names the channel of notifications: any name of at most 63 bytes. Defaults to
	// "debate".
	Schema string
	// Logger is told when watching is cut off from the database, and when it is back. Defaults to slog.Default.
	Logger *slog.Logger
}

// Store keeps debates in a schema of a database. It is a store.Watcher.
type Store struct {
	pool         *pgxpool.Pool
	log          *slog.Logger
	schema       string
	origin       string // of notifications
	sql          queries
	pollInterval time.Duration
	watchers     watchers
}

// New is a store on a pool. It does not touch the database.
func New(pool *pgxpool.Pool, c Config) (*Store, error) {
	if pool == nil {
		return nil, errors.New("make store: the pool is missing")
	}
	if c.Schema == "" {
		c.Schema = "debate"
	}
	if len(c.Schema) > 63 || invalidText(c.Schema) {
		return nil, fmt.Errorf("make store: schema %q: want at most 63 bytes of UTF-8 without a zero", c.Schema)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Store{
		pool: pool, log: c.Logger, schema: c.Schema, origin: rand.Text()[:8], sql: newQueries(c.Schema), pollInterval: pollInterval,
	}, nil
}

// Close ends listening for commits, and leaves the pool open. Those who watch are still told of commits by this store.
func (s *Store) Close() { s.watchers.close() }

// lockKey is what the advisory lockKey of a debate is derived from.
func (s *Store) lockKey(id string) string { return s.schema + "." + id }

// invalidText says whether PostgreSQL's text cannot hold s.
func invalidText(s string) bool { return strings.ContainsRune(s, 0) || !utf8.ValidString(s) }
