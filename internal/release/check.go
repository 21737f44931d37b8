package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Packages that the check uses as a user does.
const (
	command = root + "/cmd/debate"   // installed as a command
	sqlite  = root + "/store/sqlite" // imported by the second program
)

// check packs all modules at a version and uses them as a user does.
func check(ctx context.Context, version string) error {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	proxy := filepath.Join(dir, "proxy")
	if err := pack(ctx, proxy, version); err != nil {
		return err
	}
	env, err := environment(ctx, dir, proxy)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	first, err := program(string(readme))
	if err != nil {
		return err
	}
	kept, err := os.ReadFile(filepath.FromSlash("internal/release/testdata/sqlite/main.go"))
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"build the first program of README.md", func() error { return build(ctx, filepath.Join(dir, "first"), env, first, root+"@"+version) }},
		{"build a program that uses SQLite", func() error {
			return build(ctx, filepath.Join(dir, "kept"), env, string(kept), root+"@"+version, sqlite+"@"+version)
		}},
		{"run the program that uses SQLite", func() error { return execute(ctx, filepath.Join(dir, "kept"), env, "./program") }},
		{"build copies of the examples", func() error { return buildExamples(ctx, dir, env, version) }},
		{"install the command", func() error { return execute(ctx, dir, env, "go", "install", command+"@"+version) }},
		{"run the command", func() error { return execute(ctx, dir, env, filepath.Join(dir, "bin", "debate"), "--help") }},
	} {
		fmt.Println("== " + step.name)
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// environment returns the environment of a user who has none of the modules. Other modules come from the module cache
// if it has them.
func environment(ctx context.Context, dir, proxy string) ([]string, error) {
	text, err := output(ctx, ".", nil, "go", "env", "GOMODCACHE", "GOPROXY", "GOFLAGS")
	if err != nil {
		return nil, err
	}
	values := strings.SplitN(text, "\n", 3)
	return []string{
		"GOWORK=off", "GOENV=off", "GOPRIVATE=", "GONOPROXY=",
		"GOPROXY=" + strings.Join([]string{fileURL(proxy), fileURL(filepath.Join(values[0], "cache", "download")), values[1]}, ","),
		"GOSUMDB=off", // the checksum database does not have these versions
		"GOFLAGS=" + strings.TrimSpace(values[2]+" -modcacherw -trimpath"),
		"GOMODCACHE=" + filepath.Join(dir, "modules"), // a new cache, so that an earlier package of the same version is not used
		"GOBIN=" + filepath.Join(dir, "bin"),
	}, nil
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + path
}

// program returns the first Go program of a Markdown text.
func program(text string) (string, error) {
	_, text, found := strings.Cut(text, "```go\n")
	text, _, closed := strings.Cut(text, "```")
	if !found || !closed || !strings.HasPrefix(text, "package main") {
		return "", errors.New("read README.md: its first Go block is not a program")
	}
	return text, nil
}

// build creates a module for a program in a new folder, adds modules as dependencies, and builds it.
func build(ctx context.Context, dir string, env []string, program string, modules ...string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"mod", "init", "example.com/program"},
		append([]string{"get"}, modules...),
		{"get", "."},
		{"build", "-o", "program", "."},
	} {
		if err := execute(ctx, dir, env, "go", args...); err != nil {
			return err
		}
	}
	return nil
}
