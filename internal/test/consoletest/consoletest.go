// Package consoletest runs the examples in their tests.
package consoletest

import (
	"bytes"
	"context"
	"testing"

	"github.com/elenchus-go/debate/examples/console"
)

// Run runs a program with the offline demo model and without a terminal.
func Run(t testing.TB, run func(context.Context, *console.Program) error, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, progress bytes.Buffer
	code = console.Run(t.Context(), run, args, &out, &progress, func(string) string { return "" })
	return code, out.String(), progress.String()
}
