// Debate is a command that runs debates with each of the library's protocols. It keeps them in a SQLite database.
//
//	debate "Should cities ban private cars?"
//	debate help
//
// The answer goes to stdout, everything else to stderr. README.md describes the configuration file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/elenchus-go/debate/examples/console"
)

func main() {
	ctx, kill := context.WithCancel(context.Background())
	signals, interrupted := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		close(interrupted)
		<-signals
		kill()
		signal.Stop(signals) // a third signal ends the process
	}()
	os.Exit(run(ctx, interrupted, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// run does what main does, with arguments in place of what main takes from the process. It returns the exit code. When interrupted
// is closed, the debate stops after the calls in flight. When ctx ends, these calls are canceled.
func run(ctx context.Context, interrupted <-chan struct{}, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	p := &program{
		ctx: ctx, interrupted: interrupted, stdin: stdin, terminal: stderr, env: env,
		stdout: console.SafeWriter{Writer: stdout}, stderr: console.SafeWriter{Writer: stderr},
	}
	root := p.rootCommand()
	root.Version = version()
	root.SetVersionTemplate("debate {{.Version}}\n")
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitSuccess
	}
	fmt.Fprintln(p.stderr, "debate:", err)
	if f, ok := errors.AsType[*exitError](err); ok {
		return f.code
	}
	return exitGeneral
}

// version returns the version of the module, or "(devel)" if it is unknown.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
