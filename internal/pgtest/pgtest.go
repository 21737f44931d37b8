//go:build unix

// Package pgtest gives tests a PostgreSQL.
//
// [DSN] is a server that all tests of a binary share: that of DATABASE_URL where it is set, else a temporary [Cluster].
// A test makes a schema of its own there. Where PostgreSQL is not installed the test is skipped; where CI or
// DEBATE_REQUIRE_POSTGRES is set, it fails.
package pgtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

const missing = "PostgreSQL is missing: install its server (apt-get install postgresql, brew install postgresql), " +
	"or set DATABASE_URL to that of a server for tests"

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

// require ends a test that has no PostgreSQL to run.
func require(t testing.TB) {
	t.Helper()
	switch skip, fail := lacks(installed(), os.Getenv); {
	case fail:
		t.Fatal(missing)
	case skip:
		t.Skip(missing)
	}
}

// lacks says whether a test is skipped or fails, since there are no programs of PostgreSQL.
func lacks(programs string, getenv func(string) string) (skip, fail bool) {
	must := getenv("CI") != "" || getenv("DEBATE_REQUIRE_POSTGRES") != ""
	return programs == "" && !must, programs == "" && must
}

// installed is the folder of PostgreSQL's programs: in PATH, or where Debian puts its newest version; else empty.
func installed() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	return newest(found)
}

// newest is the folder of the highest version among paths like /usr/lib/postgresql/15/bin/initdb.
func newest(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(paths, func(a, b string) int { return cmp.Compare(version(a), version(b)) }))
}
