package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate/examples/console"
)

// confirm asks a question on the terminal and returns an error unless the answer is yes. With --yes it does not ask. If
// there is no terminal, it returns an error that names --yes.
func (p *program) confirm(question string) error {
	if p.yes {
		return nil
	}
	if !p.canAsk() {
		return exitErrorf(exitArguments, "%s Use --yes to answer yes", question)
	}
	answer, err := p.ask(question + " [y/N] ")
	if err != nil {
		return err
	}
	if answer := strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("not confirmed")
	}
	return nil
}

// canAsk reports whether there is a terminal to ask on.
func (p *program) canAsk() bool { return console.IsTerminal(p.stdin) && console.IsTerminal(p.terminal) }

var errInterrupted = errors.New("interrupted")

// ask prints a question and reads a line. An interrupt ends it.
func (p *program) ask(question string) (string, error) {
	fmt.Fprint(p.stderr, question)
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(p.stdin).ReadString('\n')
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", l.err)
		}
		return l.text, nil
	case <-p.interrupted:
		fmt.Fprintln(p.stderr)
		return "", errInterrupted
	}
}
