package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/scaletest"
	"github.com/elenchus-go/debate/store/sqlite"
)

// BenchmarkScale measures a database that holds many debates. make proofs ONLY=scale makes it large.
func BenchmarkScale(b *testing.B) {
	path := filepath.Join(b.TempDir(), "debates.db")
	s, err := sqlite.Open(path)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	scaletest.Bench(b, s, func() (size int64) {
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(path + suffix); err == nil {
				size += info.Size()
			}
		}
		return size
	})
}
