// Package enginetest shows that debates survive their process over a durable store: a store bears debates when Run
// passes.
//
// Another process is another engine over another opening of the same place. No test sleeps: what happens elsewhere is
// awaited by channels and events.
package enginetest

import (
	"testing"

	"github.com/elenchus-go/debate/store/storetest"
)

// Run tests debates over a store in places that empty gives, a new one for each test. What only damage can show is
// skipped where nothing can damage a place. A database is slow, so over one that can be damaged some tests take fewer
// moments of a debate than in memory, unless DEBATE_KILLS_EACH is set.
func Run(t *testing.T, empty func(t testing.TB) storetest.Backend) {
	for _, tests := range []map[string]func(*env){recoveryTests, controlTests, persistenceTests, corruptionTests, watchTests} {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) { test(newEnv(t, empty(t))) })
		}
	}
}
