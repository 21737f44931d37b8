package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	sameResult = "sample.go larger: a > b with its boundary"
	noReport   = "sample.go positive: err returned as nil"
	overwrites = "sample.go positive: err != nil made false"
	atZero     = "sample.go positive: x > 0 with its boundary"
	atHundred  = "sample.go positive: x < 100 with its boundary"
)

// runSample runs all mutants of the sample with a list of equivalent ones.
func runSample(t *testing.T, o options, listed ...string) (output []string, err error) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	o.equivalents, o.workers = filepath.Join(t.TempDir(), "equivalent.txt"), 2
	text := "# Mutants of the sample.\n"
	for _, name := range listed {
		text += "\n" + name + "\n\tThe result\n\tis the same.\n"
	}
	require.NoError(t, os.WriteFile(o.equivalents, []byte(text), 0o600))
	var b strings.Builder
	sample := code{root: t.TempDir(), folder: ".", files: []string{"sample.go"}, functions: `^(larger|positive)$`, packages: []string{"."}}
	for _, name := range []string{"go.mod", "sample.go", "sample_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", "sample", name+".txt"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(sample.root, name), text, 0o600))
	}
	err = run(t.Context(), &b, sample, o)
	return strings.Split(strings.TrimSpace(b.String()), "\n"), err
}

func TestSurvivors(t *testing.T) {
	output, err := runSample(t, options{}, sameResult)
	require.EqualError(t, err, "mutants survived: add tests, or explain them in the list of equivalent mutants")
	require.Equal(t, []string{
		"sample.go:13: survived: " + overwrites,
		"sample.go:14: survived: " + noReport,
		"sample.go:15: survived: " + atZero,
		"sample.go:15: survived: " + atHundred,
		"16 mutants: 11 noticed by tests, 1 explained in the list, 4 unexplained",
	}, output[1:])

	output, err = runSample(t, options{only: "positive: (x|err)"}, sameResult, noReport, overwrites, atZero, atHundred)
	require.NoError(t, err)
	require.Contains(t, output[len(output)-1], ", 4 explained in the list, 0 unexplained")
}

func TestTheListOfEquivalentMutants(t *testing.T) {
	_, err := runSample(t, options{}, "sample.go larger: gone")
	require.EqualError(t, err, "the code has changed, and an equivalent mutant is gone: sample.go larger: gone")
	_, err = runSample(t, options{list: true}, sameResult, sameResult)
	require.ErrorContains(t, err, "lists a mutant again")
	for text, problem := range map[string]string{
		"\treason\n":        "line 1 is a reason without a mutant",
		"a.go f: x removed": "no reason for a.go f: x removed",
	} {
		path := filepath.Join(t.TempDir(), "equivalent.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readEquivalents(path)
		require.ErrorContains(t, err, problem)
	}
	_, err = readEquivalents(filepath.Join(t.TempDir(), "none.txt"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAMutantThatATestNoticesIsNotEquivalent(t *testing.T) {
	output, err := runSample(t, options{only: "made true$"}, "sample.go larger: a > b made true")
	require.NoError(t, err)
	require.Contains(t, output, "sample.go:4: listed as equivalent, but a test notices it: sample.go larger: a > b made true")
}

// The engine's files and functions exist.
func TestTheEnginesMutants(t *testing.T) {
	t.Chdir("../..")
	var b strings.Builder
	require.NoError(t, run(t.Context(), &b, engine, options{equivalents: "internal/mutation/equivalent.txt", list: true}))
	for _, file := range engine.files {
		require.Contains(t, b.String(), "\t"+file+" ")
	}
}

// The list is checked here too, because a run of all mutants takes hours.
func TestListedMutantsOfTheEngineExist(t *testing.T) {
	c := engine
	c.root = filepath.Join("..", "..")
	m, err := instrument(c, regexp.MustCompile(c.functions))
	require.NoError(t, err)
	known, err := readEquivalents("equivalent.txt")
	require.NoError(t, err)
	require.NotEmpty(t, known)
	require.NoError(t, known.check(m.mutants))
}
