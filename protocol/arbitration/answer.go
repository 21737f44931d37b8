package arbitration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Answer has a transcript in Markdown as its text, and a [Result] as its data.
func (p Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	if len(r.Turns) == 0 {
		return a
	}
	res := p.result(r)
	a.Text = p.markdown(r, res)
	a.Data, _ = json.Marshal(res) // plain data always encodes
	return a
}

// markdown is the transcript: each topic with positions, arguments and ruling, and the scores.
func (p Protocol) markdown(r *protocol.Record, res Result) string {
	var b strings.Builder
	for i, topic := range p.topics() {
		p.section(&b, r, res, i+1, topic)
	}
	fmt.Fprintf(&b, "## Scores\n\n| Category | Before | After | Change |\n|---|---:|---:|---:|\n")
	for _, s := range res.Scores {
		row(&b, plain(s.Category), s)
	}
	row(&b, "**Total**", res.Total)
	return b.String()
}

func row(b *strings.Builder, label string, s Score) {
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", label, number(s.Before), number(s.After), signed(s.Delta))
}

// section is one topic, if anybody spoke on it.
func (p Protocol) section(b *strings.Builder, r *protocol.Record, res Result, round int, topic Topic) {
	said := false
	for _, t := range r.Since(round) {
		if t.Round != round || t.Kind != transcript.Speech {
			continue
		}
		side, position := Advocate, topic.Advocate
		if said {
			side, position = Challenger, topic.Challenger
		} else {
			fmt.Fprintf(b, "## %d. %s\n\n%s\n\n", round, plain(topic.Name), plain(topic.Question))
		}
		said = true
		fmt.Fprintf(b, "### %s, %s\n\nPosition: %s\n\n", plain(t.Actor), side, plain(position))
		arguments(b, t)
	}
	at := slices.IndexFunc(res.Topics, func(a Adjustment) bool { return a.Topic == topic.Name })
	if !said || at < 0 {
		return
	}
	a := res.Topics[at]
	fmt.Fprintf(b, "### Ruling\n\n**%s**, confidence %s of 100", a.Ruling.Winner, number(a.Ruling.Confidence))
	if a.Fallback {
		b.WriteString(" (no valid ruling came)")
	}
	fmt.Fprintf(b, ". %s: %s → %s (%s)\n\n%s\n\n", plain(a.Category), number(a.Before), number(a.After), signed(a.Delta), plain(a.Ruling.Reasoning))
	for _, k := range a.Ruling.KeyPoints {
		fmt.Fprintf(b, "- %s\n", plain(k))
	}
	if len(a.Ruling.KeyPoints) > 0 {
		b.WriteString("\n")
	}
}

func arguments(b *strings.Builder, t transcript.Turn) {
	c, err := transcript.Decode[Case](t)
	if err != nil {
		return // not validated, so not of this library's making
	}
	for i, a := range c.Arguments {
		fmt.Fprintf(b, "%d. **%s**\n   - Reasoning: %s\n   - Evidence: %s\n", i+1, plain(a.Claim), plain(a.Reasoning), plain(a.Evidence))
	}
	b.WriteString("\n")
}

func signed(f float64) string {
	if f > 0 {
		return "+" + number(f)
	}
	return number(f)
}

// markup is what has a meaning within a line of Markdown, with what stands for it: addresses become no links.
var markup = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`,
	"#", `\#`, "$", `\$`, "@", `\@`, "://", `:\//`, "www.", `www\.`,
)

// marker is what has one at the begin of a line: items of lists, and rules under headings.
var marker = regexp.MustCompile(`^([0-9]*)([-+=.)])`)

// plain is a text as Markdown that reads as it stands: on one line, without control characters and those that turn the
// direction of writing, and with nothing in it to which Markdown or HTML gives a meaning.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return marker.ReplaceAllString(markup.Replace(strings.Join(strings.Fields(text), " ")), `$1\$2`)
}
