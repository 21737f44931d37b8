//go:build unix

package debatetest

import (
	"syscall"
	"testing"
)

// CPUTime returns the CPU time of this process in nanoseconds.
func CPUTime(t testing.TB) int64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
