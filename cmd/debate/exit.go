package main

import (
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/runs"
)

// Exit codes.
const (
	exitSuccess  = iota
	exitGeneral  // the debate has no answer, an evaluation does not show what it is required to, or a file cannot be written
	exitInput    // the command line, a configuration or another file that the command reads is wrong
	exitProvider // a provider failed
	exitKey      // an API key is missing
	exitUnsigned // a record is derived, but no given key has signed all of it
	exitPartly   // a record is derived in part
	exitWrong    // something in a record is wrong
	exitDamaged  // a record cannot be read

	exitAnother   = 10 // the debate has decided otherwise than --pass wants
	exitUndecided = 11 // the debate has decided nothing, or not surely enough for --min-confidence
)

// exitCode returns the exit code for an error. The problems of a configuration, an evaluation and the like have one code,
// whichever fields have them, and whether the command line or a file sets these fields.
func exitCode(err error) int {
	if err == nil {
		return exitSuccess
	}
	if own, ok := errors.AsType[*exitError](err); ok {
		return own.code
	}
	if _, ok := errors.AsType[*debate.Problems](err); ok {
		return exitInput
	}
	if _, ok := errors.AsType[*runs.Mistakes](err); ok {
		return exitInput
	}
	return exitGeneral
}

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
