package arbitration

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestATextStandsInMarkdownAsItReads(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"words", "Plain words, 3.5 of 10.", "Plain words, 3.5 of 10."},
		{"nothing", "", ""},
		{"HTML", `<script>alert("x")</script> &lt;`, `&lt;script&gt;alert("x")&lt;/script&gt; &amp;lt;`},
		{"lines become one", "a\n\n# b\r\n\tc", `a \# b c`},
		{"emphasis and code", "**a** _b_ `c` ~~d~~", "\\*\\*a\\*\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~"},
		{"links and images", "![x](http://e.org) www.e.org a@e.org", `!\[x\](http:\//e.org) www\.e.org a\@e.org`},
		{"a table's bars, formulas, backslashes", `a|b $x$ \*`, `a\|b \$x\$ \\\*`},
		{"control characters", "a\x1b[31mb\x00c\u0085d\x7f", `a\[31mbc d`},
		{"directions", "a\u202eb\u2066c\u200fd", "abcd"},
		{"joined letters stay", "می\u200cخواهم", "می\u200cخواهم"},
		{"no text", "a\xffb", "a\uFFFDb"},
		{"an item", "- a", `\- a`},
		{"a numbered item", "1. a", `1\. a`},
		{"another numbered item", "12) a", `12\) a`},
		{"a rule", "---", `\---`},
		{"a heading's underline", "===", `\===`},
		{"a quotation", "> a", "&gt; a"},
		{"a figure first", "3.5 is enough", `3\.5 is enough`},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, escapeMarkdown(tt.text)) })
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "<b>", "a\nb", "- x", `\`, "1. x", "\u202e", "\xff", "www.x", "x://y", "|", "```\n<a>\n```"} {
		f.Add(seed)
	}
	bare := regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[`*_\\[\\]|~#$@]")
	f.Fuzz(func(t *testing.T, text string) {
		got := escapeMarkdown(text)
		require.True(t, utf8.ValidString(got))
		require.NotContains(t, got, "<")
		require.NotContains(t, got, ">")
		require.NotRegexp(t, bare, got)
		require.False(t, strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }))
		require.NotRegexp(t, `^([-+=]|[0-9]+[.)])`, got)
	})
}
