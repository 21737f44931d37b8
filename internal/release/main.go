// Command release prepares releases of all modules of this repository at one version.
//
//	go run ./internal/release require VERSION
//
// sets the requirements between the modules of this repository to that version, in their go.mod files and in go.work.
//
//	go run ./internal/release check [VERSION]
//
// packs the modules of this checkout, including uncommitted changes, as they would be published at that version, into a
// module proxy in a temporary folder. From an empty folder it then builds the first program of README.md, runs a
// program that stores a debate in SQLite, and installs the command, as a user does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "require":
		return requireVersion(ctx, args[1])
	case len(args) == 2 && args[0] == "check":
		return check(ctx, args[1])
	case len(args) == 1 && args[0] == "check":
		return check(ctx, "v0.0.0-check")
	}
	return errors.New("usage: release require VERSION or release check [VERSION]")
}
