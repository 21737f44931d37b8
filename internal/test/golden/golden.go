// Package golden compares the output of tests with reviewed files: golden files, and sections of documents. A test that
// imports it has the flag -update, which rewrites them.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files and generated documents")

const outdated = "%s is out of date: run this test with -update and read the diff"

// Update reports whether the flag -update is set, for tests that write files themselves.
func Update() bool { return *update }

// Require compares a text with a file. It ignores differences in line endings. With -update it writes the file first.
func Require(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	require.Equal(t, read(t, file), got, outdated, file)
}

// Section compares a text, which ends with a newline, with the part of a document between the lines "<!-- name -->" and
// "<!-- /name -->". With -update it writes the text there first, or appends the section if the document lacks it.
func Section(t testing.TB, file, name, got string) {
	t.Helper()
	document := read(t, file)
	begin := "<!-- " + name + " -->\n"
	end := "<!-- /" + name + " -->\n"
	before, rest, begun := strings.Cut(document, begin)
	is, after, ended := strings.Cut(rest, end)
	if *update && !begun {
		before = strings.TrimRight(document, "\n") + "\n\n"
		begun = true
		ended = true
	}
	require.True(t, begun && ended, "%s has no section %q with an end: run this test with -update", file, name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+got+end+after), 0o644))
		return
	}
	require.Equal(t, is, got, outdated, file)
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err, "-update creates golden files; create documents by hand")
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
