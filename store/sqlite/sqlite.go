// Package sqlite stores debates in a SQLite database: one file, no server, no C compiler.
//
//	s, err := sqlite.Open("debates.db")
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	engine, err := debate.NewEngine(debate.Options{Store: s, Providers: providers})
//
// [Open] creates the file if it does not exist. Any number of goroutines, stores and
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
// backups of the file keep them.
//
// To back up a database in use, run the SQL statement VACUUM INTO 'copy.db', for example with the sqlite3 tool. If all
// stores are closed, you can copy the file instead.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

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
	file     os.FileInfo // of path
	writer   *sql.DB     // one connection, so that writers wait for it instead of for the lock of the file
	readers  *sql.DB
	watchers watchers

	statements statements // on writer
}

// Open opens the database file at path and creates it if it does not exist. Its folder must exist. Open fails if the
// file is not a database, belongs to another program, or has a newer schema than this version of the package knows. It also
// refuses a database in memory; use [store.Memory] for that. Close the store when you no longer need it.
//
// If the file or its folder is read-only, debates can be listed and loaded, and changes return an error. Its schema must be
// that of this version of the package. Nobody may write to a file in a read-only folder while it is open.
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
	s, err := openFile(path, writable, setUp)
	if there, statErr := os.Stat(path); statErr != nil || !there.Mode().IsRegular() { //nolint:gosec // the caller chooses the path
		return s, err
	}
	for _, way := range []url.Values{readOnly, immutable} {
		if !isReadOnly(err) {
			break
		}
		s, err = openFile(path, way, checkSchema)
		if err != nil {
			err = fmt.Errorf("the file is read-only: %w", err)
		}
	}
	return s, err
}

// openFile opens the file at path in a way, and prepares or checks it.
func openFile(path string, way url.Values, prepareFile func(context.Context, *sql.DB) error) (*Store, error) {
	s := &Store{path: path, watchers: watchers{byDebate: map[string]*subscription{}}}
	var err error
	s.writer, err = newPool(path, 1, way)
	if err != nil {
		return nil, err
	}
	s.readers, err = newPool(path, maxReaders, way)
	if err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	err = prepareFile(context.Background(), s.writer)
	if err == nil {
		s.statements, err = prepare(context.Background(), s.writer)
	}
	if err == nil {
		s.file, err = os.Stat(path) //nolint:gosec // the caller chooses the path
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// isReadOnly reports whether err says that the file cannot be written, or that the files next to it cannot be created.
func isReadOnly(err error) bool {
	failed, ok := errors.AsType[*driver.Error](err)
	return ok && (failed.Code()&0xff == codes.SQLITE_READONLY || failed.Code()&0xff == codes.SQLITE_CANTOPEN)
}

// inPlace returns an error if the file was removed or replaced. SQLite goes on with the file that it has opened, and everything
// would be lost when it is closed.
func (s *Store) inPlace() error {
	now, err := os.Stat(s.path) //nolint:gosec // the same
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(s.file, now) {
		return fmt.Errorf("%w: %s was removed or replaced while it was open; put it back, or restart the program", store.ErrUnavailable, s.path)
	}
	return nil
}

// Close stops all watches and closes the database. Do not use the store afterwards, except to call the stop functions of
// watches.
func (s *Store) Close() error {
	s.watchers.close()
	return errors.Join(s.writer.Close(), s.readers.Close())
}
