// Debate is a command that runs debates with each of the library's protocols. It keeps them in a SQLite database.
//
//	debate "Should cities ban private cars?"
//	debate help
//
// The answer goes to stdout, everything else to stderr. README.md describes the configuration file.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/elenchus-go/debate/cmd/debate/internal/view"
	"github.com/elenchus-go/debate/report/printer"
)

func main() {
	ctx, kill := context.WithCancel(context.Background())
	signals, interrupted := make(chan os.Signal, 3), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	restore := view.Save(view.Options{Output: os.Stderr, Input: os.Stdin, Env: os.Getenv})
	go func() {
		<-signals
		close(interrupted)
		<-signals
		kill()
		<-signals
		signal.Stop(signals)
		restore()
		os.Exit(exitGeneral)
	}()
	os.Exit(run(ctx, interrupted, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// run does what main does, with arguments in place of what main takes from the process. It returns the exit code. When interrupted
// is closed, the debate stops after the calls in flight. When ctx ends, these calls are canceled.
func run(ctx context.Context, interrupted <-chan struct{}, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	out := &checkedWriter{Writer: stdout}
	commands := stderr
	if inActions(env) {
		out.Writer = &harmlessWriter{Writer: stdout}
		stderr = &harmlessWriter{Writer: stderr}
	}
	p := &program{
		ctx: ctx, interrupted: interrupted, stdin: stdin, terminal: stderr, commands: commands, env: env,
		stdout: printer.SafeWriter{Writer: out}, stderr: printer.SafeWriter{Writer: stderr},
	}
	failures := p.stderr
	defer p.closeAgents()
	root := p.rootCommand()
	root.Version = version()
	root.SetVersionTemplate("debate {{.Version}}\n")
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write output: %w", out.err)
	}
	if err != nil {
		fmt.Fprintln(failures, "debate:", err)
	}
	return exitCode(err)
}

// checkedWriter is an output that remembers its first error.
type checkedWriter struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err //nolint:wrapcheck // a transparent writer
}
