//go:build !unix

package debatetest

import "testing"

// CPUTime returns 0: only on Unix is the CPU time measured.
func CPUTime(testing.TB) int64 { return 0 }
