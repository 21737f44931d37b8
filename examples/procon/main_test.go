package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestTheJudgeSpeaksOnce(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "Tea should be free")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `^Tea should be free\n\nOn the topic .*\n\nAda +\d\.\d of 10\nBo +\d\.\d of 10\nwinner: Ada\n$`, stdout)
	require.Regexp(t, `Ada · argue · .*\n  My answer is yes,`, stderr)
	require.Contains(t, stderr, "\n== round 3 of 3 ==\n\nAda · close · ")
	require.Equal(t, 1, bytes.Count([]byte(stderr), []byte("Judge · judge · ")))
	require.NotContains(t, stderr, "assess")
}
