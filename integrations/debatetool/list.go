package debatetool

import (
	"context"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/store"
)

// maxScanned limits the debates among which List looks for a text.
const maxScanned = 2_000

// List describes at most limit debates of the toolset, newest first: topic, status, rounds, outcome and tokens. If text
// is not empty, it describes those whose id begins with it, or whose topic contains it in any case, among the newest
// 2,000 debates.
func (s *Toolset) List(ctx context.Context, text string, limit int) ([]Output, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	q := store.Query{Labels: s.labels, Limit: limit}
	if text != "" {
		q.Limit = maxScanned
	}
	list := []Output{}
	for status, err := range s.engine.List(ctx, q) {
		if err != nil && status.ID == "" {
			return nil, explain("", fmt.Errorf("list debates: %w", err))
		}
		matches := strings.HasPrefix(strings.ToLower(status.ID), text) || strings.Contains(strings.ToLower(status.Topic), text)
		if err != nil || !matches { // one that cannot be read is left out
			continue
		}
		if len(list) == limit {
			break
		}
		list = append(list, Output{
			ID: status.ID, Topic: status.Topic, Status: statusOf(status.State, len(status.Waiting) > 0), Round: status.Cursor.Round, Rounds: status.MaxRounds,
			Outcome: outcome(status.Ending), Tokens: status.Usage.Input + status.Usage.Output, Cost: status.Usage.Cost, Created: status.Created,
		})
	}
	return list, nil
}
