package sqlite

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/crashtest"
	"github.com/elenchus-go/debate/store"
)

// A debate whose commit fails because the disk is full returns the error. When there is space again it continues. The
// test gives the file one more page after each error.
func TestADebateContinuesAfterTheDiskWasFull(t *testing.T) {
	for kind := range 8 { // half of them with people
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			s := opened(t, file(t))
			pages := number(t, s, `PRAGMA page_count`)
			limit := func() {
				_, err := s.writer.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
				require.NoError(t, err)
				pages++
			}
			limit()
			n := crashtest.RunThroughFailures(t, s, fmt.Sprintf("%d-80000000000000%c8", kind, "0c"[kind%2]), func(err error) {
				require.ErrorContains(t, err, "database or disk is full")
				require.ErrorIs(t, err, store.ErrUnavailable)
				limit()
			})
			require.Greater(t, n, 2)
			require.Equal(t, 1, number(t, s, `SELECT integrity_check = 'ok' FROM pragma_integrity_check`))
		})
	}
}
