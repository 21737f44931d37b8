package arbitration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Answer returns a transcript in Markdown as the text and a [Result] as the data.
func (p Protocol) Answer(r *protocol.Record) protocol.Answer {
	if len(r.Turns) == 0 {
		return protocol.Answer{}
	}
	res := p.result(r)
	return outcome.Answer(p.markdown(r, res), res)
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Result, error) { return outcome.Decode[Result](a, Protocol{}) }

// markdown returns the transcript: each topic with its positions, arguments and ruling, and a table of the scores.
func (p Protocol) markdown(r *protocol.Record, res Result) string {
	var b strings.Builder
	for i, topic := range p.topics() {
		p.writeTopic(&b, r, res, i+1, topic)
	}
	fmt.Fprintf(&b, "## Scores\n\n| Category | Before | After | Change |\n|---|---:|---:|---:|\n")
	for _, s := range res.Scores {
		writeRow(&b, escapeMarkdown(s.Category), s)
	}
	writeRow(&b, "**Total**", res.Total)
	return b.String()
}

func writeRow(b *strings.Builder, label string, s ScoreChange) {
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", label, outcome.Number(s.Before), outcome.Number(s.After), formatSigned(s.Delta))
}

// writeTopic writes one topic if at least one side has spoken on it.
func (p Protocol) writeTopic(b *strings.Builder, r *protocol.Record, res Result, round int, topic Topic) {
	said := false
	for _, t := range r.TurnsFrom(round) {
		if t.Round != round || t.Kind != transcript.Speech {
			continue
		}
		side, position := Advocate, topic.Advocate
		if said {
			side, position = Challenger, topic.Challenger
		} else {
			fmt.Fprintf(b, "## %d. %s\n\n%s\n\n", round, escapeMarkdown(topic.Name), escapeMarkdown(topic.Question))
		}
		said = true
		fmt.Fprintf(b, "### %s, %s\n\nPosition: %s\n\n", escapeMarkdown(t.Actor), side, escapeMarkdown(position))
		writeArguments(b, t)
	}
	at := slices.IndexFunc(res.Topics, func(a Adjustment) bool { return a.Topic == topic.Name })
	if !said || at < 0 {
		return
	}
	a := res.Topics[at]
	fmt.Fprintf(b, "### Ruling\n\n**%s**, confidence %s of 100", a.Ruling.Winner, outcome.Number(a.Ruling.Confidence))
	if a.Defaulted {
		b.WriteString(" (no valid ruling)")
	}
	fmt.Fprintf(b, ". %s: %s → %s (%s)\n\n%s\n\n", escapeMarkdown(a.Category), outcome.Number(a.Before), outcome.Number(a.After),
		formatSigned(a.Delta), escapeMarkdown(a.Ruling.Reasoning))
	for _, k := range a.Ruling.KeyPoints {
		fmt.Fprintf(b, "- %s\n", escapeMarkdown(k))
	}
	if len(a.Ruling.KeyPoints) > 0 {
		b.WriteString("\n")
	}
}

func writeArguments(b *strings.Builder, t transcript.Turn) {
	c, err := transcript.Decode[Case](t)
	if err != nil {
		return // not validated, so not written by this library
	}
	for i, a := range c.Arguments {
		fmt.Fprintf(b, "%d. **%s**\n", i+1, escapeMarkdown(a.Claim))
		fmt.Fprintf(b, "   - Reasoning: %s\n", escapeMarkdown(a.Reasoning))
		fmt.Fprintf(b, "   - Evidence: %s\n", escapeMarkdown(a.Evidence))
	}
	b.WriteString("\n")
}

func formatSigned(f float64) string {
	if f > 0 {
		return "+" + outcome.Number(f)
	}
	return outcome.Number(f)
}

// markdownEscapes replaces characters with a meaning within a line of Markdown, and prevents automatic links.
var markdownEscapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"#", `\#`, "$", `\$`, "@", `\@`, "://", `:\//`, "www.", `www\.`,
)

// lineMarker matches characters with a meaning at the beginning of a line: list items and underlines of headings.
var lineMarker = regexp.MustCompile(`^([0-9]*)([-+=.)])`)

// escapeMarkdown returns Markdown that renders as the given text on one line. It removes control characters, including
// those that change the writing direction, and escapes everything with a meaning in Markdown or HTML.
func escapeMarkdown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return lineMarker.ReplaceAllString(markdownEscapes.Replace(strings.Join(strings.Fields(text), " ")), `$1\$2`)
}
