package main

import "fmt"

// Exit codes.
const (
	exitSuccess       = iota
	exitGeneral       // the debate has no answer, an evaluation does not show what it is required to, or a file cannot be read or written
	exitArguments     // the command line is wrong
	exitProvider      // a provider failed
	exitConfiguration // an API key is missing, or a configuration is wrong
	exitUnsigned      // a record is derived, but no given key has signed all of it
	exitPartly        // a record is derived in part
	exitWrong         // something in a record is wrong
	exitDamaged       // a record cannot be read
)

// exitError is an error with an exit code.
type exitError struct {
	code int
	err  error
}

func (f *exitError) Error() string { return f.err.Error() }

func (f *exitError) Unwrap() error { return f.err }

func exitErrorf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}
