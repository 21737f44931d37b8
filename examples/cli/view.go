package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/elenchus-go/debate"
)

// view shows how a debate goes: as lines, and where somebody watches with a frame below them that changes.
type view struct {
	mu sync.Mutex
	*tracker
	print func(lines ...string)
	draw  func(frame) // nil: only lines are shown
	leave func()
}

func plain(w io.Writer) *view {
	return &view{leave: func() {}, print: func(lines ...string) {
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
	}}
}

func (v *view) event(ev debate.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if lines := v.apply(ev); len(lines) > 0 {
		v.print(lines...)
	}
	if v.draw != nil {
		v.draw(v.frame())
	}
}

func (v *view) note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.print(clean(fmt.Sprintf(format, args...)))
}
