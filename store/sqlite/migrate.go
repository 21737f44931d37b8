package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Each file takes the schema one version up, the first from an empty file to version 1. They never change once released.
//
//go:embed migrations/*.sql
var migrations embed.FS

const applicationID = 1684173939 // the application id, which the first migration writes

// setUp makes the database ready for use.
func setUp(ctx context.Context, db *sql.DB) error {
	var mode string
	err := retryWhileLocked(ctx, func() error { return db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the journal mode is %s, want wal: is it on a network file system?", mode)
	}
	if err != nil {
		return err
	}
	if err := migrate(ctx, db, migrations); err != nil {
		return err
	}
	return writeTx(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM debates WHERE FALSE`) // fails where nothing can be written
		return err
	})
}

// migrate brings the schema up to the newest version. Each step is a transaction of its own, which looks again where
// the schema stands: another process may do the same.
func migrate(ctx context.Context, db *sql.DB, files fs.FS) error {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return err
	}
	for done := false; err == nil && !done; {
		err = writeTx(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
			version, err := schemaVersion(ctx, tx, len(names))
			if done = version == len(names); err != nil || done {
				return err
			}
			return applyMigration(ctx, tx, files, names[version], version+1)
		})
	}
	return err
}

// schemaVersion is the version of the schemaVersion, 0 for an empty file. One that is no store or too new is refused.
func schemaVersion(ctx context.Context, tx *sql.Tx, newest int) (version int, err error) {
	var program, tables int
	err = tx.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &program, &tables)
	switch {
	case err != nil:
		return 0, err
	case program != applicationID && (version != 0 || program != 0 || tables != 0):
		return 0, errors.New("it is a database, but not of debates")
	case version > newest:
		return 0, fmt.Errorf("its schema has version %d, this version of the package knows versions up to %d", version, newest)
	}
	return version, nil
}

func applyMigration(ctx context.Context, tx *sql.Tx, files fs.FS, name string, to int) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("migrations/%04d_", to); !strings.HasPrefix(name, want) {
		return fmt.Errorf("migrate to version %d: %s is not named %s", to, name, want)
	}
	//nolint:gosec // the text is the package's own, and a pragma takes no parameters
	if _, err = tx.ExecContext(ctx, fmt.Sprintf("%s\n;PRAGMA user_version = %d", text, to)); err != nil {
		return fmt.Errorf("migrate to version %d: %w", to, err)
	}
	return nil
}
