package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/elenchus-go/debate/store"
)

const (
	lockTimeout   = 10 * time.Second // longest wait for the locks of other processes
	busyTimeoutMS = "100"            // milliseconds that SQLite waits at a time; see retryWhileLocked
	maxReaders    = 8                // largest number of connections
)

// Ways to open a file, as parameters of its URI.
var (
	writable  = url.Values{}
	readOnly  = url.Values{"mode": {"ro"}}
	immutable = url.Values{"mode": {"ro"}, "immutable": {"1"}} // without the files -wal and -shm
)

// synchronous sets what a commit waits for. Lower settings than FULL may lose the last commits on a power failure.
var synchronous = "FULL"

// newPool returns a pool of connections. It opens none of them yet.
func newPool(path string, most int, way url.Values) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // Windows paths start with a volume
	}
	query := url.Values{
		"_busy_timeout": {busyTimeoutMS},
		"_synchronous":  {synchronous},
		"_txlock":       {"immediate"},
		"_error_rc":     {"1"},                // report errors in the words of SQLite
		"_pragma":       {"secure_delete(1)"}, // overwrite what is deleted or replaced with zeros; see erase
	}
	maps.Copy(query, way)
	connector, err := driver.NewConnector((&url.URL{Scheme: "file", Path: name, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// writeTx runs do in a transaction of the writing connection, and commits it unless do fails. It ignores the end of ctx
// after the transaction has begun: the rest is short, and so either happens completely or not at all.
func writeTx(ctx context.Context, db *sql.DB, do func(context.Context, *sql.Tx) error) error {
	return retryWhileLocked(ctx, func() error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // returns it to the pool
		ctx := context.WithoutCancel(ctx)
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // does nothing after the commit
		if err := do(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// readTx runs do in a read-only transaction, which sees one consistent snapshot.
func readTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	return retryWhileLocked(ctx, func() error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // nothing was written
		err = do(tx)
		if ended := ctx.Err(); err != nil && ended != nil {
			return ended // SQLite reports an interrupt instead
		}
		return err
	})
}

// retryWhileLocked calls try again while another process locks the file, until lockTimeout has passed or ctx ends.
// SQLite can wait for locks itself, but ignores the context while it waits. So each of its waits is short.
func retryWhileLocked(ctx context.Context, try func() error) error {
	for start := time.Now(); ; {
		err := try()
		if !isLocked(err) || time.Since(start) > lockTimeout {
			return unavailable(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond): // SQLite returns at once for some locks
		}
	}
}

// errInUse is returned if a reader or writer of the file prevents a checkpoint.
var errInUse = errors.New("the file is in use")

// isLocked reports whether err says that another user of the file locks it.
func isLocked(err error) bool {
	locked, ok := errors.AsType[*driver.Error](err)
	return ok && locked.Code()&0xff == codes.SQLITE_BUSY || errors.Is(err, errInUse)
}

// unavailable adds store.ErrUnavailable to errors whose cause may pass: locks of other processes, and failures of the disk.
func unavailable(err error) error {
	failed, ok := errors.AsType[*driver.Error](err)
	if !ok || !slices.Contains([]int{codes.SQLITE_BUSY, codes.SQLITE_IOERR, codes.SQLITE_FULL, codes.SQLITE_CANTOPEN}, failed.Code()&0xff) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}
