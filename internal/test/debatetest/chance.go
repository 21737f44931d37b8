package debatetest

import (
	"fmt"
	"hash/fnv"
)

// Chance returns a number from 0 to 1 that depends on the words. Simulated models draw with it, so that they reply alike in
// whatever order they are asked.
func Chance(words ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, words...)
	x := h.Sum64() // FNV mixes the last bytes badly
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
