// Package sqlite stores debates in a SQLite database: one file, no server, no C compiler.
//
//	s, err := sqlite.Open("debates.db")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	engine, err := debate.NewEngine(debate.Options{Store: s, Providers: providers})
//
// [Open] creates the file if it does not exist and updates an older schema. Any number of goroutines, stores and
// processes on one machine may use a file at once. While the file is open, SQLite keeps two more files next to it, with
// the same name plus -wal and -shm. They belong to the database: if you move or copy the file without its -wal file,
// you lose the last commits. Keep the file on a local disk, because network file systems do not provide the locks that
// SQLite needs.
//
// A commit has reached the disk when it returns. It costs one flush of the disk (fsync), and commits run one after
// another: a few hundred to a few thousand per second. Readers never wait.
//
// When Delete returns, the texts of the debate are neither in the file nor in the -wal file. If a reader or writer prevents
// this for 10 seconds, or until the context ends, Delete returns an error that names its process where it can. The debate
// is deleted then, but the -wal file holds its texts until the next Delete succeeds or the last store closes. Copies and
// backups of the file keep them. A file in which a version of this package before this rule has deleted or changed debates
// can still hold texts; run the SQL statement VACUUM once to remove them.
//
// To back up a database in use, run the SQL statement VACUUM INTO 'copy.db', for example with the sqlite3 tool. If all
// stores are closed, you can copy the file instead.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/elenchus-go/debate/store"
)

var (
	_ store.Store      = (*Store)(nil)
	_ store.Watcher    = (*Store)(nil)
	_ store.Heartbeats = (*Store)(nil)
)

// Store is a [store.Store] in a database file. It is a [store.Watcher] and keeps [store.Heartbeats]. Watchers learn of
// commits through the same Store at once, and of other commits to the file within about 50 milliseconds.
type Store struct {
	path     string
	writer   *sql.DB // one connection, so that writers wait for it instead of for the lock of the file
	readers  *sql.DB
	watchers watchers

	statements statements // on writer
}

// Open opens the database file at path and creates it if it does not exist. Its folder must exist. Open fails if the
// file is not a database, belongs to another program, is not writable, or has a newer schema than this version of the
// package knows. It also refuses a database in memory; use [store.Memory] for that. Close the store when you no longer
// need it.
func Open(path string) (*Store, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}

func open(path string) (*Store, error) {
	switch {
	case path == "":
		return nil, errors.New("the path is empty")
	case path == ":memory:":
		return nil, errors.New("a database in memory is lost with its connection; use store.Memory")
	case strings.ContainsRune(path, 0):
		return nil, errors.New("the path has a zero byte")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { //nolint:gosec // the caller chooses the path
		return nil, err
	}
	s := &Store{path: path, watchers: watchers{byDebate: map[string]*subscription{}}}
	if s.writer, err = newPool(path, 1); err != nil {
		return nil, err
	}
	if s.readers, err = newPool(path, maxReaders); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	if err = setUp(context.Background(), s.writer); err == nil {
		s.statements, err = prepare(context.Background(), s.writer)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close stops all watches and closes the database. Do not use the store afterwards, except to call the stop functions of
// watches.
func (s *Store) Close() error {
	s.watchers.close()
	return errors.Join(s.writer.Close(), s.readers.Close())
}
