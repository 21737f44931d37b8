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

// Error is a panic, or the end of a goroutine by runtime.Goexit.
type Error struct {
	Message string // at most 1 kB
	Stack   string // the stack of the goroutine, at most 8 kB; the innermost calls come first
}

// New returns an Error for the value that recover has returned. A deferred function must call it. If the value is nil,
// the goroutine is being ended by runtime.Goexit.
func New(value any) *Error {
	message := "the goroutine was ended by runtime.Goexit"
	if value != nil {
		message = fmt.Sprint(value)
	}
	return &Error{Message: clip(message, maxMessage), Stack: clip(string(debug.Stack()), maxStack)}
}

// Catch sets an error to the panic of the function that defers it. Defer it directly.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = New(v)
	}
}

// Watch calls f, and then ended, also if f panics or ends the goroutine. ended gets what f did instead of returning, or nil.
// A panic goes no further.
func Watch(f func(), ended func(*Error)) {
	returned := false
	defer func() {
		if returned {
			ended(nil)
			return
		}
		ended(New(recover()))
	}()
	f()
	returned = true
}

// Guard calls f, and ended if f panics or ends the goroutine. exits tells which. A panic goes no further, except one that
// comes while passes is set: Guard does not call ended then.
func Guard(f func(), passes *bool, ended func(e *Error, exits bool)) {
	returned := false
	defer func() {
		if !returned && !*passes {
			v := recover()
			ended(New(v), v == nil)
		}
	}()
	f()
	returned = true
}

// Apart calls f on another goroutine, which f may end, and waits for it. It returns what f did instead of returning, or nil.
func Apart(f func()) *Error {
	done := make(chan *Error)
	go Watch(f, func(e *Error) { done <- e })
	return <-done
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
