// Package sqlite stores debates in a SQLite database: one file, no server, no C compiler.
//
//	s, err := sqlite.Open("debates.db")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	engine, err := debate.NewEngine(debate.Options{Store: s, Providers: providers})
//
// [Open] makes the file where there is none and brings an older one up to date. Any number of goroutines, stores and
// processes of one machine may use a file at once. Beside it stand two more while it is open, named like it with -wal
// and -shm: they belong to it, and a file that is moved or copied without its -wal loses the last commits. Network
// file systems do not lock as SQLite needs it: keep the file on a local disk.
//
// A commit has reached the disk when it returns, so it costs one flush of the disk (fsync), and commits go one after
// the other: a few hundred to a few thousand a second. Readers wait for nobody.
//
// A database in use is backed up with the SQL statement VACUUM INTO 'copy.db', by the sqlite3 tool for example. With
// all stores closed a plain copy of the file does.
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
	_ store.Store   = (*Store)(nil)
	_ store.Watcher = (*Store)(nil)
)

// Store is a [store.Store] and a [store.Watcher] in a database file. Watchers are told at once of what is committed
// through the same Store, and within about 50 milliseconds of what others commit to the file.
type Store struct {
	writer   *sql.DB // one connection: who writes waits for it, rather than for the lock of the file
	readers  *sql.DB
	watchers watchers
}

// Open opens the database in the file at path and makes it where there is none; its folder must be there. It fails
// where the file is no database, is another program's, cannot be written, or has a newer schema than this version of
// the package knows. A database in memory is refused: [store.Memory] is that. Close the store when it is done with.
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
		return nil, errors.New("it would be lost with its connection, use store.Memory")
	case strings.ContainsRune(path, 0):
		return nil, errors.New("the path has a zero byte")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { //nolint:gosec // the path is the caller's to choose
		return nil, err
	}
	s := &Store{watchers: watchers{byDebate: map[string]*subscription{}}}
	if s.writer, err = newPool(path, 1); err != nil {
		return nil, err
	}
	if s.readers, err = newPool(path, maxReaders); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	if err := setUp(context.Background(), s.writer); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the watching and closes the database. What is called afterwards fails, but stop functions of watchers.
func (s *Store) Close() error {
	s.watchers.close()
	return errors.Join(s.writer.Close(), s.readers.Close())
}
