package pgtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

const missing = "PostgreSQL is missing: install its server (apt-get install postgresql, brew install postgresql), " +
	"or set DATABASE_URL to the URL of a test server"

// Functions that set up commands and change the owner of folders. Both are nil on systems other than Unix, where no
// [Cluster] can run.
var (
	unprivileged func(*exec.Cmd)
	own          func(dir string) error
)

// require skips or fails a test if no PostgreSQL can run.
func require(t testing.TB) {
	t.Helper()
	switch skip, fail := lacks(installed(), os.Getenv); {
	case fail:
		t.Fatal(missing)
	case skip:
		t.Skip(missing)
	}
}

// lacks reports whether a test without PostgreSQL's programs is skipped or fails.
func lacks(programs string, getenv func(string) string) (skip, fail bool) {
	must := getenv("CI") != "" || getenv("DEBATE_REQUIRE_POSTGRES") != ""
	return programs == "" && !must, programs == "" && must
}

// installed returns the folder of PostgreSQL's programs: the one in PATH, or the newest version in Debian's folders. It
// returns "" if there is none, and on systems where no cluster can run.
func installed() string {
	if unprivileged == nil {
		return ""
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		path, err = filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	return newest(found)
}

// newest returns the folder of the highest version among paths such as /usr/lib/postgresql/15/bin/initdb.
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
