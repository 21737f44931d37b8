//go:build !unix

package debate_test

import "testing"

// cpuTime returns 0: only on Unix is the CPU time measured.
func cpuTime(*testing.B) int64 { return 0 }
