// Cli is a command that holds debates by each of the library's protocols, and keeps them in a SQLite file.
//
//	go run . "Should cities ban private cars?"
//	go run . --protocol critique-refine --agents security,performance --file problem.md --report out/report.html
//	go run . --store debates.db "Should cities ban private cars?"     # then list, show, pause, resume, cancel or retry
//
// The answer goes to stdout, all else to stderr. README.md says what a configuration file holds.
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

	"github.com/elenchus-go/debate/examples/internal/console"
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
		signal.Stop(signals) // a third one ends the program as it is
	}()
	os.Exit(run(ctx, interrupted, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is main with all that it reads and writes. It returns the exit code. When interrupted is closed the debate stops
// after the calls in flight; the end of ctx cancels these.
func run(ctx context.Context, interrupted <-chan struct{}, args []string, stdout, stderr io.Writer, env func(string) string) int {
	p := &program{
		ctx: ctx, interrupted: interrupted, terminal: stderr, env: env,
		stdout: console.SafeWriter{Writer: stdout}, stderr: console.SafeWriter{Writer: stderr},
	}
	err := p.run(args) //nolint:contextcheck // to open a store takes none
	if err == nil {
		return exitSuccess
	}
	fmt.Fprintln(p.stderr, "cli:", err)
	if f, ok := errors.AsType[*exitError](err); ok {
		return f.code
	}
	return exitGeneral
}

func (p *program) run(args []string) (err error) {
	if p.options, err = parse(args); err != nil {
		return err
	}
	switch {
	case p.help:
		fmt.Fprint(p.stdout, usage)
		return nil
	case p.version:
		fmt.Fprintln(p.stdout, "cli", version())
		return nil
	case p.command == "":
		return p.newDebate()
	}
	return p.runCommand()
}

// version is that of the module, or what is known instead.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
