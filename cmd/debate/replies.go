package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// errLater reports that a person leaves a question open.
var errLater = errors.New("the reply is left for later")

// declined reports that a person gives no reply.
type declined struct{ reason string }

func (*declined) Error() string { return "declined" }

// readCommand reads a line as readLine does. It returns errLater at the end of the input, and *declined if the person
// declines. The line /read shows a document, and the question is asked again.
func (p *program) readCommand(question string) (string, error) {
	for {
		line, err := p.readLine(question)
		if errors.Is(err, io.EOF) {
			err = errLater
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case err == nil && word == "/decline":
			return line, &declined{rest}
		case err == nil && word == "/read" && p.documentText != nil:
			text, err := p.documentText(rest)
			if err != nil {
				p.warnf("%v", err)
				continue
			}
			p.say(text)
		default:
			return line, err
		}
	}
}

// readText reads a text of several lines. An empty line, or the end of the input, ends it. The line /edit opens an editor
// with the lines so far or, if there are none, with the text that was entered before.
func (p *program) readText(question, before string) (string, error) {
	p.say(question)
	var lines []string
	for {
		line, err := p.readCommand("> ")
		switch {
		case errors.Is(err, errLater) && len(lines) > 0, err == nil && line == "":
			return strings.Join(lines, "\n"), nil
		case err != nil:
			return "", err
		case line == "/edit":
			text, err := p.edit(cmp.Or(strings.Join(lines, "\n"), before))
			if err == nil {
				return text, nil
			}
			p.warnf("%v", err)
		default:
			lines = append(lines, line)
		}
	}
}

// edit opens the editor that EDITOR in the environment names with a text, and returns the changed text.
func (p *program) edit(text string) (string, error) {
	words := strings.Fields(p.env("EDITOR"))
	if len(words) == 0 {
		return "", errors.New("edit reply: EDITOR is not set in the environment")
	}
	f, err := os.CreateTemp("", "reply-*.md")
	if err != nil {
		return "", fmt.Errorf("edit reply: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Close())
	if err != nil {
		return "", fmt.Errorf("edit reply: %w", err)
	}
	cmd := exec.CommandContext(p.ctx, words[0], append(words[1:], f.Name())...) //nolint:gosec // the user names the editor
	if terminal, ok := p.stdin.(*os.File); ok {
		cmd.Stdin = terminal
	}
	cmd.Stdout, cmd.Stderr = p.terminal, p.terminal
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("edit reply: run %s: %w", words[0], err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return "", fmt.Errorf("edit reply: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
