package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// migrations holds one file per schema version: 0001.sql creates the tables, and each further one would update the schema by one
// version. A released file never changes.
//
//go:embed migrations
var migrations embed.FS

// Migrate creates the schema and its tables, or updates them to this version. Any number of processes may call it at
// once. It needs the right to create only if something is missing. It returns an error if a newer version of this
// package has updated the schema.
func (s *Store) Migrate(ctx context.Context) error {
	err := pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.lock, s.lockKey("")); err != nil {
			return err
		}
		return s.migrate(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("migrate schema %q: %w", s.schema, err)
	}
	return nil
}

func (s *Store) migrate(ctx context.Context, tx pgx.Tx) error {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return err
	}
	version, err := s.schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("schema version is %d, but this program supports only versions up to %d; use a newer program", version, len(files))
	}
	for n := version + 1; n <= len(files); n++ {
		if err := s.applyMigration(ctx, tx, n); err != nil {
			return fmt.Errorf("version %d: %w", n, err)
		}
	}
	return nil
}

// schemaVersion returns the number of the newest migration that was applied. It creates the schema if it is missing.
func (s *Store) schemaVersion(ctx context.Context, tx pgx.Tx) (n int, err error) {
	var schema, table bool
	err = tx.QueryRow(ctx, `select
		exists (select from pg_namespace where nspname = $1),
		exists (select from pg_tables where schemaname = $1 and tablename = 'migrations')`, s.schema).Scan(&schema, &table)
	switch {
	case err != nil:
	case table:
		err = tx.QueryRow(ctx, "select coalesce(max(version), 0) from "+quoteName(s.schema)+".migrations").Scan(&n)
	case !schema:
		_, err = tx.Exec(ctx, "create schema "+quoteName(s.schema))
	}
	return n, err
}

// applyMigration runs migration n with the schema as the only one in the search_path.
func (s *Store) applyMigration(ctx context.Context, tx pgx.Tx, n int) error {
	sql, err := migrations.ReadFile(fmt.Sprintf("migrations/%04d.sql", n))
	if err == nil {
		_, err = tx.Exec(ctx, "select set_config('search_path', $1, true)", quoteName(s.schema))
	}
	if err == nil {
		_, err = tx.Exec(ctx, string(sql))
	}
	if err == nil {
		_, err = tx.Exec(ctx, "insert into migrations (version) values ($1)", n)
	}
	return err
}
