package quote

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the characters between two tokens mean. Signs of comparison, logic and arithmetic, #, @, _ and arrows are compared, because
// "A*B" is not "A/B" and "C" is not "C++". Punctuation of sentences, quotation marks, dashes, and the marks of lists, headings and
// emphasis are not, because copies of a text differ in them.

// sign matches one sign. Its alternatives are: arrows, comparisons, plus or minus, logic, emphasis, dashes, and the rest.
var sign = regexp.MustCompile(`<?[-=~]+>|<[-=~]+|[!=<>]=+|\+/?-|&&|\|\||[*_~]+|-+|!|[` + otherSigns + `]+`)

const otherSigns = `\p{Sm}\x{2190}-\x{21ff}\x{27f0}-\x{27ff}\x{2900}-\x{297f}#@&/^%`

// sameSigns has the form in which a sign is compared that can be written in more than one way.
var sameSigns = map[string]string{
	"==": "=", "===": "=", "<=": "≤", ">=": "≥", "!=": "≠", "!==": "≠", "~": "≈", "+/-": "±", "+-": "±",
	"->": "→", "-->": "→", "<-": "←", "<--": "←", "<->": "↔", "<-->": "↔", "=>": "⇒", "==>": "⇒", "<=>": "⇔",
}

// lineEnds matches the end of a line.
var lineEnds = regexp.MustCompile(`^[ \t\r]{0,100}\n`)

// A Place is a part of a text: text[Start:End]. Both are in bytes.
type Place struct{ Start, End int }

const (
	spaces  = " \t\r\n\u00a0\u2009\u202f"
	opening = "([{\"'“”„‘’«»<>=≤≥≠≈~" + spaces // what can stand before a sign that begins a word or a number
)

// A neighbour is what stands directly beside a sign.
type neighbour int

const (
	nothing neighbour = iota // the beginning or the end of the text
	space
	wordChar // a letter, a number, or a bracket that encloses what is calculated
	otherChar
)

// A found sign is one between two tokens.
type foundSign struct {
	Place    // in what stands between the tokens
	text     string
	first    bool // only marks of quotations stand before it in its line
	endsLine bool
	before   neighbour
	after    neighbour
}

// signsIn returns the signs with a meaning between two tokens. There is no token before at the beginning of the text, and none after
// at its end.
func signsIn(between string, hasBefore, hasAfter bool) (list []foundSign) {
	first := !hasBefore
	end := 0
	for _, at := range sign.FindAllStringIndex(between, -1) {
		s := foundSign{Place: Place{at[0], at[1]}, text: between[at[0]:at[1]]}
		s.before, s.after = beside(between, s.Place, hasBefore, hasAfter)
		skipped := between[end:s.Start]
		line := strings.LastIndexByte(skipped, '\n')
		first = (first || line >= 0) && strings.Trim(skipped[line+1:], " \t") == ""
		s.first = first
		first = first && s.consistsOf(">")
		s.endsLine = s.after == nothing || lineEnds.MatchString(between[s.End:])
		end = s.End
		if s.isDecoration(between) {
			continue
		}
		list = append(list, s)
	}
	return list
}

// beside returns what stands before and after a sign.
func beside(between string, s Place, hasBefore, hasAfter bool) (before, after neighbour) {
	c, size := utf8.DecodeLastRuneInString(between[:s.Start])
	before = neighbourOf(c, size, hasBefore, ")]")
	c, size = utf8.DecodeRuneInString(between[s.End:])
	after = neighbourOf(c, size, hasAfter, "([")
	return before, after
}

func neighbourOf(c rune, size int, hasToken bool, brackets string) neighbour {
	switch {
	case size == 0 && hasToken, size > 0 && strings.ContainsRune(brackets, c):
		return wordChar
	case size == 0:
		return nothing
	case unicode.IsSpace(c):
		return space
	}
	return otherChar
}

// isDecoration reports whether a sign has no meaning for what the text says.
func (s *foundSign) isDecoration(between string) bool {
	switch {
	case s.isMark(), s.text == "~":
		return false
	case s.consistsOf("*_~"): // emphasis stands at one side of a word
		return s.before != wordChar || s.after != wordChar
	case s.consistsOf("-"): // an option of a command, such as --force
		return len(s.text) > 2 || s.after != wordChar || !opensWord(between[:s.Start], s.before)
	case s.text == "!":
		return s.after != wordChar || strings.HasPrefix(between[s.End:], "[") || !opensWord(between[:s.Start], s.before)
	case s.text == "|": // of a table
		return true
	case s.text == "%": // the end of a number that was cut
		return s.before == nothing
	case s.text == "^": // a footnote in Markdown
		return strings.HasSuffix(between[:s.Start], "[")
	}
	return false
}

// opensWord reports whether a word can begin behind these characters.
func opensWord(text string, last neighbour) bool {
	c, _ := utf8.DecodeLastRuneInString(text)
	return last == nothing || last == space || text != "" && strings.ContainsRune(opening+"`", c)
}

// isMark reports whether a sign can be the mark of an item, a heading, a quotation, a comment or a rule. Whoever copies a text may
// put its lines together, so that such a mark stands between spaces.
func (s *foundSign) isMark() bool {
	bare := func(n neighbour) bool { return n == space || n == nothing }
	switch {
	case s.first && s.consistsOf(">"):
		return true
	case s.before == wordChar || s.after == wordChar:
		return false
	}
	return s.consistsOf("*+#/=~_>") && bare(s.before) == bare(s.after)
}

// isIdle reports whether a mark has no meaning, because of its place at the beginning of a line.
func (s *foundSign) isIdle() bool {
	switch {
	case !s.first:
		return false
	case s.consistsOf(">"), s.consistsOf("*+#/") && (s.after == space || s.after == nothing):
		return true
	}
	return s.endsLine && s.consistsOf("=~_*#")
}

// compared returns the form of a sign that is compared.
func (s *foundSign) compared() string {
	if same, ok := sameSigns[s.text]; ok {
		return same
	}
	return s.text
}

// consistsOf reports whether a sign has no other characters than these.
func (s *foundSign) consistsOf(characters string) bool { return strings.Trim(s.text, characters) == "" }

// belongs tells with which word a sign is taken or left out as a whole: a quote of "C++" does not end before the "++".
func (s *foundSign) belongs() (toLast, toNext bool) {
	switch {
	case s.text == "_":
		return true, true
	case s.before == wordChar && s.after != wordChar && s.consistsOf("+#"):
		return true, false
	case s.before != wordChar && s.after == wordChar && s.consistsOf("-!"):
		return false, true
	}
	return false, false
}
