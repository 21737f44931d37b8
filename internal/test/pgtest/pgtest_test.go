//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestATestWithoutPostgresIsSkippedButInCI(t *testing.T) {
	for _, tt := range []struct {
		name, programs string
		env            string // environment variable that is set
		skip, fail     bool
	}{
		{"installed", "/bin", "", false, false},
		{"installed, in CI", "/bin", "CI", false, false},
		{"missing", "", "", true, false},
		{"missing in CI", "", "CI", false, true},
		{"missing but required", "", "DEBATE_REQUIRE_POSTGRES", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			skip, fail := lacks(tt.programs, func(name string) string {
				return map[string]string{tt.env: "1", "": ""}[name]
			})
			assert.Equal(t, tt.skip, skip)
			assert.Equal(t, tt.fail, fail)
		})
	}
}

func TestTheNewestVersionIsTaken(t *testing.T) {
	assert.Empty(t, newest(nil))
	assert.Equal(t, "/usr/lib/postgresql/16/bin", newest([]string{
		"/usr/lib/postgresql/9/bin/initdb", "/usr/lib/postgresql/16/bin/initdb", "/usr/lib/postgresql/15/bin/initdb",
	}))
}

func TestAServerIsSharedByTests(t *testing.T) {
	dsn := DSN(t)
	assert.Equal(t, dsn, DSN(t))
	assert.Equal(t, "1", query(t, dsn, "select 1"))
}

func TestTheServerOfTheEnvironmentComesFirst(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://elsewhere/db")
	assert.Equal(t, "postgres://elsewhere/db", DSN(t))
}

func TestAClusterKeepsItsDataThroughACrash(t *testing.T) {
	for _, durable := range []bool{true, false} {
		t.Run(map[bool]string{true: "durable", false: "fast"}[durable], func(t *testing.T) {
			var dir string
			t.Run("while it runs", func(t *testing.T) {
				c := Start(t, durable)
				dir = c.dir
				assert.Equal(t, map[bool]string{true: "on", false: "off"}[durable], query(t, c.DSN, "show fsync"))
				query(t, c.DSN, "create table kept as select 42 as n")
				for range 3 {
					c.Kill(t)
					c.Restart(t)
					assert.Equal(t, "42", query(t, c.DSN, "select n from kept"))
				}
			})
			assert.NoDirExists(t, dir, "the cluster removes its folder")
		})
	}
}

func query(t *testing.T, dsn, sql string) string {
	t.Helper()
	if dsn == os.Getenv("DATABASE_URL") {
		t.Skip("the installed programs may have another version than this server")
	}
	text, err := exec.CommandContext(t.Context(), filepath.Join(installed(), "psql"), "-XAtq", "-c", sql, dsn).CombinedOutput()
	assert.NoError(t, err, string(text))
	return strings.TrimSpace(string(text))
}
