//go:build unix

package debate_test

import (
	"syscall"
	"testing"
)

// cpuTime returns the CPU time of this process in nanoseconds.
func cpuTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
