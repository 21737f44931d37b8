package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// lines returns what remains in the terminal of an event that is about to be recorded: the lines of the transcript.
func (b *board) lines(ev debate.Event) []string {
	switch ev := ev.(type) {
	case debate.TurnDone:
		return b.turnLines(ev.Turn)
	case debate.TurnFailed:
		return b.failureLines(ev)
	case debate.Dropped:
		return b.noteLines(warningStyle, fmt.Sprintf("%s dropped out: %v", ev.Name, ev.Failure))
	case debate.Warning:
		return b.noteLines(warningStyle, "warning: "+ev.Text)
	case debate.StateChanged:
		switch {
		case ev.Ending.Outcome != "":
			return b.noteLines(faintStyle, fmt.Sprintf("the debate ends: %s: %s", ev.Ending.Outcome, ev.Ending.Evidence))
		case ev.To == fsm.Paused:
			return b.noteLines(faintStyle, "paused")
		}
	}
	return nil
}

// headingLines returns the heading of a round or a stage.
func (b *board) headingLines(title string) []string {
	if b.columns == 0 {
		return []string{"", "== " + title + " =="}
	}
	title = truncate(title, b.columns-6)
	return []string{"", headingStyle.Styled("── " + title + " " + strings.Repeat("─", max(b.columns-4-textWidth(title), 0)))}
}

// turnLines returns the heading and the text of a committed turn.
func (b *board) turnLines(t transcript.Turn) []string {
	details := []string{fmt.Sprintf("%d tokens", t.Usage.Output), seconds(t.Ended.Sub(t.Started))}
	for _, f := range t.Flags {
		details = append(details, string(f))
	}
	style := b.style(t.Actor)
	lines := []string{"", b.speaker(t.Key, strings.Join(details, ", "))}
	if !b.hidden {
		text, table := t.Text, []string(nil)
		if list, why, ok := scoresOf(t); ok {
			text, table = why, b.table(list)
		}
		for _, l := range append(b.textLines(text), table...) {
			lines = append(lines, strings.TrimRight(style.Styled(b.gutter())+l, " "))
		}
	}
	return lines
}

// gutter returns what precedes each line of a turn.
func (b *board) gutter() string {
	if b.columns == 0 {
		return "  "
	}
	return "│ "
}

const gutterColumns = 2

// textLines returns the lines of a text. They are not wrapped if the output is plain.
func (b *board) textLines(text string) []string {
	switch text = cleanText(text); {
	case text == "":
		return nil
	case b.columns == 0:
		return strings.Split(text, "\n")
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

// speaker returns a line with the actor of a step, its side, its target, its phase and details.
func (b *board) speaker(k transcript.Key, details string) string {
	about := cleanLine(k.Phase)
	if k.Target != "" {
		about += ", " + cleanLine(k.Target)
	}
	if side := b.sides[k.Actor]; side != "" && side != k.Actor {
		about = cleanLine(side) + " · " + about
	}
	if details != "" {
		about += " · " + details
	}
	name := cleanLine(k.Actor)
	if b.columns > 0 {
		name = truncate(name, b.columns/2)
		about = truncate(about, b.columns-textWidth(name)-3)
	}
	return b.style(k.Actor).Bold().Styled(name) + faintStyle.Styled(" · "+about)
}

// failureLines describes a failed attempt. If another attempt follows, it takes one line; an error that ends the step is
// complete.
func (b *board) failureLines(e debate.TurnFailed) []string {
	text := fmt.Sprintf("%s: %s failed", e.Key.Phase, actorLabel(e.Key))
	switch {
	case e.RetryIn < 0:
		return b.noteLines(warningStyle, text+": "+e.Message)
	case e.RetryIn > 0:
		text += fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
	default:
		text += ", retrying"
	}
	text = cleanLine(text + ": " + e.Message)
	if b.columns > 0 {
		text = truncate(text, b.columns)
	}
	return []string{warningStyle.Styled(text)}
}

// noteLines returns the lines of a note.
func (b *board) noteLines(style ansi.Style, text string) (lines []string) {
	lines = []string{cleanLine(text)}
	if b.columns > 0 {
		lines = wrap(lines[0], b.columns)
	}
	for i := range lines {
		lines[i] = style.Styled(lines[i])
	}
	return lines
}

// actorLabel returns the actor of a step and its target, such as "Ann (Bo)".
func actorLabel(k transcript.Key) string {
	if k.Target != "" {
		return k.Actor + " (" + k.Target + ")"
	}
	return k.Actor
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
