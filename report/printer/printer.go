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
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
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

	printed  bool              // something was printed
	seq      int64             // of the last durable event
	title    string            // of the last heading
	sides    map[string]string // sides of participants
	waitsFor string            // message of the last failed attempt if it made its step wait
	parallel bool              // several actors speak at the same time
	showing  transcript.Key    // key of the turn that is printed while it streams
	column   int               // bytes in its last line
	held     string            // the beginning of a quote in it that has not ended
	calls    map[string]string // the line of each call of a tool, by its ID
}

// Skip records an event of the past without printing it.
func (p *Printer) Skip(ev debate.Event) {
	if p.isNew(ev) {
		p.record(ev)
	}
}

// Show prints an event. It ignores durable events that it has recorded before. Errors of Output are ignored.
func (p *Printer) Show(ev debate.Event) {
	if !p.isNew(ev) {
		return
	}
	before := p.title
	if p.record(ev); p.title != before && p.title != "" {
		p.print("", "== "+p.title+" ==")
	}
	if c, ok := ev.(debate.Chunk); ok {
		p.stream(c)
		return
	}
	p.print(p.lines(ev)...)
}

// Notef prints a line that is not part of the debate.
func (p *Printer) Notef(format string, args ...any) { p.print(oneLine(fmt.Sprintf(format, args...))) }

func (p *Printer) isNew(ev debate.Event) bool {
	m := ev.Meta()
	if !m.Live && m.Seq <= p.seq {
		return false
	}
	if !m.Live {
		p.seq = m.Seq
	}
	return true
}

func (p *Printer) record(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		var c struct {
			Participants, Judges []struct{ Name, Side string }
		}
		_ = json.Unmarshal(ev.Config, &c) // otherwise, names appear without their sides
		p.sides = map[string]string{}
		for _, s := range append(c.Participants, c.Judges...) {
			p.sides[s.Name] = s.Side
		}
	case debate.PhaseStarted:
		p.parallel = ev.Parallel
		switch {
		case ev.Stage == transcript.Setup || ev.Stage == transcript.Conclusion:
			p.title = string(ev.Stage)
		case ev.Rounds == 0:
			p.title = fmt.Sprintf("round %d", ev.Round)
		default:
			p.title = fmt.Sprintf("round %d of %d", ev.Round, ev.Rounds)
		}
	case debate.StateChanged:
		if ev.On == fsm.Reset {
			p.title = ""
		}
	}
}

// lines returns the lines of an event.
func (p *Printer) lines(ev debate.Event) []string {
	switch ev := ev.(type) {
	case debate.TurnDone:
		return append(p.turnLines(&ev.Turn), p.citationLines(&ev.Turn)...)
	case debate.ToolsCalled:
		return p.callLines(ev)
	case debate.TurnFailed:
		return []string{p.failure(ev)}
	case debate.Dropped:
		return []string{oneLine(fmt.Sprintf("%s dropped out: %v", ev.Name, ev.Failure))}
	case debate.Warning:
		return []string{oneLine("warning: " + ev.Text)}
	case debate.StateChanged:
		switch {
		case ev.Ending.Outcome != "":
			text := "the debate ends: " + strings.ReplaceAll(string(ev.Ending.Outcome), "_", " ")
			if !p.HideTexts && ev.Ending.Evidence != "" { // it may quote a judge
				text += ": " + ev.Ending.Evidence
			}
			return []string{"", oneLine(text)}
		case ev.To == fsm.Paused:
			return []string{"paused"}
		}
	}
	return nil
}

// turnLines returns the heading and the text of a turn, unless they were printed while it streamed.
func (p *Printer) turnLines(t *transcript.Turn) []string {
	if p.showing == t.Key {
		p.endStream()
		if len(t.Flags) == 0 {
			return nil
		}
		return []string{p.heading(t.Key) + " · " + flagsOf(t)}
	}
	var details []string
	if t.Usage.Output > 0 { // a model replied
		details = append(details, fmt.Sprintf("%d tokens", t.Usage.Output))
	}
	details = append(details, fmt.Sprintf("%.1fs", t.Ended.Sub(t.Started).Seconds()))
	if len(t.Flags) > 0 {
		details = append(details, flagsOf(t))
	}
	if t.Kind == transcript.Silence {
		details = []string{"silent in this fork"}
	}
	lines := []string{"", p.heading(t.Key) + " · " + strings.Join(details, ", ")}
	if p.HideTexts {
		return lines
	}
	text, scores := t.Text, []Score(nil)
	if list, why, ok := Scores(t); ok {
		text, scores = why, list
	}
	text = strings.TrimSpace(clean(sources.Readable(text)))
	if text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimRight("  "+line, " "))
		}
	}
	return append(lines, table(scores)...)
}

// flagsOf returns the flags of a turn, which say how its reply was obtained.
func flagsOf(t *transcript.Turn) string {
	var list []string
	for _, f := range t.Flags {
		list = append(list, string(f))
	}
	return strings.Join(list, ", ")
}

// citationLines returns what the model of a turn has read, and what the check of its citations has found. The lines are not
// indented, so that no speaker can imitate them.
func (p *Printer) citationLines(t *transcript.Turn) (lines []string) {
	if p.HideTexts {
		return nil
	}
	for _, line := range append(sources.Read(t), sources.Describe(t.Citations, nil)...) {
		lines = append(lines, oneLine(t.Actor+": "+line))
	}
	return lines
}

// callLines returns a line for each call of a tool of which something is new.
func (p *Printer) callLines(ev debate.ToolsCalled) (lines []string) {
	if p.calls == nil {
		p.calls = map[string]string{}
	}
	for _, c := range ev.Calls {
		line := "calls " + c.String()
		if p.HideTexts {
			line = "calls " + c.Name
		}
		if line = oneLine(ev.Key.Actor + " " + line); p.calls[c.ID] != line {
			p.calls[c.ID], lines = line, append(lines, line)
		}
	}
	return lines
}

// heading returns the actor of a step, its side, its phase and its target.
func (p *Printer) heading(k transcript.Key) string {
	about := oneLine(k.Phase)
	if k.Target != "" {
		about += ", " + oneLine(k.Target)
	}
	if side := p.sides[k.Actor]; side != "" && side != k.Actor {
		about = oneLine(side) + " · " + about
	}
	return oneLine(k.Actor) + " · " + about
}

// failure describes a failed attempt, with its complete cause unless that is the one of the attempt before. A reply that
// contradicts itself is no failure: the message says what the contradiction is.
func (p *Printer) failure(e debate.TurnFailed) string {
	p.endStream()
	actor := e.Key.Actor
	if e.Key.Target != "" {
		actor += " (" + e.Key.Target + ")"
	}
	text, before := e.Key.Phase+": "+actor, p.waitsFor
	if p.waitsFor = ""; e.Doubtful {
		return oneLine(text + ": " + e.Message)
	}
	text += " failed"
	switch {
	case e.RetryIn == 0:
		text += ", retrying"
	case e.RetryIn > 0:
		if p.waitsFor = e.Message; e.Message == before {
			text += " in the same way"
		}
		text += fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
	}
	if e.Message != before || e.RetryIn <= 0 {
		text += ": " + e.Message
	}
	return oneLine(text)
}

// stream prints a part of a reply if it is prose. The text of other turns is printed when they are complete.
func (p *Printer) stream(c debate.Chunk) {
	if !p.Live || p.parallel || p.HideTexts {
		return
	}
	if c.Offset == 0 {
		if p.endStream(); strings.HasPrefix(strings.TrimLeft(c.Text, " \n`"), "{") {
			return
		}
		p.print("", p.heading(c.Key))
		p.showing, p.column = c.Key, 0
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
		if p.column += len(line); strings.HasSuffix(line, "\n") {
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
