package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/scaletest"
)

// BenchmarkScale measures a database that holds many debates. The server flushes each commit to the disk. make proofs ONLY=scale makes the
// database large.
func BenchmarkScale(b *testing.B) {
	base, p := benched(b)
	s := base.openOn(b, p)
	scaletest.Bench(b, s, func() (size int64) {
		require.NoError(b, p.QueryRow(b.Context(), "select pg_database_size(current_database())").Scan(&size))
		return size
	})
}
