// Package recorded reads recorded debates, votes and replies, which lie beside the checkout and are no part of it.
package recorded

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines are the values of a file of recorded data with one in JSON a line, such as "speeches.jsonl"; there is at least
// one. The file stands in shared/data of the test's folder or one above it; without that folder the test is skipped.
func Lines[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder(t), name))
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var v T
		require.NoError(t, json.Unmarshal(line, &v), "%s, line %d", name, len(all)+1)
		all = append(all, v)
	}
	require.NotEmpty(t, all, name)
	return all
}

func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		data := filepath.Join(dir, "shared", "data")
		if found, err := os.Stat(data); err == nil && found.IsDir() {
			return data
		}
	}
	t.Skip("no recorded data: there is no shared/data in or above this folder")
	return ""
}
