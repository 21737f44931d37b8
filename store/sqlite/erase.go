package sqlite

import (
	"context"
	"fmt"
	"strings"
)

// erase removes from the disk what earlier transactions have deleted. SQLite overwrites it with zeros, but in new pages of
// the -wal file, whose older pages keep it. So erase copies all pages to the database and truncates the -wal file. SQLite
// does so only if nobody reads from an older page.
func (s *Store) erase(ctx context.Context) error {
	err := retryWhileLocked(ctx, func() error {
		var busy bool
		var pages, copied int // unused
		err := s.writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied)
		if err == nil && busy {
			return errInUse
		}
		return err
	})
	if err == nil {
		return nil
	}
	user := "another reader or writer"
	if pids := lockHolders(s.path + "-shm"); len(pids) > 0 {
		user = "process " + strings.Join(pids, ", process ")
	}
	return fmt.Errorf("%s-wal still has texts of deleted debates until the next deletion, because %s uses the database: %w", s.path, user, err)
}
