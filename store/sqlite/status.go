package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate/store"
)

// readStatus returns the stored status of a debate, or one with only the ID if the status is missing or unreadable.
func readStatus(ctx context.Context, tx *sql.Tx, id string) (h store.Status, found bool, err error) {
	var text, beat []byte
	err = tx.QueryRowContext(ctx, `SELECT status, `+heartbeatSQL+` FROM debates d WHERE id = ?`, id).Scan(&text, &beat)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Status{ID: id}, false, nil
	case err != nil:
		return h, false, err
	}
	h, err = decodeStatus(id, text)
	if err != nil {
		h = store.Status{ID: id}
	}
	h.Driver = decodeHeartbeat(beat)
	return h, true, nil
}

func decodeStatus(id string, text []byte) (h store.Status, err error) {
	err = json.Unmarshal(text, &h)
	if err == nil && h.ID != id {
		err = fmt.Errorf("it has the id %q", h.ID)
	}
	return h, err
}
