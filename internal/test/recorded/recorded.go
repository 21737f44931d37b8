// Package recorded reads recorded debates, votes and replies. They are stored outside the checkout.
package recorded

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Lines returns the JSON values in a file of recorded data, such as "speeches.jsonl", which has one value per line and
// at least one line. The file is in shared/data in the test's folder or a folder above it. Without shared/data the test
// is skipped.
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
	t.Skip("no recorded data: no shared/data in this folder or above")
	return ""
}
