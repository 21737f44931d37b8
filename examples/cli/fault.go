package main

import "fmt"

// The exit codes.
const (
	success       = iota
	general       // the debate has come to no answer, or a file cannot be read or written
	arguments     // the command line is wrong
	service       // a provider failed
	configuration // a key is missing, or a configuration is wrong
)

// fault is an error with the exit code that it leads to.
type fault struct {
	code int
	err  error
}

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

func fail(code int, format string, args ...any) error {
	return &fault{code, fmt.Errorf(format, args...)}
}
