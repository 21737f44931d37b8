package storetest_test

import (
	"testing"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

// A test calls Run with a function that opens an empty database.
func Example() {
	var t *testing.T // of your test
	storetest.Run(t, func(t testing.TB) storetest.Backend {
		s := store.Memory()
		return storetest.Backend{Open: func(testing.TB) store.Store { return s }}
	})
}
