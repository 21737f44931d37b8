package prompts

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// maxCached is how many sets a process keeps. One takes some hundred kilobytes at most.
const maxCached = 32

// overlays has the sets of the overlays that were loaded last.
var overlays cache

// cache keeps the sets that were used last. It is safe for concurrent use.
type cache struct {
	mu   sync.Mutex
	sets []cached // the one that was used last is the last
}

type cached struct {
	key [sha256.Size]byte
	set *Set
}

// get returns the set of a key, or nil.
func (c *cache) get(key [sha256.Size]byte) *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.index(key)
	if at < 0 {
		return nil
	}
	found := c.sets[at]
	c.sets = append(slices.Delete(c.sets, at, at+1), found)
	return found.set
}

// put adds a set. If the cache is full, the one whose last use is longest ago goes.
func (c *cache) put(key [sha256.Size]byte, s *Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.index(key); at >= 0 { // another goroutine was faster
		return
	}
	if len(c.sets) == maxCached {
		c.sets = slices.Delete(c.sets, 0, 1)
	}
	c.sets = append(c.sets, cached{key, s})
}

func (c *cache) index(key [sha256.Size]byte) int {
	return slices.IndexFunc(c.sets, func(s cached) bool { return s.key == key })
}
