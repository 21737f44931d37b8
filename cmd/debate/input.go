package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/report/printer"
)

// baseName returns the name of a file without its folder and its extension.
func baseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// standardInput is the name of standard input in place of a file.
const standardInput = "-"

// readInput returns what standard input holds. user is the flag or the argument that reads it, for errors: only one can.
func (p *program) readInput(user string) ([]byte, error) {
	if p.inputUser != "" {
		return nil, exitErrorf(exitInput, "read arguments: %s and %s both read standard input, want only one of them", p.inputUser, user)
	}
	if len(p.me) > 0 {
		return nil, exitErrorf(exitInput, "read arguments: %s reads standard input, on which --me asks for replies; use a file", user)
	}
	p.inputUser = user
	text, err := io.ReadAll(io.LimitReader(p.stdin, evidence.MaxSize+1))
	switch {
	case err != nil:
		return nil, exitErrorf(exitInput, "%s: read standard input: %w", user, err)
	case len(text) > evidence.MaxSize:
		return nil, exitErrorf(exitInput, "%s: read standard input: it has more than %d bytes", user, evidence.MaxSize)
	}
	return text, nil
}

// hasInput reports whether standard input is a file or a pipe that nobody has read yet.
func (p *program) hasInput() bool {
	return p.inputUser == "" && len(p.me) == 0 && !printer.IsTerminal(p.stdin)
}

// readTextFrom returns the text of a file or of standard input, without white space around it. Errors name what the text is.
func (p *program) readTextFrom(what, user, path string) (string, error) {
	if path != standardInput {
		return readText(what, path)
	}
	b, err := p.readInput(user)
	if err != nil {
		return "", err
	}
	return textOf(what, "standard input", b)
}

// textOf returns the text that a file holds, without white space around it.
func textOf(what, path string, b []byte) (string, error) {
	text, ok := decodeText(b)
	if !ok {
		return "", exitErrorf(exitInput, "read %s: %s is not UTF-8 text", what, path)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "", exitErrorf(exitInput, "read %s: %s is blank", what, path)
	}
	return string(text), nil
}

// openOperand opens the file of the first operand, or standard input, which a command reads as its tasks, pairs and the like.
func (p *program) openOperand(what string) (io.ReadCloser, error) {
	if p.operands[0] != standardInput {
		f, err := os.Open(p.operands[0])
		if err != nil {
			return nil, exitErrorf(exitInput, "read %s: %w", what, err)
		}
		return f, nil
	}
	b, err := p.readInput(p.command)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, exitErrorf(exitInput, "read %s: standard input is blank", what)
	}
	p.inputHash = evidence.Hash(string(b))
	return io.NopCloser(bytes.NewReader(b)), nil
}

// operandName returns the name of what the first operand holds: that of the file, or of standard input with the beginning of its hash, so
// that another input is not taken for the continuation of this one.
func (p *program) operandName() string {
	if p.operands[0] == standardInput {
		return "stdin-" + p.inputHash[:8]
	}
	return baseName(p.operands[0])
}

// isMissing reports whether an error says that there is no file of a name.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// inputTopic returns the topic that standard input holds, if there is no other one.
func (p *program) inputTopic() (string, error) {
	const none = "read topic: no topic given, want an argument, --file or standard input; see debate --help"
	others := slices.Concat(p.docs, p.backgrounds)
	if !p.hasInput() || slices.Contains(others, standardInput) {
		return "", exitErrorf(exitInput, none)
	}
	b, err := p.readInput("the topic")
	if err != nil {
		return "", fmt.Errorf("read topic: %w", err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return "", exitErrorf(exitInput, none)
	}
	return textOf("topic", "standard input", b)
}

// readText returns the text of a file, without white space around it. Errors name what the text is.
func readText(what, path string) (string, error) {
	if isDirectory(path) {
		return "", exitErrorf(exitInput, "read %s: %s is a directory, want a file", what, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", exitErrorf(exitInput, "read %s: %w", what, err)
	}
	return textOf(what, path, b)
}
