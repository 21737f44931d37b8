package view

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/elenchus-go/debate/transcript"
)

// The styles. The colours are the terminal's own, so that they fit light and dark backgrounds.
var (
	plainStyle   = ansi.NewStyle()
	faintStyle   = ansi.NewStyle().Faint()
	headingStyle = ansi.NewStyle().Bold()
	warningStyle = ansi.NewStyle().ForegroundColor(ansi.Yellow)
	colors       = []ansi.BasicColor{
		ansi.Cyan, ansi.Magenta, ansi.Green, ansi.Blue, ansi.Red, ansi.Yellow,
		ansi.BrightCyan, ansi.BrightMagenta, ansi.BrightGreen, ansi.BrightBlue, ansi.BrightRed, ansi.BrightYellow,
	}
)

// style returns the style of a speaker.
func (b *board) style(name string) ansi.Style {
	return plainStyle.ForegroundColor(colors[b.Place(name)%len(colors)])
}

// textLine returns a line of a turn's text behind the bar that marks the turn.
func (b *board) textLine(style ansi.Style, text string) string {
	if text == "" {
		return style.Styled("│")
	}
	return style.Styled("│ ") + text
}

// speaker returns a line with the actor of a step, its side, its target, its phase and details.
func (b *board) speaker(k transcript.Key, details string) string {
	about := cleanLine(b.About(k))
	if details != "" {
		about += " · " + details
	}
	name := truncate(cleanLine(k.Actor), b.columns/2)
	about = truncate(about, b.columns-textWidth(name)-3)
	return b.style(k.Actor).Bold().Styled(name) + faintStyle.Styled(" · "+about)
}
