// Package console runs the examples: it reads their flags, runs their debate and exits with their code. It may change with any
// version. Package printer prints the debate, and may be imported.
package console

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/report/printer"
)

// Program is one run of an example.
type Program struct {
	Flags          *flag.FlagSet // add flags before you call Topic
	Stdout, Stderr io.Writer     // for the result and for progress; both are of type printer.SafeWriter
	Env            func(string) string
	IsTerminal     bool // Stderr is a terminal

	args []string
}

// Main runs a program with the arguments, the environment and the terminal of the process, and exits with its code.
// The first Ctrl-C cancels ctx, and the second ends the process.
func Main(run func(ctx context.Context, p *Program) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, run, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// Run is like Main, but takes what Main takes from the process as arguments. It returns the exit code: 0 for success, 1
// if the program fails, 2 if its arguments are wrong, and 130 if its debate was canceled.
func Run(ctx context.Context, run func(context.Context, *Program) error, args []string, stdout, stderr io.Writer, env func(string) string) int {
	p := &Program{
		Flags: flag.NewFlagSet("", flag.ContinueOnError), Stdout: printer.SafeWriter{Writer: stdout}, Stderr: printer.SafeWriter{Writer: stderr}, Env: env, IsTerminal: printer.IsTerminal(stderr), args: args,
	}
	p.Flags.SetOutput(p.Stderr)
	p.Flags.Usage = func() {
		fmt.Fprintln(p.Stderr, `usage: [flags] ["topic"]`)
		p.Flags.PrintDefaults()
	}
	err := run(ctx, p)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errArguments): // the flag package has printed the error
		return 2
	}
	fmt.Fprintf(p.Stderr, "\n%v\n", err)
	if errors.Is(err, errCanceled) {
		return 130
	}
	return 1
}

var (
	errArguments = errors.New("the arguments are wrong")
	errCanceled  = errors.New("canceled")
)

// Topic parses the flags and returns the topic that follows them, or usual if there is none.
func (p *Program) Topic(usual string) (string, error) {
	if err := p.Flags.Parse(p.args); err != nil {
		return "", errors.Join(errArguments, err)
	}
	if topic := strings.TrimSpace(strings.Join(p.Flags.Args(), " ")); topic != "" {
		return topic, nil
	}
	return usual, nil
}

// Debate runs a debate to its end and shows its progress on Stderr. If ctx ends first, Debate cancels the debate and
// returns an error with the number of its turns.
func (p *Program) Debate(ctx context.Context, c debate.Config, o debate.Options) (*debate.Result, error) {
	whole := context.WithoutCancel(ctx)
	d, err := debate.New(whole, c, o)
	if err != nil {
		return nil, err // *debate.Problems lists every configuration error
	}
	defer context.AfterFunc(ctx, func() { _ = d.Cancel(whole) })() // fails if the debate has just ended
	v := printer.Printer{Output: p.Stderr, Live: p.IsTerminal}
	for event, err := range d.Run(whole) {
		if err != nil {
			return nil, err
		}
		v.Show(event)
	}
	r, err := d.Result(whole)
	if err == nil && r.State == fsm.Canceled {
		err = fmt.Errorf("%w; completed turns: %d", errCanceled, r.Total.Turns)
	}
	return r, err
}
