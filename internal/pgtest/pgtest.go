// Package pgtest gives tests a PostgreSQL.
//
// [DSN] is a server that all tests of a binary share: that of DATABASE_URL where it is set, else a temporary [Cluster].
// A test makes a schema of its own there. Where PostgreSQL is not installed the test is skipped; where CI or
// DEBATE_REQUIRE_POSTGRES is set, it fails.
package pgtest

import (
	"os"
	"sync"
	"testing"
)

// shared is the cluster of all tests of this binary; it ends with the process.
var shared = sync.OnceValues(func() (*Cluster, error) {
	c, err := newCluster(installed(), false)
	if err != nil {
		return nil, err
	}
	return c, c.start()
})

// DSN is the URL of a database for tests, which the test binary's other tests use, too.
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
