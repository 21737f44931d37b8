package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rejudge makes samples of one family, in both orders in turn. Resume asks only their judges.
func TestRejudge(t *testing.T) {
	folder(t)
	env := environment()
	code, _, stderr := start(t, env, "--protocol", "panel", "--rounds", "1", "--store", "d.db", topic)
	require.Equal(t, 0, code, stderr)
	parent := saved(t, stderr)
	rejudge := func(args ...string) []string {
		code, stdout, stderr := start(t, env, append([]string{"rejudge", parent, "--store", "d.db", "--paused"}, args...)...)
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stderr, "debate resume")
		return strings.Split(strings.TrimSpace(stdout), "\n")
	}
	made := rejudge("--samples", "3")
	require.Len(t, made, 3)
	families := map[string]bool{}
	for i, line := range made {
		id, is, _ := strings.Cut(line, " ")
		require.Equal(t, "paused", is)
		_, stdout, _ := start(t, env, "show", id, "--store", "d.db", "--json")
		r := state(t, []byte(stdout))
		require.Equal(t, i == 1, r.Result.Rejudged.Swap)
		require.Equal(t, parent, r.Result.Parent.ID)
		var c struct{ Labels map[string]string }
		require.NoError(t, json.Unmarshal(r.Config, &c))
		require.Equal(t, strconv.Itoa(i+1), c.Labels[sampleLabel])
		families[c.Labels[familyLabel]] = true
	}
	require.Len(t, families, 1, "one family")
	_, _, table := start(t, env, "show", parent, "--verbose", "--store", "d.db")
	require.NotEmpty(t, table)

	for args, says := range map[string]string{
		"--samples 0":                       "use 1 or more",
		"--omit 99999":                      "is no turn",
		"--omit Nobody":                     "is not a participant",
		"--samples 3 --judge-temperature 0": "would repeat one another",
		"--judge-model x":                   "want PROVIDER/MODEL",
		"--judge-temperature 9":             "out of range",
	} {
		code, _, stderr := start(t, env, append([]string{"rejudge", parent, "--store", "d.db"}, strings.Fields(args)...)...)
		require.Equal(t, 2, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, says, args)
	}
}
