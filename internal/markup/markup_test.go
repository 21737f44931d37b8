package markup_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/internal/markup"
)

func TestHTML(t *testing.T) {
	const a = ` rel="nofollow noreferrer noopener" target="_blank">`
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                  {" \n\n", ""},
		"paragraphs":               {"One\ntwo.\n\nThree.", `<p dir="auto">One<br/> two.</p> <p dir="auto">Three.</p>`},
		"emphasis":                 {"*a* **b** ~~c~~ `d`", `<p dir="auto"><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>`},
		"a list":                   {"- a\n- b", `<ul dir="auto"> <li>a</li> <li>b</li> </ul>`},
		"a list from four":         {"4. a", `<ol start="4" dir="auto"> <li>a</li> </ol>`},
		"code":                     {"```go\nx := <b>\n```", "<pre><code>x := &lt;b&gt; </code></pre>"},
		"code without an end":      {"```\n# x", "<pre><code># x </code></pre>"},
		"a quotation":              {"> a", `<blockquote dir="auto"><p>a</p> </blockquote>`},
		"headings are demoted":     {"# a\n\n### b\n\n## c\n\n# d", `<h4 dir="auto">a</h4> <h5 dir="auto">b</h5> <h5 dir="auto">c</h5> <h4 dir="auto">d</h4>`},
		"a line separates":         {"a\n---\nb", `<p dir="auto">a</p> <hr/> <p dir="auto">b</p>`},
		"headings have six levels": {"# a\n## b\n### c\n#### d", `<h4 dir="auto">a</h4> <h5 dir="auto">b</h5> <h6 dir="auto">c</h6> <h6 dir="auto">d</h6>`},
		"a table": {
			"|a|\n|:-:|\n|b|",
			`<div class="wide" role="group" tabindex="0" aria-label="Table"><table> <thead> <tr> <th dir="auto" scope="col">a</th> </tr> </thead>` +
				` <tbody> <tr> <td dir="auto">b</td> </tr> </tbody> </table></div>`,
		},
		"a table between a paragraph and a line": {
			"a\n|b|\n|-|\n---",
			`<p dir="auto">a</p> <div class="wide" role="group" tabindex="0" aria-label="Table"><table> <thead> <tr> <th dir="auto" scope="col">b</th> </tr> </thead> </table></div> <hr/>`,
		},
		"a row beyond its table": {
			"|a|\n|-|\n|b\\|c | **d** | e |",
			`<div class="wide" role="group" tabindex="0" aria-label="Table"><table> <thead> <tr> <th dir="auto" scope="col">a</th> </tr> </thead>` +
				` <tbody> <tr> <td dir="auto">b|c</td> <td dir="auto">**d** | e |</td> </tr> </tbody> </table></div>`,
		},
		"a link shows its host":       {"[x](https://a.example/b?c&d)", `<p dir="auto"><a href="https://a.example/b?c&amp;d"` + a + `x</a> (a.example)</p>`},
		"an address":                  {"https://a.example/b", `<p dir="auto"><a href="https://a.example/b"` + a + `https://a.example/b</a></p>`},
		"an address without a scheme": {"www.a.example", `<p dir="auto"><a href="http://www.a.example"` + a + `www.a.example</a></p>`},
		"an address in brackets":      {"<https://a.example>", `<p dir="auto"><a href="https://a.example"` + a + `https://a.example</a></p>`},
		"mail":                        {"me@a.example <me@a.example>", `<p dir="auto">me@a.example me@a.example</p>`},
		"a definition is text":        {"[1]: https://a.example", `<p dir="auto">[1]: <a href="https://a.example"` + a + `https://a.example</a></p>`},
		"a host that pretends":        {"[bank](https://bаnk.example)", `<p dir="auto">bank (https://bаnk.example)</p>`}, // a Cyrillic а
		"a user that pretends":        {"[x](https://bank.example@evil.example)", `<p dir="auto">x (https://bank.example@evil.example)</p>`},
		"javascript":                  {"[x](javascript:alert(1)) <javascript:alert(1)>", `<p dir="auto">x (javascript:alert(1)) javascript:alert(1)</p>`},
		"data":                        {"[x](data:text/html,y)", `<p dir="auto">x (data:text/html,y)</p>`},
		"entities that hide a scheme": {"[x](java&#115;cript&colon;alert(1))", `<p dir="auto">x (java&amp;#115;cript&amp;colon;alert(1))</p>`},
		"a relative address":          {"[x](/y) [z](//evil.example)", `<p dir="auto">x (/y) z (//evil.example)</p>`},
		"a title":                     {`[x](https://a.example "y")`, `<p dir="auto"><a href="https://a.example"` + a + `x</a> (a.example)</p>`},
		"an image is its description": {"![a *b*](https://evil.example/x.png)", `<p dir="auto">a <em>b</em></p>`},
		"an image in a link":          {"[![a](https://evil.example/x.png)](https://b.example)", `<p dir="auto"><a href="https://b.example"` + a + `a</a> (b.example)</p>`},
		"HTML is text":                {"<b onclick='x'>a</b>\n\n<script>alert(1)</script>\n\n<!-- c -->", `<p dir="auto">&lt;b onclick=&#39;x&#39;&gt;a&lt;/b&gt;</p> <p dir="auto">&lt;script&gt;alert(1)&lt;/script&gt;</p> <p dir="auto">&lt;!-- c --&gt;</p>`},
		"entities":                    {"&lt;b&gt; &copy; &#x202e;x&#0;", "<p dir=\"auto\">&lt;b&gt; © x\uFFFD</p>"},
		"control characters":          {"a\x00b\u202ec\x1b[31md\r\ne", `<p dir="auto">abc[31md<br/> e</p>`},
		"crowded":                     {strings.Repeat("[a](", 2000) + "\n\n**b**\nc", `<p dir="auto">` + strings.Repeat("[a](", 2000) + `</p> <p dir="auto">**b**<br/> c</p>`},
		"crowded with other spaces":   {strings.Repeat("[a](", 500) + strings.Repeat("\n\u00a0\n**b**", 500), ""},
		"long":                        {"**b** " + strings.Repeat("a", 128<<10), `<p dir="auto">**b** ` + strings.Repeat("a", 128<<10) + `</p>`},
		"deep":                        {strings.Repeat("> ", 100) + "a", `<p dir="auto">` + strings.Repeat("&gt; ", 100) + `a</p>`},
		"deep in many lines":          {deepList(40), `<p dir="auto">- a<br/> ` + strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSpace(deepList(40)[4:]), "\n", "<br/>\n")), " ") + `</p>`},
		"deep in brackets":            {strings.Repeat("*a _b ", 40) + strings.Repeat("_ *", 40), ""},
	} {
		t.Run(name, func(t *testing.T) {
			page := string(markup.HTML(tt.text, 4))
			checkPage(t, page)
			if tt.want != "" || strings.TrimSpace(tt.text) == "" {
				require.Equal(t, tt.want, strings.Join(strings.Fields(page), " "))
			}
		})
	}
}

// deepList returns a list in a list in a list.
func deepList(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

var (
	elements   = strings.Fields("p br hr h4 h5 h6 ul ol li blockquote pre code em strong del div table thead tbody tr th td a")
	attributes = map[string]*regexp.Regexp{
		"dir": regexp.MustCompile("^auto$"), "start": regexp.MustCompile("^[0-9]+$"), "scope": regexp.MustCompile("^col$"), "class": regexp.MustCompile("^wide$"),
		"role": regexp.MustCompile("^group$"), "tabindex": regexp.MustCompile("^0$"), "aria-label": regexp.MustCompile("^Table$"),
		"href": regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]+)?([/?#].*)?$`), "rel": regexp.MustCompile("^nofollow noreferrer noopener$"), "target": regexp.MustCompile("^_blank$"),
	}
)

// checkPage fails unless the page is XML of the elements and attributes that a page may have, and returns its text.
func checkPage(t require.TestingT, page string) string {
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, page)
		switch token := token.(type) {
		case xml.StartElement:
			require.Contains(t, elements, token.Name.Local, page)
			for _, a := range token.Attr {
				require.Contains(t, attributes, a.Name.Local, page)
				require.Regexp(t, attributes[a.Name.Local], a.Value, page)
			}
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
		default:
			require.Fail(t, "comments, instructions and directives are not allowed", page)
		}
	}
	i := strings.IndexFunc(page, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Noncharacter_Code_Point)
	})
	require.Equal(t, -1, i, "control character in %q", page)
	return text.String()
}

// Each row of a table has all cells of its header, so that a short text can be a large table.
func TestTheSizeIsLimited(t *testing.T) {
	table := func(columns, rows int) string {
		return strings.Repeat("a|", columns) + "\n" + strings.Repeat("-|", columns) + strings.Repeat("\nb", rows)
	}
	for name, text := range map[string]string{
		"a table":              table(200, 500),
		"a table in a quote":   "> " + strings.ReplaceAll(table(200, 500), "\n", "\n> "),
		"a table in a list":    "- " + strings.ReplaceAll(table(200, 500), "\n", "\n  "),
		"tables":               strings.Repeat(table(50, 90)+"\n\n", 50),
		"tables in paragraphs": strings.Repeat("a\n"+table(50, 90)+"\n\n", 50),
		"rows of wide spaces":  table(200, 1) + strings.Repeat("\n\u00a0", 500),
	} {
		t.Run(name, func(t *testing.T) {
			page := string(markup.HTML(text, 4))
			checkPage(t, page)
			require.Less(t, len(page), 20*len(text))
		})
	}
	require.Equal(t, 51*100, strings.Count(string(markup.HTML(table(100, 50), 4)), `dir="auto"`), "a large table is one")
}

func FuzzHTML(f *testing.F) {
	for _, text := range []string{
		"# a\n\n- b\n  1. c\n\n> d\n\n```e", "|a|b|\n|-|-|\n|c|", "[a](https://b.example) ![c](d) <e@f.example> https://g.example", "<script>&lt;&#60;&#x202e;", "a\x00\u202e\xff",
		"<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](https://a\u202eb.example)", "***a** b*", "~~~\n</code></pre><script>", "a\u2028b\u2029c\ufffe",
		"[x](https://a.example/\"onclick=\"y)", "[x](<https://a.example/ b>)", "www.a.example/<b>", "&#9;&#13;&#0;&NewLine;",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkPage(t, string(markup.HTML(text, 4)))
		first, rest := markup.Fold(text, 20)
		checkPage(t, string(markup.HTML(first, 4)+markup.HTML(rest, 4)))
	})
}

// The addresses of images and the language of code are not shown. All else is.
func TestTheWordsRemain(t *testing.T) {
	parts := []string{"word ", "**", "*", "`", "# ", "\n", "\n\n", "- ", "> ", "|", "\n|a|\n|-|\n", "\n```\n", "    ", "<b>", "&amp;", "[", "](https://a.example)", "![", "1. "}
	words, language := regexp.MustCompile("word[0-9]"), regexp.MustCompile("```[^`\n]*word")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i, p := range rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "parts") {
			b.WriteString(strings.ReplaceAll(p, "word", "word"+string(rune('0'+i%10))))
		}
		if language.MatchString(b.String()) {
			return
		}
		first, rest := markup.Fold(b.String(), 40)
		want := words.FindAllString(b.String(), -1)
		require.Equal(t, want, words.FindAllString(checkPage(t, string(markup.HTML(b.String(), 4))), -1))
		require.Equal(t, want, words.FindAllString(checkPage(t, string(markup.HTML(first, 4)+markup.HTML(rest, 4))), -1))
	})
}

func TestFold(t *testing.T) {
	long := strings.Repeat("Some words. ", 20)
	for name, tt := range map[string]struct{ text, first, rest string }{
		"short":                 {"One.\n\nTwo.", "One.\n\nTwo.", ""},
		"between paragraphs":    {"One is first.\nAnd then.\n\n" + long, "One is first.\nAnd then.", long[:len(long)-1]},
		"never after a heading": {"One is first and.\n\n## Two\n\nMore of it.\n\n" + long, "One is first and.\n\n## Two\n\nMore of it.", long[:len(long)-1]},
		"after a sentence":      {long, strings.Repeat("Some words. ", 4)[:47], long[48 : len(long)-1]},
		"after a word":          {strings.Repeat("some words ", 20), strings.Repeat("some words ", 4)[:43], strings.TrimSpace(strings.Repeat("some words ", 20)[43:])},
		"never within a word":   {strings.Repeat("x", 200), strings.Repeat("x", 200), ""},
		"never within code":     {"```\na\n\nb\n" + strings.Repeat("c\n\n", 20) + "```\n\nafter it " + long, "", ""},
		"never within a list":   {"- a b c d e f\n- b" + strings.Repeat("\n- c d e f", 20) + "\n\nafter it " + long, "", ""},
		"a tab is no new line":  {"One is the first of all.\n\n\tcode\n\n" + long, "One is the first of all.\n\n\tcode", long[:len(long)-1]},
	} {
		t.Run(name, func(t *testing.T) {
			first, rest := markup.Fold(tt.text, 40)
			if tt.first != "" {
				require.Equal(t, []string{tt.first, tt.rest}, []string{first, strings.TrimSpace(rest)})
			} else {
				require.True(t, strings.HasPrefix(rest, "after it "), rest)
			}
			require.Equal(t, strings.Fields(tt.text), slices.Concat(strings.Fields(first), strings.Fields(rest)))
			require.Zero(t, strings.Count(first, "```")%2)
		})
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, mark := range []string{">", "- ", "*", "[a](", "`", "<", "|", "1. ", "a\n===\n", "- a\n  ", "www.a", "_a"} {
		b.Run(strings.TrimSpace(mark), func(b *testing.B) {
			text := strings.Repeat(strings.Repeat(mark, 2000/len(mark))+"\n\n", 60)
			for b.Loop() {
				markup.HTML(text, 4)
			}
		})
	}
}
