package lines_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/lines"
)

const change = `diff --git a/store.go b/store.go
index 1..2 100644
--- a/store.go
+++ b/store.go
@@ -10,3 +10,4 @@ func Close() error {
 	if s == nil {
-		return nil
+		return s.db.Close()
+		// --- a/x
 	}
@@ -40 +41 @@
-old
+new
\ No newline at end of file
--- a/gone.txt
+++ /dev/null
@@ -7,2 +0,0 @@
-first
-second
--- /dev/null
+++ "b/odd \303\266.txt"
@@ -0,0 +1,2 @@
+one
+two
`

func TestLinesOfADiffAreThoseOfTheChangedFile(t *testing.T) {
	all := strings.Split(change, "\n")
	at := func(text string) int {
		for i, line := range all {
			if line == text {
				return i + 1
			}
		}
		t.Fatal(text)
		return 0
	}
	for _, tt := range []struct {
		first, last string
		file        string
		from, to    int
	}{
		{" \tif s == nil {", " \tif s == nil {", "store.go", 10, 10},
		{"-\t\treturn nil", "-\t\treturn nil", "store.go", 11, 11},
		{"-\t\treturn nil", "+\t\treturn s.db.Close()", "store.go", 11, 11},
		{"+\t\treturn s.db.Close()", " \t}", "store.go", 11, 13},
		{"+new", "\\ No newline at end of file", "store.go", 41, 41},
		{"-first", "-second", "gone.txt", 7, 8},
		{"+two", "+two", "odd ö.txt", 2, 2},
		{"-second", "+one", "gone.txt", 8, 8},
		{"index 1..2 100644", "+++ b/store.go", "", 0, 0},
	} {
		file, from, to := lines.InDiff(change, at(tt.first), at(tt.last))
		require.Equal(t, tt.file, file, tt.first)
		require.Equal(t, []int{tt.from, tt.to}, []int{from, to}, tt.first)
	}
	require.True(t, lines.IsDiff("a/b.DIFF"))
	require.False(t, lines.IsDiff("diff.go"))
}

func FuzzInDiff(f *testing.F) {
	f.Add(change, 3, 9)
	f.Add("@@ -99999999999999999999,1 +1 @@\n+a\n", 1, 2)
	f.Fuzz(func(t *testing.T, text string, first, last int) {
		file, from, to := lines.InDiff(text, first, last)
		if file != "" {
			require.Positive(t, from)
			require.Positive(t, to)
		}
	})
}
