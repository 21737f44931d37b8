package debateriver

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

func TestAStoreSaysWhatIsWrong(t *testing.T) {
	pool := newPool(t)
	for _, tt := range []struct {
		name string
		pool *pgxpool.Pool
		c    Config
		want string
	}{
		{"no pool", nil, Config{}, "make store: pool is nil"},
		{"a long schema", pool, Config{Schema: strings.Repeat("s", 64)}, "make store: schema"},
		{"a long schema of River", pool, Config{RiverSchema: strings.Repeat("s", 64)}, "make store: "},
		{"a schema that River refuses", pool, Config{RiverSchema: "my schema"}, "make store: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewStore(tt.pool, tt.c)
			require.ErrorContains(t, err, tt.want)
		})
	}
	s, err := NewStore(pool, Config{})
	require.NoError(t, err)
	defer s.Close()
	require.True(t, s.Schedules())
}

func TestMigratingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	d := s.submitter(t).submit(t, sequentialPanel())
	jobs := s.jobs(t, d)
	require.NoError(t, s.submitter(t).store.Migrate(t.Context()))
	require.Equal(t, jobs, s.jobs(t, d))
}

func TestProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		s := newTestSchema(t)
		s.exec(t, "drop schema {schema} cascade")
		var all sync.WaitGroup
		for range 4 {
			p := s.submitter(t)
			all.Go(func() {
				if err := p.store.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}

// A program may have fewer rights than the one that created the tables.
func TestMigratingNeedsNoRightToCreateWhereAllIsThere(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	role := s.schema + "_reader"
	s.exec(t, "create role "+role)
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.Background(), "drop owned by "+role+"; drop role "+role)
		require.NoError(t, err)
	})
	s.exec(t, "grant usage on schema {schema} to "+role)
	s.exec(t, "grant select on all tables in schema {schema} to "+role)
	c := s.pool.Config()
	c.ConnConfig.RuntimeParams["role"] = role
	pool, err := pgxpool.NewWithConfig(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	store, err := NewStore(pool, Config{Schema: s.schema, RiverSchema: s.schema})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	require.NoError(t, store.Migrate(t.Context()))
}

func TestJobsMayStandInAnotherSchema(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	river := s.schema + "_river"
	p := &process{}
	var err error
	p.store, err = NewStore(s.pool, Config{Schema: s.schema, RiverSchema: river})
	require.NoError(t, err)
	t.Cleanup(p.store.Close)
	require.NoError(t, p.store.Migrate(t.Context()))
	t.Cleanup(func() {
		_, err := s.pool.Exec(context.Background(), "drop schema "+river+" cascade")
		require.NoError(t, err)
	})
	p.Engine, err = debate.NewEngine(debate.Options{Store: p.store})
	require.NoError(t, err)
	d := p.submit(t, sequentialPanel())
	require.Empty(t, s.jobs(t, d))
	var n int
	require.NoError(t, s.pool.QueryRow(t.Context(), "select count(*) from "+river+".river_job").Scan(&n))
	require.Equal(t, 1, n)
}

func TestMigrateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	p := s.submitter(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.store.Migrate(ctx), context.Canceled)

	s.exec(t, "drop table {jobs} cascade") // River's migration table still lists it
	s.exec(t, "delete from {schema}.river_migration where version > 1")
	require.ErrorContains(t, p.store.Migrate(t.Context()), "migrate River: ")
}
