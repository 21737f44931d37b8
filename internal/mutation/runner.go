package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// runner runs the tests with one mutant selected.
type runner struct {
	w     io.Writer
	temp  string
	tests []*testBinary
}

// testBinary is the compiled tests of one package.
type testBinary struct {
	path, folder string
	tests        []*test
}

// test is a test function.
type test struct {
	name    string
	took    time.Duration // without a mutant
	reached map[int]bool  // numbers of the mutants that it reaches
}

// newRunner compiles the tests and runs each test function once without a mutant.
func newRunner(ctx context.Context, w io.Writer, c code, m *mutated) (*runner, error) {
	temp, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return nil, fmt.Errorf("prepare tests: %w", err)
	}
	r := &runner{w: w, temp: temp}
	if err := r.compile(ctx, c, m); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// compile compiles the tests with all mutants and measures them.
func (r *runner) compile(ctx context.Context, c code, m *mutated) error {
	overlay, err := r.writeOverlay(c, m)
	if err != nil {
		return err
	}
	for n, pkg := range c.packages {
		b := &testBinary{path: filepath.Join(r.temp, fmt.Sprint(n, ".test")), folder: filepath.Join(c.root, pkg)}
		build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", b.path, pkg) //nolint:gosec // the packages are constants
		build.Dir = c.root
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("compile the tests of %s: %w\n%s", pkg, err, out)
		}
		began := time.Now()
		if err := b.measure(ctx); err != nil {
			return fmt.Errorf("run the tests of %s without a mutant: %w", pkg, err)
		}
		fmt.Fprintf(r.w, "%s: %d tests, %v\n", pkg, len(b.tests), time.Since(began).Round(time.Second))
		r.tests = append(r.tests, b)
	}
	return nil
}

func (r *runner) close() { _ = os.RemoveAll(r.temp) }

// writeOverlay writes the mutated files, and the file that tells the go command to use them.
func (r *runner) writeOverlay(c code, m *mutated) (path string, err error) {
	replace := map[string]string{}
	for name, text := range m.sources {
		original, err := filepath.Abs(filepath.Join(c.root, name))
		if err != nil {
			return "", fmt.Errorf("prepare tests: %w", err)
		}
		replace[original] = filepath.Join(r.temp, filepath.Base(name))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("prepare tests: %w", err)
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("prepare tests: %w", err)
	}
	path = filepath.Join(r.temp, "overlay.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return "", fmt.Errorf("prepare tests: %w", err)
	}
	return path, nil
}

// measure runs each test function without a mutant. It measures how long it takes, and which mutants it reaches.
func (b *testBinary) measure(ctx context.Context) error {
	list := exec.CommandContext(ctx, b.path, "-test.list", ".") //nolint:gosec // it runs the tests that it has compiled
	list.Dir = b.folder
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list tests: %w", err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Example") {
			continue
		}
		t := &test{name: name, reached: map[int]bool{}}
		began, log := time.Now(), b.path+".reached"
		if out, err := b.run(ctx, 10*time.Minute, []*test{t}, "MUTANTS_REACHED="+log); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		t.took = time.Since(began)
		text, err := os.ReadFile(log)
		if os.IsNotExist(err) { // it reaches no mutant
			continue
		}
		if err == nil {
			err = os.Remove(log)
		}
		if err != nil {
			return err
		}
		for number := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			t.reached[n] = true
		}
		b.tests = append(b.tests, t)
	}
	return nil
}

// run runs tests until one fails.
func (b *testBinary) run(ctx context.Context, limit time.Duration, tests []*test, env ...string) (output []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	names := make([]string, len(tests))
	for n, t := range tests {
		names[n] = t.name
	}
	// A mutant may use memory without end.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 8000000; exec "$0" -test.short -test.failfast -test.run "$1"`, //nolint:gosec // it runs the tests that it has compiled
		b.path, "^("+strings.Join(names, "|")+")$")
	cmd.Dir, cmd.Env = b.folder, append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// runAll runs all mutants and notes which survive. It prints a line each minute, or for each mutant if verbose is set.
func (r *runner) runAll(ctx context.Context, mutants []*mutant, workers int, verbose bool) error {
	next := make(chan *mutant)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for x := range next {
				if x.survived = r.survives(ctx, x); verbose {
					fmt.Fprintf(r.w, "%s: survived %v: %s\n", x.name, x.survived, x.noticed)
				}
			}
		})
	}
	printed := time.Now()
	for n, x := range mutants {
		select {
		case next <- x:
		case <-ctx.Done():
		}
		if time.Since(printed) > time.Minute {
			printed = time.Now()
			fmt.Fprintf(r.w, "%d of %d mutants\n", n, len(mutants))
		}
	}
	close(next)
	working.Wait()
	return context.Cause(ctx)
}

// survives reports whether all tests that reach a mutant pass with it. The fastest tests run first. Tests that take much
// longer than without the mutant fail.
func (r *runner) survives(ctx context.Context, x *mutant) bool {
	for _, b := range r.tests {
		var tests []*test
		for _, t := range b.tests {
			if t.reached[x.number] {
				tests = append(tests, t)
			}
		}
		slices.SortFunc(tests, func(a, b *test) int { return cmp.Compare(a.took, b.took) })
		for n := 10; len(tests) > 0; n *= 10 {
			some := tests[:min(n, len(tests))]
			tests = tests[len(some):]
			limit := 30 * time.Second
			for _, t := range some {
				limit += 5 * t.took
			}
			if out, err := b.run(ctx, limit, some, fmt.Sprint("MUTANT=", x.number)); err != nil {
				x.noticed = firstFailure(out)
				return false
			}
		}
	}
	return true
}

// firstFailure returns the line of the tests' output that names the first failure.
func firstFailure(out []byte) string {
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("FAIL")) || bytes.HasPrefix(line, []byte("panic:")) || bytes.HasPrefix(line, []byte("fatal error:")) {
			return string(bytes.TrimSpace(line))
		}
	}
	return "stopped"
}
