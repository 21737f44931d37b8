package enginetest

import (
	"crypto/sha256"
	"fmt"
	"os"
)

// Tries reports whether a test tries the nth of the cases with a name, counted from 0: the first, and one of every four, or all if
// the environment variable DEBATE_ALL_CASES is set; see make cases. Which one of four it is depends on the name and differs from one
// four to the next, because every fourth case may be of the same kind.
func Tries(name string, n int) bool {
	sum := sha256.Sum256(fmt.Append(nil, name, " ", n/4))
	return n == 0 || n%4 == int(sum[0]%4) || os.Getenv("DEBATE_ALL_CASES") != ""
}
