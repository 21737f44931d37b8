//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// An archived database can be listed, shown and exported by a user who may not write it.
func TestAnArchiveIsReadOnly(t *testing.T) {
	folder(t)
	_, _, stderr := start(t, environment(), "--store", "d.db", "--protocol", "vote", topic)
	id := saved(t, stderr)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Dir(here), 0o755)) //nolint:gosec // others may look into it
	require.NoError(t, os.Chmod("d.db", 0o444))             //nolint:gosec // others may read it
	require.NoError(t, os.Chmod(".", 0o555))                //nolint:gosec // others may look into it
	t.Cleanup(func() { _ = os.Chmod(here, 0o700) })         //nolint:gosec // so that it can be removed
	path, err := binary()
	require.NoError(t, err)
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	shared := filepath.Join(t.TempDir(), "debate")           // others cannot look into the build cache
	require.NoError(t, os.WriteFile(shared, program, 0o755)) //nolint:gosec // others may run it
	as := func(args ...string) (string, error) {
		cmd := binaryCommand(t, environment(), args...)
		cmd.Path = shared
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		b, err := cmd.CombinedOutput()
		return string(b), err
	}
	for _, args := range [][]string{{"list"}, {"show", id}, {"export", id}} {
		said, err := as(append(args, "--store", "d.db")...)
		require.NoError(t, err, said)
		require.Contains(t, said, "private cars")
	}
	said, err := as("delete", id, "--yes", "--store", "d.db")
	require.Error(t, err, said)
	require.Contains(t, said, "attempt to write a readonly database")
}

// A server says that its database was removed, to clients and to its operator.
func TestADatabaseThatIsRemovedWhileItIsServed(t *testing.T) {
	folder(t)
	var log output
	base := servingTo(t, &log, environment(), "serving", "serve", "--http", "127.0.0.1:0", "--store", "d.db", "--insecure")
	require.NoError(t, os.Rename("d.db", "away.db"))
	status, text := send(t, http.DefaultClient, http.MethodPost, base+"debates",
		`{"topic": "Ban cars?", "participants": [{"name": "Ada"}, {"name": "Bo"}], "judges": [{"name": "Jo"}]}`)
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	require.NotContains(t, text, "d.db")
	said := log.String()
	require.Contains(t, said, "was removed or replaced while it was open")
	require.Equal(t, 1, strings.Count(said, "level=ERROR"), said)
	require.NoError(t, os.Rename("away.db", "d.db"))
}
