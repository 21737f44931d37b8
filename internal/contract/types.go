// Package contract has what the contracts of structured replies share: it knows the Go types of their values, and checks a confidence
// that a model states.
package contract

import (
	"reflect"
	"slices"
	"sync"
)

var (
	mu    sync.RWMutex
	names = map[reflect.Type][]string{}
	types = map[string]reflect.Type{}
)

// Register records that replies of the named contract are decoded into the given type. A type may have several contracts.
func Register(name string, of reflect.Type) {
	mu.Lock()
	defer mu.Unlock()
	types[name] = of
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

// Of returns the type of the replies of the named contract: the last one that was registered. It reports whether there is one.
func Of(name string) (of reflect.Type, known bool) {
	mu.RLock()
	defer mu.RUnlock()
	of, known = types[name]
	return of, known
}
