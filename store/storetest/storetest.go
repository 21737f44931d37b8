// Package storetest tests implementations of store.Store. A store is correct if [Run] passes.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Place {
//			path := filepath.Join(t.TempDir(), "debates.db")
//			return storetest.Place{Open: func(t testing.TB) store.Store { return open(t, path) }}
//		})
//	}
//
// Run tests commits, conflicts, loads, lists, deletions, notifications and concurrent use. A store that gives the suite a
// [Damage] is also tested with lost and unreadable data.
package storetest

import (
	"slices"
	"testing"
)

// Run tests a store in places that empty gives, a new one for each test.
func Run(t *testing.T, empty func(t testing.TB) Place) {
	for _, test := range slices.Concat(commits, loads, lists, deletions, watches, concurrents, histories, models, damages) {
		t.Run(test.name, func(t *testing.T) { test.run(t, empty(t)) })
	}
}
