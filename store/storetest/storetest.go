// Package storetest is the contract of stores as a test suite: a store is right when Run passes.
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
