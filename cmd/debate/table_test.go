package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names in any script stand in columns.
func TestColumnsOfATable(t *testing.T) {
	var all table
	all.add("SEAT", "CALLS", "NOTE")
	all.add("日本", 12, "")
	all.add("Ada", 3, "a long note, which pads nothing")
	all.add("e\u0301te\u0301", 4, "accents of their own")
	var b strings.Builder
	require.NoError(t, all.print(&b))
	require.Equal(t, strings.Join([]string{
		"SEAT  CALLS  NOTE",
		"日本  12     ",
		"Ada   3      a long note, which pads nothing",
		"e\u0301te\u0301   4      accents of their own",
		"",
	}, "\n"), b.String())
}
