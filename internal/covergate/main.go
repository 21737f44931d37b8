// Command covergate reads coverage profiles and fails where a part of the library is tested less than its target.
//
//	go run ./internal/covergate [-root dir] profile...
//
// Coverage is counted in statements. A folder's figure covers its whole tree; files named errors.go count one by one.
// Suites that other packages' tests call, such as store/storetest, are left out: the branches that report a failure are
// not meant to run. A target whose code no profile mentions is a failure too, so the gate never passes by accident.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	root := flag.String("root", ".", "the folder of the library")
	flag.Parse()
	if err := run(os.Stdout, *root, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "covergate:", err)
		os.Exit(1)
	}
}

// run measures all profiles together, prints the table, and says what is wrong with it.
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
