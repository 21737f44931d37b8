// Package panics turns panics of code that the library calls into errors.
package panics

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// The largest sizes, in bytes.
const (
	maxMessage = 1 << 10
	maxStack   = 8 << 10
)

// Error is a panic.
type Error struct {
	Message string // at most 1 kB
	Stack   string // the stack of the goroutine, at most 8 kB; the innermost calls come first
}

// New returns an Error for the value that recover has returned. A deferred function must call it.
func New(value any) *Error {
	return &Error{Message: clip(fmt.Sprint(value), maxMessage), Stack: clip(string(debug.Stack()), maxStack)}
}

// Catch sets an error to the panic of the function that defers it. Defer it directly.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = New(v)
	}
}

// Call calls f. It returns a panic of f as an *Error.
func Call(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// Error returns the message, without the stack.
func (e *Error) Error() string { return e.Message }

// clip returns at most n bytes of text, as valid UTF-8.
func clip(text string, n int) string {
	const mark = "\n[cut]"
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len(mark)], "") + mark
}
