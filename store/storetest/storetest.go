// Package storetest tests implementations of store.Store. A store is correct if [Run] passes.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Backend {
//			path := filepath.Join(t.TempDir(), "debates.db")
//			return storetest.Backend{Open: func(t testing.TB) store.Store { return open(t, path) }}
//		})
//	}
//
// Run tests commits, conflicts, loads, lists, deletions, notifications and concurrent use. If the store keeps
// [store.Heartbeats], Run tests them. If the [Backend] has a [Corruption], Run also tests missing and unreadable data.
package storetest

import (
	"slices"
	"testing"
)

// Run tests a store. It calls empty once per test to get a new, empty backend.
func Run(t *testing.T, empty func(t testing.TB) Backend) {
	for _, test := range slices.Concat(commitTests, loadTests, listTests, deleteTests, watchTests, concurrencyTests, historyTests, referenceTests, heartbeatTests, corruptionTests) {
		t.Run(test.name, func(t *testing.T) { test.run(t, empty(t)) })
	}
}
