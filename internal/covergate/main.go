// Command covergate reads coverage profiles and fails if the coverage of a part of the library is below its target.
//
//	go run ./internal/covergate [-root dir] profile...
//
// Coverage is counted in statements. A folder's figure covers its whole tree; each file named errors.go also has its
// own target. Test suites that other packages call, such as store/storetest, are excluded, because their branches that
// report failures normally do not run. A target whose code no profile contains is a failure too, so the gate never
// passes by accident.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	root := flag.String("root", ".", "folder of the library")
	flag.Parse()
	if err := run(os.Stdout, *root, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "covergate:", err)
		os.Exit(1)
	}
}

// run measures all profiles together, prints the table, and returns an error if a target is not met.
func run(w io.Writer, root string, paths []string) error {
	if len(paths) == 0 {
		return errors.New("read profiles: none given")
	}
	p := profile{}
	for _, path := range paths {
		if err := p.readFile(path); err != nil {
			return err
		}
	}
	rows, err := measure(p, os.DirFS(root), targets)
	if err != nil {
		return err
	}
	if err := writeTable(w, rows); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return verdict(rows)
}
