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

// migrations holds one file per schema version: the first one creates version 1 in an empty file, and each further one would
// update the schema by one version. A released file never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

const applicationID = 1684173939 // application ID that the first migration writes

// setUp prepares the database for use.
func setUp(ctx context.Context, db *sql.DB) error {
	var mode string
	err := retryWhileLocked(ctx, func() error { return db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("journal mode is %s, want wal; the file may be on a network file system", mode)
	}
	if err != nil {
		return err
	}
	if err := migrate(ctx, db, migrations); err != nil {
		return err
	}
	return writeTx(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM debates WHERE FALSE`) // fails if the file is not writable
		return err
	})
}

// checkSchema returns an error if a database that cannot be written does not have the newest schema.
func checkSchema(ctx context.Context, db *sql.DB) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	return readTx(ctx, db, func(tx *sql.Tx) error {
		version, err := schemaVersion(ctx, tx, len(names))
		if err == nil && version < len(names) {
			err = fmt.Errorf("schema version is %d, want %d; open a copy that is writable", version, len(names))
		}
		return err
	})
}

// migrate updates the schema to the newest version. Each step is a transaction that reads the schema version again,
// because another process may migrate at the same time.
func migrate(ctx context.Context, db *sql.DB, files fs.FS) error {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return err
	}
	for done := false; err == nil && !done; {
		err = writeTx(ctx, db, func(ctx context.Context, tx *sql.Tx) error {
			version, err := schemaVersion(ctx, tx, len(names))
			done = version == len(names)
			if err != nil || done {
				return err
			}
			return applyMigration(ctx, tx, files, names[version], version+1)
		})
	}
	return err
}

// schemaVersion returns the schema version, or 0 for an empty file. It returns an error if the database is not a store
// of debates or has a newer version.
func schemaVersion(ctx context.Context, tx *sql.Tx, newest int) (version int, err error) {
	var program, tables int
	err = tx.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &program, &tables)
	switch {
	case err != nil:
		return 0, err
	case program != applicationID && (version != 0 || program != 0 || tables != 0):
		return 0, errors.New("the file is a database of another program")
	case version > newest:
		return 0, fmt.Errorf("schema version is %d, but this version of the package supports only versions up to %d", version, newest)
	}
	return version, nil
}

// applyMigration runs the migration file that leads to the version to.
func applyMigration(ctx context.Context, tx *sql.Tx, files fs.FS, name string, to int) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("migrations/%04d_", to); !strings.HasPrefix(name, want) {
		return fmt.Errorf("migrate to version %d: %s is not named %s", to, name, want)
	}
	//nolint:gosec // the SQL is part of the package, and a pragma takes no parameters
	_, err = tx.ExecContext(ctx, fmt.Sprintf("%s\n;PRAGMA user_version = %d", text, to))
	if err != nil {
		return fmt.Errorf("migrate to version %d: %w", to, err)
	}
	return nil
}
