package configtest

import (
	"go/doc/comment"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text renders comments of one package for readers of JSON: it puts JSON names and values in the place of Go names.
type text struct {
	src   *source
	names map[string]string // the JSON of Go names such as "MaxRounds", "Limits.MaxRounds" or "panel.FreeForm"
	links map[string]string // the links to the sections of types such as "judge.Rubric"; nil in plain text
	own   []string          // the Go names that the comment belongs to; a sentence may begin with them
	plain bool              // without Markdown
}

// Around the text of a documentation link, which is a Go name whatever it looks like.
const (
	linkStart = "\x02"
	linkEnd   = "\x03"
)

var (
	// goName is a link, a quotation, a piece of code, a JSON object or a word, which may be qualified.
	goName = regexp.MustCompile(linkStart + "[^" + linkEnd + "]*" + linkEnd + "|\"[^\"]*\"|`[^`]*`|" +
		`\{"[^{}]*\}|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\{\})?`)
	qualified = regexp.MustCompile(`^(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:\{\})?$`)
	snakeCase = regexp.MustCompile(`^[a-z0-9]+(?:_[a-z0-9]+)+$`)
	// followsName finds what follows a name: another name, or a verb that an English word would need an article for.
	followsName = regexp.MustCompile(`^(?:(?:,| and| or) [A-Z]| (?:is|has|defaults|must|applies|names) )`)

	camelCase = regexp.MustCompile(`^[A-Z]\w*[a-z0-9][A-Z]`)
)

// line renders a comment as one line.
func (x text) line(s string) string {
	blocks := strings.FieldsFunc(x.block(s), func(r rune) bool { return r == '\n' })
	return strings.Join(blocks, " ")
}

// sentence renders a comment as one line that is a sentence, also if the comment is a phrase after a field.
func (x text) sentence(s string) string {
	line := x.line(s)
	if r, _ := utf8.DecodeRuneInString(s); !unicode.IsLower(r) {
		return line
	}
	return sentence(line)
}

// block renders a comment as paragraphs, lists and code, with a blank line between them.
func (x text) block(s string) string {
	p := x.src.pkg.Parser()
	p.LookupSym = func(string, string) bool { return true }
	return strings.Join(x.blocks(p.Parse(s).Content), "\n\n")
}

func (x text) blocks(content []comment.Block) (list []string) {
	for _, b := range content {
		switch b := b.(type) {
		case *comment.Paragraph:
			list = append(list, x.inline(b.Text))
		case *comment.Heading:
			list = append(list, x.inline(b.Text)+":")
		case *comment.Code:
			list = append(list, "```\n"+b.Text+"```")
		case *comment.List:
			items := []string{}
			for _, item := range b.Items {
				items = append(items, "- "+strings.Join(x.blocks(item.Content), " "))
			}
			list = append(list, strings.Join(items, "\n"))
		}
	}
	return list
}

func (x text) inline(parts []comment.Text) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case comment.Plain:
			b.WriteString(string(part))
		case comment.Italic:
			b.WriteString(string(part))
		case *comment.Link:
			b.WriteString(raw(part.Text))
			if !part.Auto {
				b.WriteString(" (" + part.URL + ")")
			}
		case *comment.DocLink:
			b.WriteString(linkStart + raw(part.Text) + linkEnd)
		}
	}
	return x.words(strings.ReplaceAll(b.String(), "\n", " "))
}

func raw(parts []comment.Text) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case comment.Plain:
			b.WriteString(string(part))
		case comment.Italic:
			b.WriteString(string(part))
		}
	}
	return b.String()
}

// words replaces the Go names in a sentence or several.
func (x text) words(s string) string {
	var b strings.Builder
	end := 0
	for _, at := range goName.FindAllStringIndex(s, -1) {
		before := s[:at[0]]
		w := s[at[0]:at[1]]
		after := s[at[1]:]
		if !strings.HasSuffix(before, "-") && !strings.HasSuffix(before, "/") { // else it is a part of a word or a path
			w = x.word(w, startsSentence(before) && !followsName.MatchString(after))
		}
		b.WriteString(s[end:at[0]] + w)
		end = at[1]
	}
	return b.String() + s[end:]
}

// word returns the JSON name of a Go name, and any other word as it is. In the middle of a sentence, a capital letter
// marks a name. At its beginning, only names that are not English words, and the comment's own names, can be told apart.
func (x text) word(w string, first bool) string {
	link, isLink := strings.CutPrefix(w, linkStart)
	if isLink {
		w = strings.TrimSuffix(link, linkEnd)
	}
	json, known := x.names[w]
	if i := strings.IndexByte(w, '.'); !known && i > 0 && unicode.IsLower(rune(w[0])) {
		json, known = x.names[w[i+1:]]
	}
	switch {
	case x.links[w] != "":
		return x.links[w]
	case strings.HasPrefix(w, "{"):
		return x.code(w)
	case known && (isLink || !first || qualified.MatchString(w) || camelCase.MatchString(w) || slices.Contains(x.own, w)):
		return x.code(json)
	case isLink, qualified.MatchString(w), snakeCase.MatchString(w), camelCase.MatchString(w) && x.src.has(w),
		slices.Contains(x.own, w) && x.src.has(w):
		return x.code(w)
	}
	return w
}

func (x text) code(s string) string {
	if x.plain {
		return s
	}
	return "`" + s + "`"
}

func startsSentence(before string) bool {
	before = strings.TrimRight(before, " ")
	return before == "" || strings.ContainsRune(".!?", rune(before[len(before)-1]))
}

// simpleDefault is one word, or a number with a unit.
var simpleDefault = regexp.MustCompile("^(?:[0-9][0-9.,]*(?: [a-z]+)?|`[^`]+`|\"[^\"]+\"|[^ ]+)$")

var toAgain = regexp.MustCompile(`(,|;| and| or| else) to `) // in "to X, or to Y"

var defaultVerb = regexp.MustCompile("(^|[.;] )(?:`[^`]+` d|It d|[Dd])efaults to ")

// splitDefault cuts the sentence "Defaults to X." out of a comment, or the clause "; defaults to X" out of a sentence.
func splitDefault(s string) (meaning, value string) {
	at := defaultVerb.FindStringSubmatchIndex(s)
	if at == nil {
		return s, ""
	}
	before := strings.TrimRight(s[:at[3]], " ;")
	value, rest, _ := strings.Cut(s[at[1]:], ". ")
	value = toAgain.ReplaceAllString(strings.TrimSuffix(value, "."), "$1 ")
	if simple, more, ok := strings.Cut(value, "; "); ok && simpleDefault.MatchString(simple) {
		value, rest = simple, strings.TrimSpace(sentence(more)+" "+rest)
	}
	return strings.TrimSpace(sentence(before) + " " + rest), value
}

// sentence begins a text with a capital letter and ends it with a period.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if last := s[len(s)-1]; last != '.' && last != '?' && last != '!' && !strings.HasSuffix(s, ".)") {
		s += "."
	}
	return s
}
