package inspector

import (
	"sync"
	"time"
)

// A cache keeps the newest pages of debates, so that the visitors who follow one debate share them.
type cache struct {
	mu    sync.Mutex
	pages map[pageKey]*cached
	order []pageKey // the oldest first
}

// maxCached limits the pages of a cache.
const maxCached = 64

// A pageKey tells everything that the page with the latest turns of a debate depends on.
type pageKey struct {
	id      string
	created time.Time // another debate may have the same id later
	seq     int64
	seat    string
}

// cached is a page that was made, or that its first visitor is making.
type cached struct {
	mu   sync.Mutex
	body []byte
}

// get returns a page, and makes it if the cache does not have it. If that fails, the next visitor tries again.
func (c *cache) get(key pageKey, render func() ([]byte, error)) ([]byte, error) {
	one := c.entry(key)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.body != nil {
		return one.body, nil
	}
	body, err := render()
	one.body = body
	return body, err
}

func (c *cache) entry(key pageKey) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.pages[key]; one != nil {
		return one
	}
	if c.pages == nil {
		c.pages = map[pageKey]*cached{}
	}
	if len(c.order) == maxCached {
		delete(c.pages, c.order[0])
		c.order = c.order[1:]
	}
	one := &cached{}
	c.pages[key], c.order = one, append(c.order, key)
	return one
}
