// Command terminalpicture runs the demo debate of the command debate in a real terminal, and draws what the terminal shows
// as an SVG file:
//
//	go run ./internal/terminalpicture docs/images/terminal.svg
//
// It needs tmux.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	columns, rows = 80, 38
	typed         = `debate --store memory "Should cities ban private cars?"`
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: terminalpicture file.svg")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	screen, err := capture(ctx)
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(draw(screen, columns)), 0o644) //nolint:gosec // a document for everybody
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminalpicture:", err)
		os.Exit(1)
	}
}

// capture returns the screen of a terminal in which the demo debate runs, with escape sequences for colours.
func capture(ctx context.Context) (screen string, err error) {
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "debate"), ".")
	build.Dir = filepath.Join("cmd", "debate")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build debate: %w: %s", err, out)
	}
	tmux := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TERM=xterm-256color"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("run tmux %q: %w: %s", args, err, out)
		}
		return string(out), nil
	}
	defer func() { _, _ = tmux("kill-server") }()
	if _, err := tmux("-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "sh"); err != nil {
		return "", err
	}
	for _, step := range []struct {
		types string
		until func(screen string) bool
	}{{"PS1='$ '; clear", isPrompt}, {typed, isStreaming}} {
		if _, err := tmux("send-keys", step.types, "Enter"); err != nil {
			return "", err
		}
		if err := await(ctx, tmux, step.until); err != nil {
			return "", err
		}
	}
	return tmux("capture-pane", "-p", "-e")
}

// isPrompt reports whether a screen shows only the prompt.
func isPrompt(screen string) bool { return strings.TrimSpace(screen) == "$" }

// isStreaming reports whether a screen shows the scores of the first round and half a reply of the second.
func isStreaming(screen string) bool {
	return strings.Contains(screen, "$ "+typed) && strings.Contains(screen, "── round 2 of ") && strings.Contains(screen, "Ada · for · respond\n") && strings.Contains(screen, "\n│ Most reforms look")
}

// await waits until a condition holds for the terminal's screen.
func await(ctx context.Context, tmux func(...string) (string, error), until func(screen string) bool) error {
	for {
		screen, err := tmux("capture-pane", "-p")
		if err != nil || until(screen) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the debate: %w; the terminal shows:\n%s", ctx.Err(), screen)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
