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
	d := r.doc()
	m.add("# %s", inline(d.Title))
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
		m.add("%s", inline(b.Note))
	}
	m.quote(b.Quote)
	if len(b.List) > 0 {
		items := make([]string, len(b.List))
		for i, x := range b.List {
			items[i] = "- " + inline(x)
		}
		m.add("%s", strings.Join(items, "\n"))
	}
	if b.Table != nil {
		m.table(b.Table)
	}
	for _, f := range b.Folds {
		m.add("<details open>\n<summary>%s</summary>", f.Title)
		for _, p := range f.Parts {
			m.add("### %s", inline(p.Title))
			m.quote(p.Text)
			m.add("%s", inline(p.Note))
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
			lines = append(lines, "> "+indented(l))
		}
		parts = append(parts, strings.Join(lines, "\\\n"))
	}
	if len(parts) > 0 {
		m.add("%s", strings.Join(parts, "\n>\n"))
	}
}

func (m *markdown) table(t *table) {
	if t.Title != "" {
		m.add("%s:", inline(t.Title))
	}
	lines := []string{row(t.Head), "|" + strings.Repeat("---|", len(t.Head))}
	for _, cells := range t.Rows {
		lines = append(lines, row(cells))
	}
	m.add("%s", strings.Join(lines, "\n"))
}

func row(cells []string) string {
	made := make([]string, len(cells))
	for i, c := range cells {
		made[i] = special.Replace(line(c)) // a cell is never at the start of a line
	}
	return "| " + strings.Join(made, " | ") + " |"
}

// special escapes the characters that are markup anywhere in a line. It also keeps URLs from becoming links.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`, "$", `\$`,
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;",
)

// leading matches markup at the start of a line: list items, rules, and underlines that turn the line before into a
// heading or a table.
var leading = regexp.MustCompile(`^(?:[-+=:]|\d+[.)](?:\s|$))`)

// escape escapes all markup in a line.
func escape(l string) string {
	return leading.ReplaceAllStringFunc(special.Replace(l), func(mark string) string {
		at := strings.IndexAny(mark, "-+=:.)")
		return mark[:at] + `\` + mark[at:]
	})
}

// inline returns a text on one line with all markup escaped.
func inline(text string) string { return escape(line(text)) }

// indented escapes a line and keeps its indentation, which would otherwise turn it into code.
func indented(l string) string {
	l = strings.ReplaceAll(l, "\t", "    ")
	rest := strings.TrimLeft(l, " ")
	return strings.Repeat("&nbsp;", len(l)-len(rest)) + escape(rest)
}
