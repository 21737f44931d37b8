package main

import (
	"context"
	"fmt"
	"io"

	"github.com/elenchus-go/debate/examples/internal/console"
)

// program is one run of the command.
type program struct {
	ctx         context.Context
	interrupted <-chan struct{}
	options
	stdout, stderr io.Writer // which drop what could command a terminal
	terminal       io.Writer // stderr as it is
	env            func(string) string
}

// isLive says whether somebody watches a terminal that can show what changes.
func (p *program) isLive() bool {
	return !p.plain && console.IsTerminal(p.terminal) && p.env("TERM") != "dumb"
}

func (p *program) warnf(format string, args ...any) {
	fmt.Fprintf(p.stderr, "warning: "+format+"\n", args...)
}
