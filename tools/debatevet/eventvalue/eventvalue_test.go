package eventvalue_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/tools/debatevet/eventvalue"
)

// The package that the test data import is a small copy of package debate.
func TestAnalyzer(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), eventvalue.Analyzer, "a")
}

// The analyzer recognizes the interface of the real package by its unexported method.
func TestGoVetFindsTheMistakeInAProgram(t *testing.T) {
	var event debate.Event = debate.TurnDone{}
	require.Equal(t, "turn", debate.EventMeta{Type: "turn"}.Meta().Type)
	_, value := event.(debate.TurnDone)
	require.True(t, value)

	tool := filepath.Join(t.TempDir(), "debatevet.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", tool, "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	vet := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+tool, "./testdata/program")
	out, err = vet.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, []string{
		"testdata/program/main.go:12:8: this case never matches: events are values, use debate.TurnDone",
		"testdata/program/main.go:16:36: this type assertion never succeeds: events are values, use debate.Ended",
	}, problems(string(out)))
}

// problems returns the lines that name a file, with slashes.
func problems(out string) (list []string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, ".go:") {
			list = append(list, strings.TrimPrefix(filepath.ToSlash(strings.TrimSpace(line)), "vet: "))
		}
	}
	return list
}
