// Package enginetest tests that debates on a store survive the death of their process. A store is suitable for debates
// if [Run] passes.
//
// A second process is simulated by a second engine with another handle on the same storage. No test sleeps: tests wait
// with channels and events.
package enginetest

import (
	"testing"

	"github.com/elenchus-go/debate/store/storetest"
)

// Run tests debates on a store. It calls empty once per test to get a new, empty backend. Tests that need damage are
// skipped if the backend has no Corruption. Tests interrupt debates at a sample of their events, which has fewer on a backend
// with Corruption, because databases are slow.
func Run(t *testing.T, empty func(t testing.TB) storetest.Backend) {
	for _, tests := range []map[string]func(*env){
		recoveryTests, controlTests, persistenceTests, corruptionTests, watchTests, peopleTests, forkTests, formatTests, toolTests,
	} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) { test(newEnv(t, empty(t))) })
		}
	}
}
