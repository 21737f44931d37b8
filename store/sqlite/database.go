package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

const (
	lockTimeout   = 10 * time.Second // how long to wait for the locks of other processes
	busyTimeoutMS = "100"            // milliseconds of it that SQLite waits at a stretch
	maxReaders    = 8                // connections at most
)

// newPool gives a pool of connections. None is opened yet.
func newPool(path string, most int) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // a volume of Windows
	}
	query := url.Values{
		"_busy_timeout": {busyTimeoutMS},
		"_synchronous":  {"FULL"}, // less may lose the last commits with the power
		"_txlock":       {"immediate"},
		"_error_rc":     {"1"}, // errors in SQLite's own words
	}
	connector, err := driver.NewConnector((&url.URL{Scheme: "file", Path: name, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// writeTx runs do in a transaction of the writing connection, and commits it unless do fails. The context counts until
// the transaction has begun: what follows is short, and either done or not.
func writeTx(ctx context.Context, db *sql.DB, do func(context.Context, *sql.Tx) error) error {
	return retryWhileLocked(ctx, func() error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // gives it back
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

// readTx runs do in a transaction that reads: all of it sees one moment.
func readTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	return retryWhileLocked(ctx, func() error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // nothing was written
		err = do(tx)
		if ended := ctx.Err(); err != nil && ended != nil {
			return ended // SQLite calls it an interrupt
		}
		return err
	})
}

// retryWhileLocked tries again while others lock the file, for as long as there is patience and the context lasts. SQLite waits
// for locks itself, but hears of no context then: so it waits shortly, and often.
func retryWhileLocked(ctx context.Context, try func() error) error {
	for start := time.Now(); ; {
		err := try()
		locked, ok := errors.AsType[*driver.Error](err)
		if !ok || locked.Code()&0xff != codes.SQLITE_BUSY || time.Since(start) > lockTimeout {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond): // some locks SQLite does not wait for
		}
	}
}
