package postgres

import (
	"context"
	"time"
)

// announceInterval sets the time between two transactions that notify. What is committed meanwhile is sent together, so that many
// debates at once need fewer of them than turns.
const announceInterval = 5 * time.Millisecond

// announce tells other stores of the end of a debate's journal, soon after it returns.
func (s *Store) announce(id string, last int64) { s.announcements.add(id, last, s.sendAnnouncements) }

// sendAnnouncements sends until nothing is left. If it fails, the other stores learn of the commits when they poll.
func (s *Store) sendAnnouncements() {
	for ends := s.announcements.take(); len(ends) > 0; ends = s.announcements.take() {
		var payloads []string
		for id, last := range ends {
			payloads = append(payloads, notification(s.origin, last, id))
		}
		ctx, done := context.WithTimeout(context.Background(), queryTimeout)
		if _, err := s.pool.Exec(ctx, s.sql.notify, s.schema, payloads); err != nil {
			s.log.WarnContext(ctx, "cannot notify other stores, which poll instead", "schema", s.schema, "error", err)
		}
		done()
		time.Sleep(announceInterval)
	}
}
