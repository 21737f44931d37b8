package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

// An archived database, which nobody may write, can be listed and loaded. A change is refused, and changes nothing.
func TestAReadOnlyDatabase(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no such mode")
	}
	for name, mode := range map[string]os.FileMode{"a file in a folder of others": 0o555, "a file in a folder of everyone": 0o777} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755)) //nolint:gosec // others may look into it
			path := filepath.Join(folder, "debates.db")
			s := open(t, path)
			commit(t, s, change("a", 0, ""))
			commit(t, s, change("b", 0, "", ""))
			require.NoError(t, s.Close())
			require.NoError(t, os.Chmod(path, 0o444))
			require.NoError(t, os.Chmod(folder, mode))
			t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) //nolint:gosec // so that it can be removed
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			withoutRoot(t, func() {
				s, err := sqlite.Open(path)
				if !assert.NoError(t, err) {
					return
				}
				defer s.Close()
				var ids []string
				for status, err := range s.List(t.Context(), store.Query{}) {
					assert.NoError(t, err)
					ids = append(ids, status.ID)
				}
				assert.Equal(t, []string{"b", "a"}, ids)
				counts, err := s.Count(t.Context(), store.Query{})
				assert.NoError(t, err)
				assert.Len(t, counts, 1)
				status, entries, err := s.Load(t.Context(), "b", 0)
				assert.NoError(t, err)
				assert.Equal(t, int64(2), status.Seq)
				assert.Len(t, entries, 2)
				s.Watch("b", func(int64) {})()
				assert.ErrorContains(t, s.Commit(t.Context(), change("c", 0, "")), "attempt to write a readonly database")
				assert.Error(t, s.Delete(t.Context(), "a", 0))
			})
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// A file that is not there cannot be created in a read-only folder, and a file without the tables cannot get them.
func TestAReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders have no such mode")
	}
	folder := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755)) //nolint:gosec // others may look into it
	old := filepath.Join(folder, "old.db")
	require.NoError(t, open(t, old).Close())
	alter(t, old, `PRAGMA user_version = 0`)
	require.NoError(t, os.Chmod(folder, 0o555))       //nolint:gosec // others may look into it
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) }) //nolint:gosec // so that it can be removed
	withoutRoot(t, func() {
		_, err := sqlite.Open(filepath.Join(folder, "fresh.db"))
		assert.ErrorContains(t, err, "unable to open database file")
		_, err = sqlite.Open(old)
		assert.ErrorContains(t, err, "the file is read-only: schema version is 0, want 1; open a copy that is writable")
	})
}

// SQLite would go on with a file that was removed or replaced, and everything since would be lost at the end.
func TestAFileThatIsRemovedWhileItIsOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	commit(t, s, change("a", 0, ""))
	require.NoError(t, os.Rename(path, path+".old"))
	err := s.Commit(t.Context(), change("b", 0, ""))
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, path+" was removed or replaced while it was open")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.ErrorIs(t, s.Commit(t.Context(), change("b", 0, "")), store.ErrUnavailable, "it is another file")
	require.NoError(t, os.Rename(path+".old", path))
	commit(t, s, change("b", 0, ""))
	require.Equal(t, []string{"b", "a"}, list(t, s, store.Query{}))
}
