package enginetest

import "os"

// Tries reports whether a test tries its nth case, counted from 0. A test with very many cases tries the first and then one
// in every, or all of them if the environment variable DEBATE_ALL_CASES is set; see make cases.
func Tries[N int | int64](n, every N) bool {
	return n%every == 0 || os.Getenv("DEBATE_ALL_CASES") != ""
}
