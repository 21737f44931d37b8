package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/elenchus-go/debate"
)

// display shows the progress of a debate as lines and, on a terminal, as a frame that changes below the lines.
type display struct {
	mu sync.Mutex
	*tracker
	print func(lines ...string)
	draw  func(frame) // nil if the display shows only lines
	close func()
}

func plainDisplay(w io.Writer) *display {
	return &display{close: func() {}, print: func(lines ...string) {
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
	}}
}

func (v *display) show(ev debate.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if lines := v.observe(ev); len(lines) > 0 {
		v.print(lines...)
	}
	if v.draw != nil {
		v.draw(v.frame())
	}
}

func (v *display) notef(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.print(printableLine(fmt.Sprintf(format, args...)))
}
