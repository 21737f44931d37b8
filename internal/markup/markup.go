// Package markup turns the Markdown of models and people into HTML that is safe to show.
package markup

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxSize  = 128 << 10 // bytes in a text
	maxMarks = 2048      // characters in one paragraph that may be markup
	maxCells = 8192      // cells in the tables of a text, including those that short rows leave out
	maxDepth = 32        // blocks and spans within one another
)

// HTML returns a text in Markdown as HTML, which is also well-formed XML. The first heading of the text gets the given
// level, from 1 to 6, and no heading is more than one level below the heading before it.
//
// The result contains paragraphs, headings, lists, quotations, code, emphasis, tables and links, and nothing else. HTML
// in the text is shown as text. An image is shown as its description. A link opens only http and https addresses, and is
// followed by the host that it leads to, unless its text is the address. Each block has the direction of its own text. A
// table is in a div of class "wide", which the page can make scroll.
//
// Texts that are unusually long, crowded with marks or deeply nested are not formatted: the result shows their
// characters, in paragraphs.
func HTML(source string, level int) template.HTML {
	source = Clean(source)
	if len(source) > maxSize || crowded(source) {
		return plain(source)
	}
	src := []byte(source)
	doc := markdown.Parser().Parse(text.NewReader(src))
	if !prepare(doc, src, level) {
		return plain(source)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, src, doc); err != nil {
		return plain(source)
	}
	// An entity such as &#x202e; is a control character only now.
	return template.HTML(policy.Sanitize(Clean(b.String()))) //nolint:gosec // the policy allows no scripts
}

// plain returns the paragraphs of a text without any formatting.
func plain(source string) template.HTML {
	var b strings.Builder
	for _, p := range Paragraphs(source) {
		lines := strings.ReplaceAll(template.HTMLEscapeString(p), "\n", "<br/>\n")
		b.WriteString(`<p dir="auto">` + lines + "</p>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// nested matches a line that begins with the marks of more lists and quotations than a text may have within one another.
var nested = regexp.MustCompile(fmt.Sprintf(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t])){%d}`, maxDepth))

// crowded reports whether a paragraph or a line has more marks than a person would write, or tables have more cells. The
// time to parse marks can grow with the square of their number. Each row of a table gets all cells of its header, even if
// its own text is one character.
func crowded(source string) bool {
	marks := 0 // of the paragraph, as rows and columns are
	rows := 0
	columns := 0
	cells := 0 // of the paragraphs before
	for l := range strings.Lines(source) {
		if strings.Trim(l, " \t\n") == "" { // no other character ends a paragraph, such as a space of another width
			cells += rows * columns
			marks = 0
			rows = 0
			columns = 0
			continue
		}
		for _, c := range []byte(l) {
			if strings.IndexByte("*_~[]()!`<&|>:", c) >= 0 {
				marks++
			}
		}
		rows++
		if n := strings.Count(l, "|"); n > 0 && strings.Trim(l, "|-: \t\n>") == "" { // the line below a header
			columns = max(columns, n+1)
		}
		if marks > maxMarks || cells+rows*columns > maxCells {
			return true
		}
	}
	return nested.MatchString(source)
}

// markdown parses CommonMark with tables, strikethrough and bare addresses. It leaves out HTML, which becomes text,
// definitions of links, which a reader would not see, and underlines that turn the paragraph above into a heading: models
// write such lines to separate paragraphs, and below a table they would move the text above the table.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
	)),
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), extension.Strikethrough, extension.Linkify),
	goldmark.WithRendererOptions(html.WithXHTML(), html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(nodes{}, 1))),
)

// prepare sets the levels of headings and the direction of blocks, and completes the rows of tables. It reports whether the
// document is nested no deeper than it may be.
func prepare(doc ast.Node, src []byte, level int) bool {
	depth, deepest := 0, 0
	var above []int // levels in the text of the headings around a position
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		deepest = max(deepest, depth)
		switch n := n.(type) {
		case *ast.Heading:
			for len(above) > 0 && above[len(above)-1] >= n.Level {
				above = above[:len(above)-1]
			}
			above = append(above, n.Level)
			n.Level = min(level+len(above)-1, 6)
		case *extast.TableRow:
			addRest(n, src)
		case *extast.TableCell:
			n.SetAttributeString("dir", "auto")
			if n.Parent().Kind() == extast.KindTableHeader {
				n.SetAttributeString("scope", "col")
			}
		}
		if n.Parent() == doc { // what is within a block has its direction
			n.SetAttributeString("dir", "auto")
		}
		return ast.WalkContinue, nil
	})
	return deepest <= maxDepth
}

// addRest adds a cell with the text of a row beyond the columns of its table, which the parser leaves out.
func addRest(row *extast.TableRow, src []byte) {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 { // the row is short
		return
	}
	start := last.Lines().At(0).Stop
	line, _, _ := bytes.Cut(src[start:], []byte("\n"))
	rest := bytes.TrimLeft(line, " \t|")
	if len(rest) == 0 {
		return
	}
	stop := start + len(line)
	cell := extast.NewTableCell()
	cell.AppendChild(cell, ast.NewTextSegment(text.NewSegment(stop-len(rest), stop)))
	row.AppendChild(row, cell)
}

// nodes renders images, links and tables.
type nodes struct{}

func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil // the description is its content
	})
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(extast.KindTable, table)
}

func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address, host := target(string(n.(*ast.Link).Destination))
	switch {
	case address == "" && !entering:
		_, _ = w.WriteString(" (" + template.HTMLEscapeString(string(n.(*ast.Link).Destination)) + ")")
	case address != "" && entering:
		_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(address) + `">`)
	case address != "":
		_, _ = w.WriteString("</a> (" + template.HTMLEscapeString(host) + ")")
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := n.(*ast.AutoLink)
	label := template.HTMLEscapeString(string(a.Label(src)))
	if address, _ := target(string(a.URL(src))); address != "" && a.AutoLinkType == ast.AutoLinkURL {
		label = `<a href="` + template.HTMLEscapeString(address) + `">` + label + "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

// hostName matches hosts that look like what they are.
var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// target returns the address of a link and its host, or "" if the page must not link to it.
func target(destination string) (address, host string) {
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || !hostName.MatchString(u.Host) {
		return "", ""
	}
	return u.String(), u.Host
}

func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="wide" role="group" tabindex="0" aria-label="Table">` + "<table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// policy allows the elements and attributes that markdown renders. It is independent of it, so that a fault there shows
// as text that is missing, and never as a script.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del",
		"div", "table", "thead", "tbody", "tr", "th", "td")
	is := func(words string) *regexp.Regexp { return regexp.MustCompile("^(" + words + ")$") }
	p.AllowAttrs("dir").Matching(is("auto")).OnElements("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "th", "td")
	p.AllowAttrs("start").Matching(is("[0-9]{1,9}")).OnElements("ol")
	p.AllowAttrs("scope").Matching(is("col")).OnElements("th")
	p.AllowAttrs("class").Matching(is("wide")).OnElements("div")
	p.AllowAttrs("role").Matching(is("group")).OnElements("div")
	p.AllowAttrs("tabindex").Matching(is("0")).OnElements("div")
	p.AllowAttrs("aria-label").Matching(is("Table")).OnElements("div")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // and rel=noopener
	return p
}()
