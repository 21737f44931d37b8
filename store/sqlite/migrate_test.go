package sqlite

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// current returns the schema version of this package.
func current(t *testing.T) int {
	t.Helper()
	names, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	return len(names)
}

// step returns the name of the migration that follows n further ones after those of this package.
func step(t *testing.T, n int, name string) string {
	t.Helper()
	return fmt.Sprintf("migrations/%04d_%s.sql", current(t)+n, name)
}

// steps returns the migrations of this package and two further ones.
func steps(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{
		step(t, 1, "more"):  {Data: []byte(`CREATE TABLE more (n INTEGER); INSERT INTO more VALUES (1) -- one`)},
		step(t, 2, "yet"):   {Data: []byte(`INSERT INTO more VALUES (2); INSERT INTO more VALUES (3);`)},
		"migrations/README": {Data: []byte(`no migration`)},
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		require.NoError(t, err)
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

func file(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "debates.db")
}

func number(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	require.NoError(t, s.readers.QueryRowContext(t.Context(), query).Scan(&n))
	return n
}

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func creation(id string) store.Change {
	return store.Change{ID: id, Entries: []store.Entry{{Seq: 1, Type: "config"}}, Status: store.Status{ID: id, Seq: 1}}
}

func TestConnectionsAreSetUp(t *testing.T) {
	inTests := synchronous
	synchronous = durable
	t.Cleanup(func() { synchronous = inTests })
	s := opened(t, file(t))
	require.Equal(t, current(t), number(t, s, `PRAGMA user_version`))
	require.Equal(t, applicationID, number(t, s, `PRAGMA application_id`))
	for _, db := range []rowQuerier{s.writer, s.readers} {
		var mode string
		require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&mode))
		require.Equal(t, "wal", mode)
		var level int
		require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&level))
		require.Equal(t, 2, level, "FULL")
	}
}

func TestAnOlderSchemaIsBroughtUpToDate(t *testing.T) {
	s := opened(t, file(t))
	require.NoError(t, s.Commit(t.Context(), creation("d")))
	require.NoError(t, migrate(t.Context(), s.writer, steps(t)))
	require.Equal(t, current(t)+2, number(t, s, `PRAGMA user_version`))
	require.Equal(t, 6, number(t, s, `SELECT sum(n) FROM more`))
	_, entries, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	require.Len(t, entries, 1)

	require.NoError(t, migrate(t.Context(), s.writer, steps(t)), "a second run does nothing")
	require.Equal(t, 6, number(t, s, `SELECT sum(n) FROM more`))
	require.EqualError(t, migrate(t.Context(), s.writer, migrations),
		fmt.Sprintf("schema version is %d, but this version of the package supports only versions up to %d", current(t)+2, current(t)))
}

func TestAStepThatFailsIsUndoneAndDoneLater(t *testing.T) {
	s := opened(t, file(t))
	broken := steps(t)
	broken[step(t, 2, "yet")] = &fstest.MapFile{Data: []byte(`INSERT INTO more VALUES (2); INSERT INTO less VALUES (3);`)}
	err := migrate(t.Context(), s.writer, broken)
	require.EqualError(t, err, fmt.Sprintf("migrate to version %d: SQL logic error: no such table: less (1)", current(t)+2))
	require.Equal(t, current(t)+1, number(t, s, `PRAGMA user_version`), "the step before is kept")
	require.Equal(t, 1, number(t, s, `SELECT sum(n) FROM more`))

	require.NoError(t, migrate(t.Context(), s.writer, steps(t)))
	require.Equal(t, 6, number(t, s, `SELECT sum(n) FROM more`))
}

func TestStepsAreNumberedInOrder(t *testing.T) {
	s := opened(t, file(t))
	gap := steps(t)
	delete(gap, step(t, 1, "more"))
	err := migrate(t.Context(), s.writer, gap)
	require.EqualError(t, err, fmt.Sprintf("migrate to version %d: %s is not named migrations/%04d_", current(t)+1, step(t, 2, "yet"), current(t)+1))
	require.Equal(t, current(t), number(t, s, `PRAGMA user_version`))
}

func TestManyStoresMigrateAtOnce(t *testing.T) {
	path, files := file(t), steps(t)
	stores := make([]*Store, 8)
	for i := range stores {
		stores[i] = opened(t, path)
	}
	errs := make([]error, len(stores))
	var done sync.WaitGroup
	for i, s := range stores {
		done.Go(func() { errs[i] = migrate(context.Background(), s.writer, files) })
	}
	done.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 6, number(t, stores[0], `SELECT sum(n) FROM more`))
}

// inAProcess is the environment variable with the file that a child process of the test below opens.
const inAProcess = "DEBATE_SQLITE_FILE"

func TestManyProcessesMakeTheFileAtOnce(t *testing.T) {
	if path := os.Getenv(inAProcess); path != "" {
		s := opened(t, path)
		require.NoError(t, s.Commit(t.Context(), creation("d"+os.Getenv(inAProcess+"_ID"))))
		return
	}
	const rounds, processes = 3, 6
	for range rounds {
		path := file(t)
		var done sync.WaitGroup
		for i := range processes {
			done.Go(func() {
				cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManyProcessesMakeTheFileAtOnce$", "-test.timeout=60s")
				cmd.Env = append(os.Environ(), inAProcess+"="+path, inAProcess+"_ID="+string(rune('0'+i)))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("process %d: %v\n%s", i, err, out)
				}
			})
		}
		for i := range processes { // open as many stores in this process
			done.Go(func() {
				s, err := Open(path)
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Errorf("store %d: %v", i, err)
				}
			})
		}
		done.Wait()
		require.Equal(t, processes, number(t, opened(t, path), `SELECT count(*) FROM debates`))
	}
}

func TestACommitWaitsForOtherWritersAsLongAsItsContext(t *testing.T) {
	path := file(t)
	s, other := opened(t, path), opened(t, path)
	lock, err := other.writer.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make(chan error)
	go func() { errs <- s.Commit(ctx, creation("d")) }()
	go func() { errs <- s.Commit(ctx, creation("d")) }()
	for stats := s.writer.Stats(); stats.InUse == 0 || stats.WaitCount == 0; stats = s.writer.Stats() {
		runtime.Gosched() // until one goroutine waits for the file, and one for the connection
	}
	cancel()
	for range 2 {
		err := <-errs
		require.ErrorIs(t, err, context.Canceled)
		require.EqualError(t, err, "commit to debate d: context canceled")
	}

	go func() { errs <- s.Commit(context.Background(), creation("d")) }()
	for s.writer.Stats().InUse == 0 {
		runtime.Gosched()
	}
	require.NoError(t, lock.Rollback())
	require.NoError(t, <-errs)
	require.Equal(t, 1, number(t, s, `SELECT count(*) FROM entries`), "the other commits left nothing")
}
