// Package pgtest provides PostgreSQL for tests.
//
// [DSN] returns the address of a server that all tests of a binary share: the one at DATABASE_URL if that is set, or
// else a temporary [Cluster]. Each test creates its own schema there. If PostgreSQL is not installed, the test is
// skipped, or fails if CI or DEBATE_REQUIRE_POSTGRES is set.
package pgtest

import (
	"os"
	"sync"
	"testing"
)

// shared returns the cluster for all tests of this binary. It ends with the process.
var shared = sync.OnceValues(func() (*Cluster, error) {
	c, err := newCluster(installed(), false)
	if err != nil {
		return nil, err
	}
	return c, c.start()
})

// DSN returns the URL of a database for tests. All tests of the binary use the same one.
func DSN(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv("DATABASE_URL"); dsn != "" {
		return dsn
	}
	require(t)
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c.DSN
}
