package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Markdown writes a report as GitHub Flavored Markdown, with tables and collapsible rounds. It contains no figures; the
// tables contain the same data.
func Markdown(w io.Writer, r *Report) error {
	var m markdown
	d := r.document()
	m.add("# %s", escapeInline(d.Title))
	for _, s := range d.Sections {
		m.add("## %s", s.Title)
		for _, b := range s.Blocks {
			m.block(b)
		}
	}
	if _, err := io.WriteString(w, m.String()); err != nil {
		return fmt.Errorf("write report of debate %s as Markdown: %w", r.Result.ID, err)
	}
	return nil
}

// markdown builds a text from blocks with a blank line between them.
type markdown struct{ strings.Builder }

func (m *markdown) add(format string, args ...any) {
	if m.Len() > 0 {
		m.WriteByte('\n')
	}
	fmt.Fprintf(m, format+"\n", args...)
}

func (m *markdown) block(b block) {
	if b.Note != "" {
		m.add("%s", escapeInline(b.Note))
	}
	m.quote(b.Quote)
	if len(b.List) > 0 {
		items := make([]string, len(b.List))
		for i, x := range b.List {
			items[i] = "- " + escapeInline(x)
		}
		m.add("%s", strings.Join(items, "\n"))
	}
	if b.Table != nil {
		m.table(b.Table)
	}
	for _, f := range b.Collapsibles {
		m.add("<details open>\n<summary>%s</summary>", f.Title)
		for _, p := range f.Entries {
			m.add("### %s", escapeInline(p.Title))
			m.quote(p.Text)
			m.add("%s", escapeInline(p.Note))
		}
		m.add("</details>")
	}
}

// quote adds a block quote. It escapes all markup and keeps line breaks.
func (m *markdown) quote(text string) {
	var parts []string
	for _, p := range paragraphs(text) {
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
	if t.Title != "" {
		m.add("%s:", escapeInline(t.Title))
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
		made[i] = escapeSpecial.Replace(singleLine(c)) // a cell is never at the start of a line
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
func escapeInline(text string) string { return escapeLine(singleLine(text)) }

// escapeIndented escapes a line and keeps its indentation, which would otherwise turn it into code.
func escapeIndented(l string) string {
	l = strings.ReplaceAll(l, "\t", "    ")
	rest := strings.TrimLeft(l, " ")
	return strings.Repeat("&nbsp;", len(l)-len(rest)) + escapeLine(rest)
}
