package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// keyFunc returns a function that returns the key, from the Config.Key and the Config.KeyFunc of a provider, of which
// at most one may be set. It returns nil if neither is set.
func keyFunc(constant string, f func(context.Context) (string, error)) (func(context.Context) (string, error), error) {
	switch {
	case constant != "" && f != nil:
		return nil, errors.New("Config.Key and Config.KeyFunc are both set: set only one of them")
	case constant != "":
		return func(context.Context) (string, error) { return constant, nil }, nil
	}
	return f, nil
}

// keyCache holds the last keys of a client, because a service may quote the key of an earlier request.
type keyCache struct {
	mu   sync.Mutex
	keys []string // the newest last
}

// maxKeys limits how many keys are remembered.
const maxKeys = 8

func (c *keyCache) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.keys)
}

func (c *keyCache) add(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.keys, key) {
		c.keys = append(c.keys, key)
		c.keys = c.keys[max(0, len(c.keys)-maxKeys):]
	}
}

// current returns the key that f returns, or an error without keys.
func (c *keyCache) current(ctx context.Context, f func(context.Context) (string, error)) (string, *providers.Error) {
	key, err := f(ctx)
	if key != "" {
		c.add(key)
	}
	switch {
	case err != nil:
		quiet := fault.RedactError(fault.RedactError(err, c.all()), nil) // it may quote a key that f did not return
		failed := &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("get key: %w", quiet)}
		if known, ok := errors.AsType[*providers.Error](err); ok {
			failed.Kind, failed.RetryAfter = known.Kind, known.RetryAfter
		}
		return "", failed
	case key == "":
		err = errors.New("the key is empty")
	case !isHeaderValue(key):
		err = errors.New("the key contains a space, a line break or a character that is not ASCII")
	default:
		return key, nil
	}
	return "", &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("get key: %w", err)}
}

// isHeaderValue reports whether all characters of s are visible ASCII characters.
func isHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
