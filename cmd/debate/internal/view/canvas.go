package view

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
)

// canvas holds what a view shows. Its methods may be called concurrently.
type canvas struct {
	status // of the next frame

	mu      sync.Mutex
	board   board
	rows    int       // height of the terminal
	started time.Time // when the view began to draw
	frame   []string  // what was drawn last
}

// skip records an event.
func (c *canvas) skip(ev debate.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.board.IsNew(ev) {
		c.board.record(ev)
	}
}

// record records an event and returns the lines to print.
func (c *canvas) record(ev debate.Event) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.board.IsNew(ev) {
		return nil
	}
	before := c.board.Title
	c.board.record(ev)
	var lines []string
	if c.board.Title != before && c.board.Title != "" {
		lines = c.board.headingLines(c.board.Title)
	}
	return append(lines, c.board.lines(ev)...)
}

// note returns the lines of a note.
func (c *canvas) note(text string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.board.noteLines(plainStyle, text)
}

// resuming returns how far the debate has come, or "" if it has not begun.
func (c *canvas) resuming() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	if c.board.Title != "" {
		parts = append(parts, c.board.Title)
	}
	for _, p := range c.board.Phases() {
		parts = append(parts, formatPhase(p))
	}
	return strings.Join(parts, ", ")
}

// start begins to count the time. No reply is in flight.
func (c *canvas) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.board.streams = time.Now(), nil
}

// stop ends what start began.
func (c *canvas) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapsed += time.Since(c.started)
}

// draw makes the lines that change anew and returns them.
func (c *canvas) draw() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	now := c.status
	now.elapsed += time.Since(c.started)
	c.frame = c.board.frame(frameRows(c.rows), now)
	return c.frame
}

// lastFrame returns the frame that was drawn last.
func (c *canvas) lastFrame() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frame
}

// resize sets the size of the terminal. Some terminals report 0.
func (c *canvas) resize(columns, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = cmp.Or(rows, defaultRows)
	c.board.resize(textColumns(cmp.Or(columns, defaultColumns)))
}

// room returns the number of rows that the frame leaves to the transcript.
func (c *canvas) room() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.rows-frameRows(c.rows)-1, 1)
}
