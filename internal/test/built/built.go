// Package built has the programs of the checkout for tests that run them.
package built

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// Program returns the path of the program whose package is in a folder. The go command links it once and keeps it in its build cache, so
// all tests share it until something that it is made of changes. It links without the tables for debuggers, which take half of the time.
func Program(ctx context.Context, folder string) (string, error) {
	path, err := link(ctx, folder)
	if err != nil {
		return "", fmt.Errorf("build program in %s: %w", folder, err)
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) { // it was linked just now in a temporary folder, and is in the cache from now on
		path, err = link(ctx, folder)
	}
	return path, err
}

// link links a program and returns where it is.
func link(ctx context.Context, folder string) (string, error) {
	// go run gives the program to go version, which prints its path.
	c := exec.CommandContext(ctx, "go", "run", "-exec", "go version", "-ldflags=-s -w", ".")
	c.Dir = folder
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, said.String())
	}
	line := strings.TrimSpace(string(out))
	end := strings.LastIndex(line, ": ")
	if end < 0 {
		return "", fmt.Errorf("go version says %q", line)
	}
	return line[:end], nil
}
