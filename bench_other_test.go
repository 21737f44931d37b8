//go:build !unix

package debate_test

import "testing"

// cpuTime returns 0: CPU time is measured only on Unix.
func cpuTime(*testing.B) int64 { return 0 }
