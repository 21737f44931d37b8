// Package printer prints a debate while it runs, as plain lines for a terminal, a log or a file. The command debate prints the
// same lines with --plain.
//
//	p := printer.Printer{Output: os.Stdout}
//	for event, err := range d.Run(ctx) {
//		if err != nil {
//			return err
//		}
//		p.Show(event)
//	}
//
// Pass the events of [debate.Debate.Replay] to [Printer.Skip] first: then headings name the sides of participants, and a debate
// that continues does not begin anew. It prints rounds, turns, scores, calls of tools and what the check of quotes has found in one
// line each, failed attempts with their complete causes, warnings and the end. The reply of a judge appears as text, never as JSON.
package printer

import (
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/transcript"
)

// Printer prints the events of one debate. It is not safe for concurrent use. Do not copy it after the first event.
type Printer struct {
	Output io.Writer // required
	// Live prints prose while it streams, without its number of tokens and its time. Replies in a parallel phase and structured
	// replies appear when they are complete.
	Live bool
	// HideTexts prints who speaks, but no text and no score, for a reader who takes part in the debate and may not read
	// everything.
	HideTexts bool

	teller  readmodel.Teller
	printed bool           // something was printed
	showing transcript.Key // key of the turn that is printed while it streams
	column  int            // bytes in its last line
	held    string         // the beginning of a quote in it that has not ended
}

// Skip records an event of the past without printing it.
func (p *Printer) Skip(ev debate.Event) {
	if p.teller.IsNew(ev) {
		p.teller.Record(ev)
	}
}

// Show prints an event. It ignores durable events that it has recorded before. Errors of Output are ignored.
func (p *Printer) Show(ev debate.Event) {
	if !p.teller.IsNew(ev) {
		return
	}
	p.teller.HideTexts = p.HideTexts
	before := p.teller.Title
	p.teller.Record(ev)
	if p.teller.Title != before && p.teller.Title != "" {
		p.print("", "== "+p.teller.Title+" ==")
	}
	chunk, ok := ev.(debate.Chunk)
	if ok {
		p.stream(chunk)
		return
	}
	for _, told := range p.teller.Tell(ev) {
		p.print(p.lines(told)...)
	}
}

// Notef prints a line that is not part of the debate.
func (p *Printer) Notef(format string, args ...any) { p.print(oneLine(fmt.Sprintf(format, args...))) }

// lines returns the lines of what is told of an event. Those of notes are not indented, so that no speaker can imitate them.
func (p *Printer) lines(told readmodel.Told) []string {
	switch told.Kind {
	case readmodel.Turn:
		return p.turnLines(told)
	case readmodel.End:
		return []string{"", oneLine(told.Text)}
	case readmodel.Note, readmodel.Warning, readmodel.Retry: // one line
	}
	return []string{oneLine(told.Text)}
}

// turnLines returns the heading and the text of a turn, unless they were printed while it streamed.
func (p *Printer) turnLines(told readmodel.Told) []string {
	heading := p.heading(told.Key) + " · "
	if p.showing == told.Key {
		p.endStream()
		if told.Flags == "" {
			return nil
		}
		return []string{heading + told.Flags}
	}
	lines := []string{"", heading + told.Details}
	text := strings.TrimSpace(clean(told.Text))
	if text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRight("  "+line, " "))
		}
	}
	return append(lines, table(told.Scores)...)
}

// heading returns the actor of a step, its side, its phase and its target.
func (p *Printer) heading(k transcript.Key) string {
	return oneLine(k.Actor) + " · " + oneLine(p.teller.About(k))
}

// stream prints a part of a reply if it is prose. The text of other turns is printed when they are complete.
func (p *Printer) stream(c debate.Chunk) {
	if !p.Live || p.teller.Parallel || p.HideTexts {
		return
	}
	if c.Offset == 0 {
		p.endStream()
		if strings.HasPrefix(strings.TrimLeft(c.Text, " \n`"), "{") {
			return
		}
		p.print("", p.heading(c.Key))
		p.showing = c.Key
		p.column = 0
		p.held = ""
	}
	if p.showing != c.Key {
		return
	}
	text := p.held + c.Text
	n := beforeOpenQuote(text)
	p.held = text[n:]
	p.writeIndented(text[:n])
}

// writeIndented writes a part of a reply, whose lines are indented.
func (p *Printer) writeIndented(text string) {
	for line := range strings.Lines(clean(sources.Readable(text))) {
		if p.column == 0 && line != "\n" {
			p.write("  ")
		}
		p.column += len(line)
		if strings.HasSuffix(line, "\n") {
			p.column = 0
		}
		p.write(line)
	}
}

// endStream ends the line of a reply that is printed while it streams.
func (p *Printer) endStream() {
	if p.showing != (transcript.Key{}) {
		p.writeIndented(p.held)
		p.held = ""
		p.write("\n")
	}
	p.showing = transcript.Key{}
}

// print prints lines. The first line of all is not empty.
func (p *Printer) print(lines ...string) {
	if len(lines) == 0 {
		return
	}
	p.endStream()
	if !p.printed && lines[0] == "" {
		lines = lines[1:]
	}
	p.write(strings.Join(lines, "\n") + "\n")
}

func (p *Printer) write(text string) {
	p.printed = true
	_, _ = io.WriteString(p.Output, text) // the debate continues without its display
}
