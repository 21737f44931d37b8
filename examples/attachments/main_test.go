package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/consoletest"
)

func TestADebateAboutAPicture(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-file", "testdata/logo.png", "Is this a good logo?")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `^Is this a good logo\?\nlogo\.png \(image/png, \d+ bytes\)\n\n.`, stdout)
	require.Contains(t, stderr, "I see logo.png, a picture in the format png with 64 × 48 pixels.")
}

func TestADebateAboutADocument(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "-file", "testdata/terms.pdf", "Should we sign this?")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `terms\.pdf \(application/pdf, \d+ bytes\)`, stdout)
	require.Regexp(t, `I see terms\.pdf, a file of type application/pdf with 1 pages and \d+ bytes\.`, stderr)
}

func TestAFileOfAnotherTypeIsAProblem(t *testing.T) {
	code, _, stderr := consoletest.Run(t, run, "-file", "main.go")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `attachments[0].media_type: "text/plain; charset=utf-8" is not supported, use one of`)
	code, _, stderr = consoletest.Run(t, run, "-file", "testdata/none.png")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "testdata/none.png")
}
