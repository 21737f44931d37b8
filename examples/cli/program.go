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
	screen         io.Writer // stderr as it is
	env            func(string) string
}

// live says whether somebody watches a terminal that can show what changes.
func (p *program) live() bool {
	return !p.plain && console.Watched(p.screen) && p.env("TERM") != "dumb"
}

func (p *program) warn(format string, args ...any) {
	fmt.Fprintf(p.stderr, "warning: "+format+"\n", args...)
}
