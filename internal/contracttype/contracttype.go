// Package contracttype knows which contracts of replies a Go type has.
package contracttype

import (
	"reflect"
	"slices"
	"sync"
)

var (
	mu    sync.RWMutex
	names = map[reflect.Type][]string{}
)

// Register records that replies of the named contract are decoded into the given type. A type may have several contracts.
func Register(name string, of reflect.Type) {
	mu.Lock()
	defer mu.Unlock()
	if known := names[of]; !slices.Contains(known, name) {
		names[of] = append(known, name)
	}
}

// Names returns the names of the contracts of a type, or of the type that a pointer points to.
func Names(of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	mu.RLock()
	defer mu.RUnlock()
	return slices.Clone(names[of])
}
