package postgres

import (
	"strings"
	"time"
)

// SetPollInterval has a store ask more often.
func SetPollInterval(s *Store, d time.Duration) { s.pollInterval = d }

// DisableNotify has a store's commits notify nobody, to measure what notifying costs.
func DisableNotify(s *Store) {
	s.sql.commit = strings.Replace(s.sql.commit, "from accepted where $3", "from accepted where $3 and false", 1)
}
