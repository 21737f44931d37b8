package sources_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/transcript"
)

func TestWhatAModelHasRead(t *testing.T) {
	places := func(path string, line int) []transcript.Place { return []transcript.Place{{Path: path, Line: line}} }
	turn := &transcript.Turn{Attempts: []transcript.Attempt{
		{Read: []transcript.Access{
			{Kind: "read", Title: "Read limits.go", Places: places("pkg/limits.go", 12)},
			{Kind: "search", Title: "grep 'limit'", Places: places("pkg", 0)},
		}},
		{Read: []transcript.Access{
			{Kind: "read", Title: "Read limits.go", Places: places("pkg/limits.go", 12)},
			{Kind: "read", Title: "Read README.md", Places: places("README.md", 0)},
			{Kind: "read", Title: "cat go.mod"},
			{Kind: "edit", Title: "Write notes", Places: places("/etc/notes", 0), Failed: true},
			{Title: "Look"},
		}},
	}}
	require.Equal(t, []string{
		"Read pkg/limits.go:12, README.md.",
		"Used a tool (search): grep 'limit', in pkg.",
		"Used a tool (read): cat go.mod.",
		"Used a tool (edit): Write notes, in /etc/notes, without success.",
		"Used a tool: Look.",
	}, sources.Read(turn))
	require.Empty(t, sources.Read(&transcript.Turn{Attempts: []transcript.Attempt{{}}}))
	for i := range 100 {
		turn.Attempts[0].Read = append(turn.Attempts[0].Read, transcript.Access{Kind: "read", Places: places(fmt.Sprint(i), 0)},
			transcript.Access{Title: fmt.Sprint(i)})
	}
	lines := sources.Read(turn)
	require.Len(t, lines, 22)
	require.Contains(t, lines[0], "82 more files.")
	require.Equal(t, "84 more things", lines[21])
}
