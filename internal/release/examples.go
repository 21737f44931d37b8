package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// buildExamples builds the examples of each module after their folders were copied into another module, as examples/README.md tells
// users to do. Tests are left out: they use internal packages.
func buildExamples(ctx context.Context, dir string, env []string, version string) error {
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	for _, m := range all {
		outside := filepath.Join(dir, "examples", filepath.Base(m.dir))
		copied, err := m.copyExamples(outside)
		if err != nil {
			return err
		}
		if len(copied) == 0 {
			continue
		}
		mod, err := m.released(ctx, version)
		if err != nil {
			return err
		}
		text := moduleLine.ReplaceAllString(string(mod), "module example.com/program")
		if m.path == root {
			text += "\nrequire " + root + " " + version + "\n"
		}
		if err := os.WriteFile(filepath.Join(outside, "go.mod"), []byte(text), 0o644); err != nil {
			return err
		}
		if err := execute(ctx, outside, env, "go", "build", "-mod=mod", "./..."); err != nil {
			return err
		}
	}
	return nil
}

// moduleLine matches the line of a go.mod that names the module.
var moduleLine = regexp.MustCompile(`(?m)^module .*$`)

// copyExamples copies the folders of the module's examples, without tests, and returns their names.
func (m *module) copyExamples(to string) (names []string, err error) {
	above := path.Join(m.dir, "examples")
	if strings.HasPrefix(m.dir, "examples/") {
		above = m.dir
	}
	for _, name := range m.files {
		place, isExample := strings.CutPrefix(name, above+"/")
		folder, _, isBelow := strings.Cut(place, "/")
		if !isExample || !isBelow || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		target := filepath.Join(to, filepath.FromSlash(place))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return nil, err
		}
		names = append(names, folder)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
