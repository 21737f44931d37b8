//go:build !linux

package sqlite_test

import (
	"os"
	"testing"
)

// withoutRoot calls f, if the user is not root.
func withoutRoot(t *testing.T, f func()) {
	if os.Geteuid() == 0 {
		t.Skip("root can write every file")
	}
	f()
}
