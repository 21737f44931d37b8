package postgres

import (
	"strings"
	"time"
)

// AskEvery has a store ask more often.
func AskEvery(s *Store, d time.Duration) { s.askEvery = d }

// Mute has a store's commits notify nobody, to measure what notifying costs.
func Mute(s *Store) {
	s.sql.commit = strings.Replace(s.sql.commit, "from sound where $3", "from sound where $3 and false", 1)
}
