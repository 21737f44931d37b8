package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// root is the module path of the root. The paths of nested modules begin with it.
const root = "github.com/elenchus-go/debate"

// module is a module of this repository.
type module struct {
	path  string
	dir   string   // relative to the root, with slashes; "." for the root module
	files []string // relative to the root, with slashes
}

// modules returns the modules of the checkout in the working directory: the root first, then nested ones ordered by
// folder. The modules internal/outside and internal/tools are not published and not
// returned.
func modules(ctx context.Context) ([]*module, error) {
	// The checkout may belong to another user, as in a container.
	out, err := output(ctx, ".", nil, "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(strings.Split(out, "\x00"), func(name string) bool {
		info, err := os.Lstat(filepath.FromSlash(name))
		return err != nil || !info.Mode().IsRegular()
	})
	slices.Sort(files)
	all := map[string]*module{}
	for _, name := range files {
		if path.Base(name) == "go.mod" {
			dir := path.Dir(name)
			all[dir] = &module{path: path.Join(root, dir), dir: dir}
		}
	}
	for _, name := range files {
		dir := path.Dir(name)
		for all[dir] == nil && dir != "." {
			dir = path.Dir(dir)
		}
		if m := all[dir]; m != nil {
			m.files = append(m.files, name)
		}
	}
	var list []*module
	for dir, m := range all {
		if !strings.HasPrefix(dir, "internal/outside") && dir != "internal/tools" {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// released returns the module's go.mod with its requirements of other modules of this repository set to a version.
func (m *module) released(ctx context.Context, version string) ([]byte, error) {
	name := filepath.Join(filepath.FromSlash(m.dir), "go.mod")
	parsed, err := edit(ctx, name, "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct{ Path string }
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(parsed), &mod); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, r := range mod.Replace {
		return nil, fmt.Errorf("read %s: it replaces %s, so go install cannot install its commands", name, r.Old.Path)
	}
	args := []string{"-print"}
	for _, r := range mod.Require {
		if strings.HasPrefix(r.Path, root+"/") || r.Path == root {
			args = append(args, "-require="+r.Path+"@"+version)
		}
	}
	text, err := edit(ctx, name, args...)
	return []byte(text), err
}

// replaced matches the version in a replace directive of go.work.
var replaced = regexp.MustCompile(` v\S+ => `)

// requireVersion makes nested modules require each other at a version, and makes go.work replace that version.
func requireVersion(ctx context.Context, version string) error {
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		text, err := m.released(ctx, version)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(filepath.FromSlash(m.dir), "go.mod"), text, 0o644); err != nil {
			return err
		}
	}
	work, err := os.ReadFile("go.work")
	if err != nil {
		return err
	}
	return os.WriteFile("go.work", replaced.ReplaceAll(work, []byte(" "+version+" => ")), 0o644)
}

func edit(ctx context.Context, name string, args ...string) (string, error) {
	return output(ctx, ".", nil, "go", append(append([]string{"mod", "edit"}, args...), name)...)
}

// output runs a command in a folder with additional environment variables, and returns its standard output.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run %s: %w: %s%s", strings.Join(cmd.Args, " "), err, stderr.Bytes(), out)
	}
	return string(out), nil
}
