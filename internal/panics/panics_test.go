package panics

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// recovered returns the error for what f does.
func recovered(f func()) (err *Error) {
	var done sync.WaitGroup
	done.Go(func() {
		defer func() { err = New(recover()) }()
		f()
	})
	done.Wait()
	return err
}

func deep(n int) {
	if n == 0 {
		panic(strings.Repeat("é", 5000))
	}
	deep(n - 1)
}

func TestNew(t *testing.T) {
	for name, tt := range map[string]struct {
		f           func()
		text, frame string
	}{
		"a panic":         {func() { panic("a bug") }, "a bug", "panics.TestNew"},
		"a runtime error": {func() { var m map[string]int; m["x"]++ }, "assignment to entry in nil map", "panics.TestNew"}, //nolint:staticcheck // tested
		"an error":        {func() { panic(errors.New("broken")) }, "broken", "panics.TestNew"},
		"nil":             {func() { panic(nil) }, "panic called with nil argument", "panics.TestNew"}, //nolint:govet // tested
		"a deep stack":    {func() { deep(1000) }, "éé", "panics.deep"},
	} {
		t.Run(name, func(t *testing.T) {
			err := recovered(tt.f)
			require.True(t, strings.HasPrefix(err.Error(), tt.text), err.Error())
			require.Contains(t, err.Stack, tt.frame)
			require.LessOrEqual(t, len(err.Message), maxMessage)
			require.LessOrEqual(t, len(err.Stack), maxStack)
			require.True(t, utf8.ValidString(err.Message) && utf8.ValidString(err.Stack))
		})
	}
}

func TestCall(t *testing.T) {
	ran := false
	require.NoError(t, Call(func() { ran = true }))
	require.True(t, ran)
	err := Call(func() { panic("a bug") })
	require.EqualError(t, err, "a bug")
	var panicked *Error
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, panicked.Stack, "panics.TestCall")
}
