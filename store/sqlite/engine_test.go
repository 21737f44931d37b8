package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

func TestDebatesSurviveTheirProcess(t *testing.T) {
	enginetest.Run(t, func(t testing.TB) storetest.Place {
		path := filepath.Join(t.TempDir(), "debates.db")
		return storetest.Place{
			Open: func(t testing.TB) store.Store { return open(t, path) },
			Damage: &storetest.Damage{
				DropHead: func(t testing.TB, id string) { alter(t, path, `DELETE FROM debates WHERE id = ?`, id) },
				SpoilHead: func(t testing.TB, id string) {
					alter(t, path, `UPDATE debates SET head = '{"id":' WHERE id = ?`, id)
				},
				MoveHead: func(t testing.TB, id string, seq int64) {
					alter(t, path, `UPDATE debates SET head = json_set(head, '$.seq', ?) WHERE id = ?`, seq, id)
				},
				DropEntry: func(t testing.TB, id string, seq int64) {
					alter(t, path, `DELETE FROM entries WHERE debate = ? AND seq = ?`, id, seq)
				},
				SpoilEntry: func(t testing.TB, id string, seq int64) {
					alter(t, path, `UPDATE entries SET data = '{"text":' WHERE debate = ? AND seq = ?`, id, seq)
				},
			},
		}
	})
}
