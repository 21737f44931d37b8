package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/elenchus-go/debate/cmd/debate/internal/view"
	"github.com/elenchus-go/debate/printer"
	"github.com/elenchus-go/debate/providers/acp"
)

// program is one run of the command.
type program struct {
	ctx         context.Context
	interrupted <-chan struct{}
	options
	stdin          io.Reader
	stdout, stderr io.Writer // SafeWriters
	terminal       io.Writer // stderr without a SafeWriter
	env            func(string) string
	storePath      string                            // the database; empty if the debate is only in memory
	currency       string                            // of the prices; empty if it is unknown
	storeWords     string                            // the flag that selects the database in another command; empty if no flag is needed
	input          *bufio.Reader                     // reads stdin; nil before the first question
	about          map[string]string                 // what the kinds of debates of a server are good for, by name
	shown          map[string]int64                  // seq of the last turn that each person was shown
	briefed        map[string]string                 // the last briefing that each person was shown
	documentText   func(name string) (string, error) // of the person who is asked; nil if nobody is
	running        []*acp.Provider                   // whose processes end with the program
}

// isLive reports whether to show the progress live: stderr is a terminal that supports it, and --plain is not given.
func (p *program) isLive() bool {
	return !p.plain && printer.IsTerminal(p.terminal) && p.env("TERM") != "dumb"
}

// say prints a text, in lines that fit into the terminal.
func (p *program) say(text string) { fmt.Fprintln(p.stderr, view.Wrap(p.terminal, text)) }

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
