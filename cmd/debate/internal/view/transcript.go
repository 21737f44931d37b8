package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/transcript"
)

// lines returns what remains in the terminal of an event: the lines of the transcript.
func (b *board) lines(ev debate.Event) []string {
	switch ev := ev.(type) {
	case debate.TurnDone:
		return b.turnLines(ev.Turn)
	case debate.ToolsCalled:
		return b.callLines(ev)
	case debate.TurnFailed:
		return b.failureLines(ev)
	case debate.Dropped:
		return b.noteLines(warningStyle, fmt.Sprintf("%s dropped out: %v", ev.Name, ev.Failure))
	case debate.Warning:
		return b.noteLines(warningStyle, "warning: "+ev.Text)
	case debate.StateChanged:
		switch {
		case ev.Ending.Outcome != "":
			return append([]string{""}, b.noteLines(faintStyle, b.ending(ev.Ending))...)
		case ev.To == fsm.Paused:
			return b.noteLines(faintStyle, "paused")
		}
	}
	return nil
}

// ending describes why the debate ends. The evidence may quote a judge.
func (b *board) ending(e transcript.Ending) string {
	text := "the debate ends: " + strings.ReplaceAll(string(e.Outcome), "_", " ")
	if !b.hidden && e.Evidence != "" {
		text += ": " + e.Evidence
	}
	return text
}

// headingLines returns the heading of a round or a stage.
func (b *board) headingLines(title string) []string {
	title = truncate(title, b.columns-6)
	return []string{"", headingStyle.Styled("── " + title + " " + strings.Repeat("─", max(b.columns-4-textWidth(title), 0)))}
}

// turnLines returns the heading and the text of a committed turn.
func (b *board) turnLines(t transcript.Turn) []string {
	var details []string
	if t.Usage.Output > 0 { // a model replied
		details = append(details, fmt.Sprintf("%d tokens", t.Usage.Output))
	}
	details = append(details, seconds(t.Ended.Sub(t.Started)))
	for _, f := range t.Flags {
		details = append(details, string(f))
	}
	if t.Kind == transcript.Silence {
		details = []string{"silent in this fork"}
	}
	style := b.style(t.Actor)
	lines := []string{"", b.speaker(t.Key, strings.Join(details, ", "))}
	if !b.hidden {
		text, table := t.Text, []string(nil)
		if list, why, ok := scoresOf(t); ok {
			text, table = why, b.table(list)
		}
		for _, l := range append(b.textLines(text), table...) {
			lines = append(lines, b.textLine(style, l))
		}
		for _, checked := range append(sources.Read(&t), sources.Describe(t.Citations, nil)...) {
			lines = append(lines, b.noteLines(faintStyle, t.Actor+": "+checked)...)
		}
	}
	return lines
}

// callLines returns the lines of each call of a tool of which something is new.
func (b *board) callLines(ev debate.ToolsCalled) (lines []string) {
	if b.calls == nil {
		b.calls = map[string]string{}
	}
	for _, c := range ev.Calls {
		text := c.String()
		if b.hidden {
			text = c.Name
		}
		if b.calls[c.ID] != text {
			b.calls[c.ID], lines = text, append(lines, b.noteLines(faintStyle, ev.Key.Actor+" calls "+text)...)
		}
	}
	return lines
}

// textLines returns the lines of a text.
func (b *board) textLines(text string) []string {
	if text = cleanText(text); text == "" {
		return nil
	}
	return wrap(text, b.columns-gutterColumns)
}

// table returns the lines of scores. The names have the colours of the participants.
func (b *board) table(list []score) []string {
	lines := table(list, b.columns-gutterColumns)
	for i := range lines {
		lines[i] = b.style(list[i].name).Styled(lines[i])
	}
	return lines
}

// failureLines describes a failed attempt. An error that ends the step or makes it wait is complete, except if it is the
// error of the wait before. If another attempt follows at once, the error takes one line of a terminal.
func (b *board) failureLines(e debate.TurnFailed) []string {
	text, before := e.Key.Phase+": "+ActorLabel(e.Key), b.waitsFor
	if b.waitsFor = ""; e.Doubtful {
		return b.noteLines(warningStyle, text+": "+e.Message)
	}
	text += " failed"
	switch {
	case e.RetryIn == 0:
		return []string{warningStyle.Styled(truncate(cleanLine(text+", retrying: "+e.Message), b.columns))}
	case e.RetryIn > 0:
		b.waitsFor = e.Message
		if e.Message == before {
			text += " in the same way"
		}
		text += fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
	}
	if e.Message != before || e.RetryIn < 0 {
		text += ": " + e.Message
	}
	return b.noteLines(warningStyle, text)
}

// noteLines returns the lines of a note.
func (b *board) noteLines(style ansi.Style, text string) (lines []string) {
	lines = wrap(cleanLine(text), b.columns)
	for i := range lines {
		lines[i] = style.Styled(lines[i])
	}
	return lines
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
