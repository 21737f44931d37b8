package postgres_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

func TestAMigrationIsAppliedOnce(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a")))
	require.NoError(t, s.Migrate(t.Context()))
	require.Equal(t, []string{"d"}, ids(t, b.open(t), store.Query{}))

	var n, newest int
	sql := "select count(*), max(version) from " + b.quoted() + ".migrations"
	require.NoError(t, b.pool.QueryRow(t.Context(), sql).Scan(&n, &newest))
	require.Equal(t, newest, n)
}

func TestManyProcessesMayMigrateAtOnce(t *testing.T) {
	b := empty(t)
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		s, err := postgres.New(pool(t), postgres.Config{Schema: b.schema})
		require.NoError(t, err)
		all.Go(func() { errs <- s.Migrate(t.Context()) })
	}
	all.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}

func TestASchemaOfANewerVersionIsRefused(t *testing.T) {
	b := empty(t)
	s := b.open(t)
	b.exec(t, "insert into migrations (version) values (1000)")
	require.EqualError(t, s.Migrate(t.Context()),
		`migrate schema "`+b.schema+`": schema version is 1000, but this program supports only versions up to 1; use a newer program`)
}

func TestASchemaThatIsUpToDateNeedsNoRightToCreate(t *testing.T) {
	b := empty(t)
	b.open(t)
	role := pgx.Identifier{"role " + rand.Text()}.Sanitize()
	b.exec(t, "create role "+role)
	t.Cleanup(func() { b.exec(t, "drop owned by "+role+"; drop role "+role) })
	b.exec(t, "grant usage on schema "+b.quoted()+" to "+role+
		"; grant select, insert, update, delete on all tables in schema "+b.quoted()+" to "+role)
	p := pool(t, func(c *pgxpool.Config) {
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "set role "+role)
			return err
		}
	})
	use(t, b.openOn(t, p), b.open(t))

	fresh, err := postgres.New(p, postgres.Config{Schema: b.schema + "2"})
	require.NoError(t, err)
	require.ErrorContains(t, fresh.Migrate(t.Context()), "permission denied")
}

func TestASchemaMayHaveAnyName(t *testing.T) {
	for _, name := range []string{
		"", `Debates "1"`, "a$$b$sql$", "select", "a.b", "ünï ✓", "{entries}", "'; drop schema public; --", strings.Repeat("x", 63),
	} {
		t.Run(name, func(t *testing.T) {
			b := empty(t)
			b.schema = name
			if name == "" {
				b.schema = "debate"
			}
			open := func() *postgres.Store {
				s, err := postgres.New(pool(t), postgres.Config{Schema: name})
				require.NoError(t, err)
				t.Cleanup(s.Close)
				require.NoError(t, s.Migrate(t.Context()))
				return s
			}
			use(t, open(), open())
			b.exec(t, "drop schema "+b.quoted()+" cascade")
		})
	}
}

// use calls every method of a store and checks that another store is notified.
func use(t *testing.T, s, other *postgres.Store) {
	t.Helper()
	told := watch(t, other, "d")
	require.NoError(t, s.Commit(t.Context(), change("d", 0, "a", "b")))
	told.hears(t, 2)
	require.ErrorAs(t, other.Commit(t.Context(), change("d", 2, "a")), new(*store.Conflict))
	_, entries, err := other.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, []string{"d"}, ids(t, s, store.Query{}))
	require.NoError(t, s.Delete(t.Context(), "d", 0))
	told.hears(t, 0)
}

func TestANameThatNoSchemaCanHaveIsRefused(t *testing.T) {
	p := pool(t)
	for _, name := range []string{strings.Repeat("x", 64), "a\x00", "\xff"} {
		_, err := postgres.New(p, postgres.Config{Schema: name})
		require.ErrorContains(t, err, "make store: schema ")
		require.ErrorContains(t, err, "want at most 63 bytes")
	}
	_, err := postgres.New(nil, postgres.Config{})
	require.EqualError(t, err, "make store: pool is nil")
}

func TestWithoutMigrateErrorsSayWhatIsMissing(t *testing.T) {
	s, err := postgres.New(pool(t), postgres.Config{Schema: "no such schema"})
	require.NoError(t, err)
	require.ErrorContains(t, s.Commit(t.Context(), change("d", 0, "a")), `relation "no such schema.entries" does not exist`)
}
