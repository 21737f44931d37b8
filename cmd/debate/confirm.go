package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate/report/printer"
)

// confirm asks a question on the terminal and returns an error unless the answer is yes. With --yes it does not ask. If
// there is no terminal, it returns an error that names --yes.
func (p *program) confirm(question string) error {
	if p.yes {
		return nil
	}
	if !p.canAsk() {
		return exitErrorf(exitInput, "%s Use --yes to answer yes", question)
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
func (p *program) canAsk() bool { return printer.IsTerminal(p.stdin) && printer.IsTerminal(p.terminal) }

var errInterrupted = errors.New("interrupted")

// ask prints a question and reads a line, which is empty at the end of the input. An interrupt ends it.
func (p *program) ask(question string) (string, error) {
	text, err := p.readLine(question)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, err
}

// readLine asks a question and returns the answer, or io.EOF at the end of the input. Ctrl-D ends the input once.
func (p *program) readLine(question string) (string, error) {
	fmt.Fprint(p.stderr, question)
	if p.input == nil {
		p.input = bufio.NewReader(p.stdin)
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := p.input.ReadString('\n')
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		switch {
		case l.err == nil || l.text != "" && errors.Is(l.err, io.EOF):
			return l.text, nil
		case errors.Is(l.err, io.EOF):
			fmt.Fprintln(p.stderr)
			return "", io.EOF
		}
		return "", fmt.Errorf("read answer: %w", l.err)
	case <-p.interrupted:
		fmt.Fprintln(p.stderr)
		return "", errInterrupted
	}
}
