package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheExampleRuns(t *testing.T) {
	var out bytes.Buffer
	answer(t.Context(), &out)
	require.Regexp(t, `(?s)Ada: .*Bo: .*Judge: .*panel: Debate tool-\S+ completed`, out.String())
}
