package view

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// lines returns what remains in the terminal of an event: the lines of the transcript.
func (b *board) lines(ev debate.Event) (lines []string) {
	for _, told := range b.Tell(ev) {
		lines = append(lines, b.toldLines(told)...)
	}
	return lines
}

// toldLines returns the lines of one thing that is told of an event.
func (b *board) toldLines(told readmodel.Told) []string {
	switch told.Kind {
	case readmodel.Turn:
		return b.turnLines(told)
	case readmodel.Warning:
		return b.noteLines(warningStyle, told.Text)
	case readmodel.Retry:
		return []string{warningStyle.Styled(truncate(cleanLine(told.Text), b.columns))}
	case readmodel.End:
		return append([]string{""}, b.noteLines(faintStyle, told.Text)...)
	case readmodel.Note: // its lines are faint
	}
	return b.noteLines(faintStyle, told.Text)
}

// headingLines returns the heading of a round or a stage.
func (b *board) headingLines(title string) []string {
	title = truncate(title, b.columns-6)
	return []string{"", headingStyle.Styled("── " + title + " " + strings.Repeat("─", max(b.columns-4-textWidth(title), 0)))}
}

// turnLines returns the heading and the text of a committed turn. Names in the scores have the colours of the participants.
func (b *board) turnLines(told readmodel.Told) []string {
	style := b.style(told.Key.Actor)
	lines := []string{"", b.speaker(told.Key, told.Details)}
	text := cleanText(told.Text)
	if text != "" {
		for _, line := range wrap(text, b.columns-gutterColumns) {
			lines = append(lines, b.textLine(style, line))
		}
	}
	for i, line := range table(told.Scores, b.columns-gutterColumns) {
		lines = append(lines, b.textLine(style, b.style(told.Scores[i].Name).Styled(line)))
	}
	return lines
}

// noteLines returns the lines of a note.
func (b *board) noteLines(style ansi.Style, text string) (lines []string) {
	lines = wrap(cleanLine(text), b.columns)
	for i := range lines {
		lines[i] = style.Styled(lines[i])
	}
	return lines
}
