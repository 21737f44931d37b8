// Package golden holds what tests make against files that somebody has read: golden files, and sections of documents.
// A test that imports it has the flag -update, which writes them anew.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files and generated docs anew")

const outdated = "%s is not as it should be: run this test with -update, and read the difference"

// Update says whether files are to be written anew, for tests that write theirs themselves.
func Update() bool { return *update }

// Require holds a text against a file, of which the line ends do not count; with -update it writes the file first.
func Require(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	require.Equal(t, read(t, file), got, outdated, file)
}

// Section holds a text, which ends with a line break, against what a document has between the lines "<!-- name -->" and
// "<!-- /name -->"; with -update it writes it there first, or at the end of a document that has no such lines.
func Section(t testing.TB, file, name, got string) {
	t.Helper()
	document, begin, end := read(t, file), "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, begun := strings.Cut(document, begin)
	is, after, ended := strings.Cut(rest, end)
	if *update && !begun {
		before, begun, ended = strings.TrimRight(document, "\n")+"\n\n", true, true
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
	require.NoError(t, err, "golden files are written by -update, documents begun by hand")
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
