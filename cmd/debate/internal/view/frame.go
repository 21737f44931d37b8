package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/transcript"
)

const (
	maxColumns   = 80 // columns of text; longer lines are hard to read
	maxFrameRows = 16
)

// frameRows returns the maximum height of the frame on a terminal. The frame leaves the larger part to the transcript.
func frameRows(rows int) int { return min(max(rows/2, 1), maxFrameRows) }

// textColumns returns the maximum length of a line on a terminal. The last column remains free, because some terminals
// delete a character there.
func textColumns(columns int) int { return max(min(columns-1, maxColumns), 1) }

// A status is what the last line of the frame shows besides the debate.
type status struct {
	turn     int // number of the frame
	elapsed  time.Duration
	currency string
	hint     string
}

// frame returns the lines that change: the replies in flight, the scores and the status. It has at most the given number
// of rows. With less room, it shows less.
func (b *board) frame(rows int, s status) []string {
	if rows < 1 || b.title() == "" && len(b.streams) == 0 {
		return nil
	}
	var below []string
	if scores := b.scores.String(); scores != "" && rows > 4 {
		below = append(below, faintStyle.Styled(truncate(fmt.Sprintf("  round %d: %s", b.scores.round, scores), b.columns)))
	}
	below = append(below, b.statusLine(s))
	for _, k := range b.asked {
		if rows-len(below) > 5 {
			below = append([]string{b.speaker(k, "waiting for the reply")}, below...)
		}
	}
	if rows < 5 {
		return append(b.streamLines(rows-len(below)), below...)
	}
	return slices.Concat([]string{""}, b.streamLines(rows-len(below)-1), below)
}

// streamLines returns the lines of the replies in flight.
func (b *board) streamLines(rows int) (lines []string) {
	n := len(b.streams)
	if n == 0 || rows < 1 {
		return nil
	}
	each := rows / n
	for i, s := range b.streams {
		switch {
		case n > rows && i == rows-1:
			return append(lines, faintStyle.Styled(truncate(fmt.Sprintf("and %d more", n-i), b.columns)))
		case each < 3:
			lines = append(lines, b.lastWords(s))
		default:
			lines = append(lines, b.speaker(s.Key, s.progress()))
			for _, l := range s.tail(each - 1) {
				lines = append(lines, b.textLine(b.style(s.Key.Actor), l))
			}
		}
	}
	return lines
}

// lastWords returns a reply in flight on one line.
func (b *board) lastWords(s *stream) string {
	text := s.progress()
	if last := s.tail(2); len(last) > 0 {
		text = cleanLine(strings.Join(last, " "))
	}
	name := truncate(cleanLine(ActorLabel(s.Key)), b.columns/2)
	return b.style(s.Key.Actor).Bold().Styled(name) + " " + truncateLeft(text, b.columns-textWidth(name)-1)
}

// progress describes a reply whose text is not shown, with the time that it takes so far, or another attempt. Otherwise it
// returns "". Before the first text, the service loads the model, reads the prompt or thinks.
func (s *stream) progress() string {
	text := ""
	switch took := time.Since(s.began).Truncate(time.Second); {
	case s.waits:
		text = "waiting to try again"
	case len(s.raw) == 0:
		text = fmt.Sprintf("thinking, %v", took)
	case s.hidden || s.data && s.Kind != transcript.Speech:
		text = fmt.Sprintf("writing, %d bytes, %v", len(s.raw), took)
	}
	if s.Number > 1 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, attempt %d", text, s.Number), ", ")
	}
	return text
}

const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// statusLine returns the parts of the status that fit into a line.
func (b *board) statusLine(s status) string {
	turn := []rune(spinner)
	parts := []string{
		string(turn[s.turn%len(turn)]) + " " + b.title(), "", formatElapsed(s.elapsed),
		formatCost(b.used, s.currency), formatTokens(b.used), cleanLine(s.hint),
	}
	if phases := b.Phases(); len(phases) > 0 {
		parts[1] = formatPhase(phases[len(phases)-1])
	}
	line := joinParts(parts)
	for _, unimportant := range []int{4, 5, 3, 1, 2} {
		if textWidth(line) > b.columns {
			parts[unimportant] = ""
			line = joinParts(parts)
		}
	}
	return truncate(line, b.columns)
}

// formatPhase returns a phase and the number of its finished steps, such as "argue 1/2".
func formatPhase(p progress.Update) string {
	return fmt.Sprintf("%s %d/%d", cleanLine(p.Phase), p.Done, max(p.Steps, p.Done))
}

// joinParts joins the parts that are not empty.
func joinParts(parts []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), " · ")
}

// formatElapsed returns a time such as "1:05" or "1:00:05".
func formatElapsed(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// formatCost returns the cost so far, or "" if it is unknown.
func formatCost(u transcript.Usage, currency string) string {
	amount := fmt.Sprintf("%.4f", u.Cost)
	if u.Cost >= 1 {
		amount = fmt.Sprintf("%.2f", u.Cost)
	}
	if u.Unpriced {
		amount = "at least " + amount
	}
	switch {
	case u.Cost <= 0:
		return ""
	case currency == "":
		return "cost " + amount
	}
	return amount + " " + currency
}

// formatTokens returns the number of tokens so far, or "" if there are none.
func formatTokens(u transcript.Usage) string {
	switch n := u.Input + u.Output; {
	case n == 0:
		return ""
	case n < 10_000:
		return fmt.Sprintf("%d tokens", n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk tokens", n/1000)
	default:
		return fmt.Sprintf("%dM tokens", n/1_000_000)
	}
}
