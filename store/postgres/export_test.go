package postgres

import "time"

// SetPollInterval sets how often a store polls.
func SetPollInterval(s *Store, d time.Duration) { s.pollInterval = d }

// DisableNotify turns off the notifications of a store's commits, to measure their cost.
func DisableNotify(s *Store) { s.announcements.sending = true }
