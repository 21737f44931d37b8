package prompts

import (
	"crypto/sha256"
	"slices"
	"sync"
)

// maxCached is the maximum number of sets that a process keeps. A set takes a few hundred kilobytes at most.
const maxCached = 32

// overlays caches the sets of the most recently used overlays.
var overlays cache

// cache keeps the most recently used sets. It is safe for concurrent use.
type cache struct {
	mu   sync.Mutex
	sets []cached // least recently used first
}

// cached is a set with its key.
type cached struct {
	key [sha256.Size]byte
	set *Set
}

// get returns the set with the given key, or nil if there is none.
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

// put adds a set. If the cache is full, put removes the least recently used set.
func (c *cache) put(key [sha256.Size]byte, s *Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.index(key); at >= 0 { // another goroutine has added it
		return
	}
	if len(c.sets) == maxCached {
		c.sets = slices.Delete(c.sets, 0, 1)
	}
	c.sets = append(c.sets, cached{key, s})
}

// index returns the index of the set with the given key, or -1.
func (c *cache) index(key [sha256.Size]byte) int {
	return slices.IndexFunc(c.sets, func(s cached) bool { return s.key == key })
}
