package core

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// ErrUnsupported reports that an engine lacks something that a debate needs.
var ErrUnsupported = errors.New("not supported by this engine")

// Unsupported makes an ErrUnsupported: it says what a debate needs and this engine lacks.
type Unsupported struct {
	Missing []string // what the engine lacks, and where it is needed
}

func (u *Unsupported) Error() string {
	return fmt.Sprintf("%s: %v", strings.Join(u.Missing, "; "), ErrUnsupported)
}

func (u *Unsupported) Unwrap() error { return ErrUnsupported }

// LackError returns an ErrUnsupported about what an engine lacks, or nil if the list is empty.
func LackError(list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	u := &Unsupported{}
	for _, p := range list {
		u.Missing = append(u.Missing, p.String())
	}
	return u
}

// ProblemList collects the problems of a check.
type ProblemList struct{ Problems []protocol.Problem }

// Add adds a problem with a field.
func (l *ProblemList) Add(field, format string, args ...any) {
	l.Problems = append(l.Problems, protocol.Problemf(field, format, args...))
}

// Limits adds a problem for each invalid limit, and sets it to 0.
func (l *ProblemList) Limits(is *journal.Limits) {
	valid, found := is.Valid()
	*is = valid
	l.Problems = append(l.Problems, found...)
}

// Same adds a problem if two values of a field differ.
func (l *ProblemList) Same(field, problem string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		l.Add(field, "%s", problem)
	}
}

// ProblemsError returns a *Problems about a configuration, or nil if the list is empty.
func ProblemsError(list []protocol.Problem) error { return ProblemsOf("", list) }

// ProblemsOf returns a *Problems about the subject, or nil if the list is empty.
func ProblemsOf(subject string, list []protocol.Problem) error {
	if len(list) == 0 {
		return nil
	}
	return &journal.Problems{List: list, Subject: subject}
}

// ProblemOf returns *Problems about the subject with one problem.
func ProblemOf(subject, field, format string, args ...any) error {
	return &journal.Problems{
		List:    []protocol.Problem{protocol.Problemf(field, format, args...)},
		Subject: subject,
	}
}

// PanicFailure returns the failure for a panic outside of a step, which happened at a time, in a round and phase of a run.
func PanicFailure(p *panics.Error, key transcript.Key, at time.Time) *journal.Failure {
	e := &providers.Error{Kind: providers.Panic, Err: p}
	return &journal.Failure{
		Key:         key,
		Kind:        e.Kind,
		At:          at.UTC(),
		Message:     e.Error(),
		Stack:       p.Stack,
		Recoverable: true,
		Cause:       e,
	}
}
