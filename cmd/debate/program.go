package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/elenchus-go/debate/cmd/debate/internal/view"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/providers/acp"
	"github.com/elenchus-go/debate/report/printer"
)

// program is one run of the command.
type program struct {
	ctx         context.Context
	interrupted <-chan struct{}
	options
	stdin          io.Reader
	stdout, stderr io.Writer // SafeWriters
	terminal       io.Writer // stderr without a SafeWriter
	commands       io.Writer // stderr, for commands to the runner of GitHub Actions
	env            func(string) string
	storePath      string                            // the database; empty if the debate is only in memory
	currency       string                            // of the prices; empty if it is unknown
	storeWords     string                            // the flag that selects the database in another command; empty if no flag is needed
	inputUser      string                            // the flag or argument that has read stdin as a whole; empty if none has
	inputHash      string                            // of what it has read, if that is an operand
	input          *bufio.Reader                     // reads stdin; nil before the first question
	about          map[string]string                 // what the kinds of debates of a server are good for, by name
	shown          map[string]int64                  // seq of the last turn that each person was shown
	briefed        map[string]string                 // the last briefing that each person was shown
	sampler        *debatemcp.Sampler                // of debate mcp; nil in other commands
	documentText   func(name string) (string, error) // of the person who is asked; nil if nobody is
	running        []*acp.Provider                   // whose processes end with the program
}

// isLive reports whether to show the progress live: stderr is a terminal that supports it, and --plain is not given.
func (p *program) isLive() bool {
	return !p.plain && printer.IsTerminal(p.terminal) && p.env("TERM") != "dumb"
}

// say prints a text, in lines that fit into the terminal.
func (p *program) say(text string) { fmt.Fprintln(p.stderr, view.Wrap(p.terminal, text)) }

// prepare applies the flags that concern all of a command.
func (p *program) prepare() error {
	if p.quiet && len(p.me) > 0 {
		return exitErrorf(exitInput, "read arguments: --quiet hides what --me asks, use one of them")
	}
	if p.quiet {
		p.stderr = io.Discard
		p.terminal = io.Discard
	}
	return nil
}

func (p *program) warnf(format string, args ...any) {
	fmt.Fprintf(p.stderr, "warning: "+format+"\n", args...)
}

// untilInterrupt returns a context that ends with the first interrupt.
func (p *program) untilInterrupt() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(p.ctx)
	go func() {
		select {
		case <-p.interrupted:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// version returns the version of the module, or "(devel)" if it is unknown.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
