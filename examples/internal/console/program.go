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
)

// Program is an example as it runs.
type Program struct {
	Flags          *flag.FlagSet // add yours before Topic
	Stdout, Stderr io.Writer     // for results, and for what happens until then; both are Printable
	Env            func(string) string
	IsTerminal     bool // somebody reads Stderr

	args []string
}

// Main runs a program with the arguments, the environment and the terminal of the process, and ends that with its code.
// Ctrl-C ends ctx, a second one the process at once.
func Main(run func(ctx context.Context, p *Program) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, run, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// Run is Main with all that it reads and writes. The code is 0, 1 where the program fails, 2 where its arguments are wrong,
// and 130 where its debate was canceled.
func Run(ctx context.Context, run func(context.Context, *Program) error, args []string, stdout, stderr io.Writer, env func(string) string) int {
	p := &Program{
		Flags: flag.NewFlagSet("", flag.ContinueOnError), Stdout: SafeWriter{stdout}, Stderr: SafeWriter{stderr}, Env: env, IsTerminal: IsTerminal(stderr), args: args,
	}
	p.Flags.SetOutput(p.Stderr)
	p.Flags.Usage = func() {
		fmt.Fprintln(p.Stderr, `usage: [flags] ["the topic"]`)
		p.Flags.PrintDefaults()
	}
	err := run(ctx, p)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errArguments): // the flags have said it
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

// Topic reads the flags, and the topic that stands behind them. Without one it is usual.
func (p *Program) Topic(usual string) (string, error) {
	if err := p.Flags.Parse(p.args); err != nil {
		return "", errors.Join(errArguments, err)
	}
	if topic := strings.TrimSpace(strings.Join(p.Flags.Args(), " ")); topic != "" {
		return topic, nil
	}
	return usual, nil
}

// Debate runs a debate to its end, and shows it on Stderr. When ctx ends the debate is canceled, which is an error that
// says how many turns were held.
func (p *Program) Debate(ctx context.Context, c debate.Config, o debate.Options) (*debate.Result, error) {
	whole := context.WithoutCancel(ctx)
	d, err := debate.New(whole, c, o)
	if err != nil {
		return nil, err // *debate.Problems lists everything that is wrong
	}
	defer context.AfterFunc(ctx, func() { _ = d.Cancel(whole) })() // fails where the debate has just ended
	v := display{w: p.Stderr, live: p.IsTerminal}
	for event, err := range d.Run(whole) {
		if err != nil {
			return nil, err
		}
		v.show(event)
	}
	r, err := d.Result(whole)
	if err == nil && r.State == fsm.Canceled {
		err = fmt.Errorf("%w; turns held: %d", errCanceled, r.Total.Turns)
	}
	return r, err
}
