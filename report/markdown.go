package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// Markdown writes a report as GitHub Flavored Markdown, with tables. What few readers need is collapsed. It contains no
// figures; the tables contain the same data. Texts of models are quoted as they are, with their markup escaped.
func Markdown(w io.Writer, r *Report) error {
	if _, err := io.WriteString(w, r.document().markdown()); err != nil {
		return fmt.Errorf("write report of debate %s as Markdown: %w", r.Result.ID, err)
	}
	return nil
}

func (d document) markdown() string {
	var m markdown
	m.add("# %s", escapeInline(d.Title))
	m.add("%s", escapeInline(d.About))
	if d.Topic != "" {
		m.block(block{Note: topicTitle + ":", Text: d.Topic})
	}
	if len(d.Notices) > 0 {
		m.block(block{Note: noticesTitle, List: d.Notices})
	}
	m.add("## Answer")
	m.add("**%s**", escapeInline(d.Answer))
	m.blocks(d.Result)
	for _, s := range d.Sections {
		m.add("## %s", s.Title)
		m.blocks(s.Blocks)
	}
	if d.NoDebate {
		return m.String()
	}
	m.transcript(d.Rounds)
	m.add("## Details")
	for _, s := range d.Details {
		m.add("<details>\n<summary>%s</summary>", s.Title)
		m.blocks(s.Blocks)
		m.add("</details>")
	}
	return m.String()
}

// markdown builds a text from blocks with a blank line between them.
type markdown struct{ strings.Builder }

func (m *markdown) add(format string, args ...any) {
	if m.Len() > 0 {
		m.WriteByte('\n')
	}
	fmt.Fprintf(m, format+"\n", args...)
}

func (m *markdown) blocks(list []block) {
	for _, b := range list {
		m.block(b)
	}
}

func (m *markdown) block(b block) {
	if b.Heading != "" {
		m.add("### %s", escapeInline(b.Heading))
	}
	if b.Note != "" {
		m.add("%s", escapeInline(b.Note))
	}
	m.quote(b.Text)
	for _, p := range b.Points {
		if p.Speaker != nil && readmodel.Line(p.Speaker.Name) != "" {
			m.add("**%s**", escapeInline(p.Speaker.Name))
		}
		m.list(p.Items)
	}
	m.list(b.List)
	if b.Table != nil {
		m.table(b.Table)
	}
	if b.Code != "" {
		m.code(b.Code)
	}
}

func (m *markdown) list(list []string) {
	items := make([]string, len(list))
	for i, x := range list {
		items[i] = "- " + escapeInline(x)
	}
	if len(items) > 0 {
		m.add("%s", strings.Join(items, "\n"))
	}
}

// code adds lines of code, which may contain any character.
func (m *markdown) code(text string) {
	lines := strings.Split(markup.Clean(text), "\n")
	m.add("    %s", strings.Join(lines, "\n    "))
}

func (m *markdown) transcript(rounds []round) {
	m.add("## Transcript")
	if len(rounds) == 0 {
		m.add("%s", noTurns)
	}
	for _, x := range rounds {
		m.add("### %s", x.Title)
		m.entries(x.Turns)
		if len(x.Assessments) > 0 {
			m.add("#### Assessment")
		}
		if x.Scores != nil {
			m.table(x.Scores)
		}
		if len(x.Differences) > 0 {
			m.block(block{Note: differencesTitle, List: x.Differences})
		}
		m.entries(x.Assessments)
	}
}

func (m *markdown) entries(list []entry) {
	for _, e := range list {
		m.add("#### %s", escapeInline(readmodel.JoinWords(e.Title, e.Speaker.About)))
		m.quote(e.Text)
		m.list(e.Checked)
		m.add("%s", escapeInline(e.Note))
	}
}

// quote adds a block quote. It escapes all markup and keeps line breaks.
func (m *markdown) quote(text string) {
	var parts []string
	for _, p := range markup.Paragraphs(text) {
		var lines []string
		for l := range strings.SplitSeq(p, "\n") {
			lines = append(lines, "> "+escapeIndented(l))
		}
		parts = append(parts, strings.Join(lines, "\\\n"))
	}
	if len(parts) > 0 {
		m.add("%s", strings.Join(parts, "\n>\n"))
	}
}

func (m *markdown) table(t *table) {
	if title := escapeInline(t.Title); title != "" {
		m.add("%s:", title)
	}
	lines := []string{tableRow(t.Header), "|" + strings.Repeat("---|", len(t.Header))}
	for _, cells := range t.Rows {
		lines = append(lines, tableRow(cells))
	}
	m.add("%s", strings.Join(lines, "\n"))
}

func tableRow(cells []string) string {
	made := make([]string, len(cells))
	for i, c := range cells {
		made[i] = escapeSpecial.Replace(readmodel.Line(c)) // a cell is never at the start of a line
	}
	return "| " + strings.Join(made, " | ") + " |"
}

// escapeSpecial escapes the characters that are markup anywhere in a line. It also keeps URLs from becoming links.
var escapeSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// lineStart matches markup at the start of a line: list items, horizontal rules, and underlines that turn the previous
// line into a heading or a table.
var lineStart = regexp.MustCompile(`^(?:[-+=:]|\d+[.)](?:\s|$))`)

// escapeLine escapes all markup in a line.
func escapeLine(l string) string {
	return lineStart.ReplaceAllStringFunc(escapeSpecial.Replace(l), func(mark string) string {
		at := strings.IndexAny(mark, "-+=:.)")
		return mark[:at] + `\` + mark[at:]
	})
}

// escapeInline returns a text on one line with all markup escaped.
func escapeInline(text string) string { return escapeLine(readmodel.Line(text)) }

// escapeIndented escapes a line and keeps its indentation, which would otherwise turn it into code.
func escapeIndented(l string) string {
	l = strings.ReplaceAll(l, "\t", "    ")
	rest := strings.TrimLeft(l, " ")
	return strings.Repeat("&nbsp;", len(l)-len(rest)) + escapeLine(rest)
}
