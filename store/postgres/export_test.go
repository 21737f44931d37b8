package postgres

import (
	"strings"
	"time"
)

// SetPollInterval sets how often a store polls.
func SetPollInterval(s *Store, d time.Duration) { s.pollInterval = d }

// DisableNotify turns off the notifications of a store's commits, to measure their cost.
func DisableNotify(s *Store) {
	s.sql.commit = strings.Replace(s.sql.commit, "from accepted where $3", "from accepted where $3 and false", 1)
}
