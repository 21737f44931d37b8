package enginetest

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"testing"
)

// A Sample decides which cases of an exploration a test tries: the first case of each kind, and one in each further group of cases.
// Which one of a group it is depends on the seed, so that all cases are tried over time. The environment variable DEBATE_SEED is the
// seed; make sets it to the commit's hash. With DEBATE_ALL_CASES, a test tries all cases. DEBATE_SPARSE makes groups larger by a
// factor: make race sets it, because the race detector needs each kind of case, but not as many of each.
type Sample struct {
	test  string
	group int
	seed  string
	seen  map[string]int // the number of cases so far, by kind
}

// NewSample returns the sample of a test with groups of the given size. The log of a test that fails has the seed.
func NewSample(t testing.TB, group int) *Sample {
	t.Helper()
	s := &Sample{test: t.Name(), group: group * sparse(t), seed: os.Getenv("DEBATE_SEED"), seen: map[string]int{}}
	t.Logf("to try the same cases again, set DEBATE_SEED=%s", s.seed)
	return s
}

// sparse returns the factor of DEBATE_SPARSE, by default 1.
func sparse(t testing.TB) int {
	text := os.Getenv("DEBATE_SPARSE")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("DEBATE_SPARSE is %q, want a number from 1", text)
	}
	return n
}

// Tries reports whether the test tries the next case of a kind. Cases are of one kind if the code treats them alike.
func (s *Sample) Tries(kind string) bool {
	n := s.seen[kind]
	s.seen[kind]++
	if n == 0 || os.Getenv("DEBATE_ALL_CASES") != "" {
		return true
	}
	group := (n - 1) / s.group
	h := fnv.New32a()
	fmt.Fprint(h, s.seed, "/", s.test, "/", kind, "/", group)
	return (n-1)%s.group == int(h.Sum32()%uint32(s.group))
}
