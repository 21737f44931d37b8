package sqlite_test

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutRoot calls f without the rights of root. For root, it does so on a thread that may access files only as another user.
func withoutRoot(t *testing.T, f func()) {
	if syscall.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
	require.False(t, t.Failed())
}
