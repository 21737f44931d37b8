package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/store"
)

// columns are the columns of a status that indexes contain.
type columns struct {
	created                         int64
	state, outcome, failure, labels string
}

// writeStatus replaces the status of a debate. text is its JSON. Most commits change no column of an index, and then no
// index is written.
func writeStatus(ctx context.Context, tx *sql.Tx, h store.Status, text string) error {
	var old columns
	err := tx.QueryRowContext(ctx, `SELECT created, state, outcome, failure, labels FROM debates WHERE id = ?`, h.ID).
		Scan(&old.created, &old.state, &old.outcome, &old.failure, &old.labels)
	missing := errors.Is(err, sql.ErrNoRows)
	if err != nil && !missing {
		return err
	}
	labels := encodeLabels(h.Labels)
	is := columns{h.Created.UnixMicro(), string(h.State), string(h.Ending.Outcome), h.FailureKind, strings.Join(labels, "")}
	if is == old && !missing {
		_, err := tx.ExecContext(ctx, `UPDATE debates SET updated = ?, status = ? WHERE id = ?`, h.Updated.UnixMicro(), text, h.ID)
		return err
	}
	_, err = tx.ExecContext(ctx, `REPLACE INTO debates (id, created, updated, state, outcome, failure, labels, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		h.ID, is.created, h.Updated.UnixMicro(), is.state, is.outcome, is.failure, is.labels, text)
	if err != nil || is.labels == old.labels && is.created == old.created && !missing {
		return err
	}
	return writeLabels(ctx, tx, h.ID, is.created, labels)
}

// writeLabels replaces the labels of a debate.
func writeLabels(ctx context.Context, tx *sql.Tx, id string, created int64, labels []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM labels WHERE debate = ?`, id); err != nil {
		return err
	}
	for _, label := range labels {
		if _, err := tx.ExecContext(ctx, `INSERT INTO labels (label, created, debate) VALUES (?, ?, ?)`, label, created, id); err != nil {
			return err
		}
	}
	return nil
}

// encodeLabels returns each label as it is stored, sorted by key.
func encodeLabels(labels map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, encodeLabel(key, labels[key]))
	}
	return list
}

// encodeLabel returns a label as it is stored. Like JSON, it replaces invalid UTF-8.
func encodeLabel(key, value string) string {
	key, value = strings.ToValidUTF8(key, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD")
	return fmt.Sprintf("%d:%s%d:%s", len(key), key, len(value), value)
}

// readStatus returns the stored status of a debate, or one with only the ID if the status is missing or unreadable.
func readStatus(ctx context.Context, tx *sql.Tx, id string) (h store.Status, found bool, err error) {
	var text []byte
	err = tx.QueryRowContext(ctx, `SELECT status FROM debates WHERE id = ?`, id).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Status{ID: id}, false, nil
	case err != nil:
		return h, false, err
	}
	if h, err = decodeStatus(id, text); err != nil {
		h = store.Status{ID: id}
	}
	return h, true, nil
}

func decodeStatus(id string, text []byte) (h store.Status, err error) {
	err = json.Unmarshal(text, &h)
	if err == nil && h.ID != id {
		err = fmt.Errorf("it has the id %q", h.ID)
	}
	return h, err
}
