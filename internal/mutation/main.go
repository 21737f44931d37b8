// Command mutation makes small changes to the code, one at a time, and checks that the tests notice each one. A change
// is called a mutant; a mutant that no test notices is a survivor.
//
//	go run ./internal/mutation [-only regexp] [-list] [-workers n]
//
// It prints each survivor and fails if there is one that equivalent.txt does not list. That file holds the mutants that
// behave like the original code, or that tests cannot tell from it, each with a reason.
//
// All mutants are compiled into the tests once, with go test -overlay, and a variable of the environment selects one for
// each run. So a mutant costs no build, and the source files are never changed. A mutant that no test reaches survives
// without a run.
//
// The public tools that a Go command can install mutate operators only. The mutants that matter here are removed
// statements and removed conditions, such as a check that another process was first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
)

// options are the flags of the command.
type options struct {
	equivalents string
	only        string
	list        bool
	verbose     bool
	workers     int
}

func main() {
	o := options{equivalents: "internal/mutation/equivalent.txt"}
	flag.StringVar(&o.only, "only", "", "run only mutants whose names match this regular expression")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run none")
	flag.BoolVar(&o.verbose, "v", false, "print which test notices each mutant")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "number of mutants that run at the same time")
	packages := flag.String("packages", strings.Join(engine.packages, ","), "packages whose tests run, separated by commas")
	flag.Parse()
	engine.packages = strings.Split(*packages, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, engine, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutation:", err)
		os.Exit(1)
	}
}

// run mutates the code and reports the survivors. It returns an error if a survivor is not listed in the file of
// equivalent mutants, or if that file lists a mutant that does not exist.
func run(ctx context.Context, w io.Writer, c code, o options) error {
	pattern, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	known, err := readEquivalents(o.equivalents)
	if err != nil {
		return err
	}
	m, err := instrument(c, regexp.MustCompile(c.functions))
	if err != nil {
		return err
	}
	chosen := make([]*mutant, 0, len(m.mutants))
	for _, x := range m.mutants {
		if pattern.MatchString(x.name) {
			chosen = append(chosen, x)
		}
	}
	if o.list {
		for _, x := range chosen {
			fmt.Fprintf(w, "%s:%d\t%s\n", x.file, x.line, x.name)
		}
		return nil
	}
	if err := known.check(m.mutants); err != nil {
		return err
	}
	r, err := newRunner(ctx, w, c, m)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.runAll(ctx, chosen, o.workers, o.verbose); err != nil {
		return err
	}
	return report(w, chosen, known)
}

// report prints the survivors and returns an error if one is not explained.
func report(w io.Writer, mutants []*mutant, known equivalents) error {
	unexplained, explained, noticed := 0, 0, 0
	for _, x := range mutants {
		_, listed := known[x.name]
		switch {
		case !x.survived && listed:
			fmt.Fprintf(w, "%s:%d: listed as equivalent, but a test notices it: %s\n", x.file, x.line, x.name)
			noticed++
		case !x.survived:
			noticed++
		case listed:
			explained++
		default:
			fmt.Fprintf(w, "%s:%d: survived: %s\n", x.file, x.line, x.name)
			unexplained++
		}
	}
	fmt.Fprintf(w, "%d mutants: %d noticed by tests, %d explained in the list, %d unexplained\n", len(mutants), noticed, explained, unexplained)
	if unexplained > 0 {
		return errors.New("mutants survived: add tests, or explain them in the list of equivalent mutants")
	}
	return nil
}
