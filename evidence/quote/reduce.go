package quote

import (
	"iter"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A reduced text is what Check compares of a text: letters, numbers, and the signs that belong to numbers.
type reduced struct {
	text    string
	letters string
	words   []word // in order
	marks   []mark // in order
}

// A mark holds the signs at one place between the letters that may be those of an item, a heading, a quotation, a comment or a rule.
type mark struct {
	at     int // in the letters
	all    string
	counts string // those of all that have a meaning, because they are not at the beginning of a line
}

// maxMark limits the bytes of a mark, so that a text that repeats such signs takes no more time than others.
const maxMark = 64

// A word is a part of a text that a quote takes whole or leaves out.
type word struct {
	span        // in the reduced text
	place Place // in the text
}

// A span is a part of a reduced text: letters[start:end].
type span struct{ start, end int }

const (
	wordSize   = 2
	letterSize = 1 // of a script without spaces, in which words have about two letters
	signSize   = 1
)

// size returns the number of words, times wordSize. A sign counts half a word.
func (r *reduced) size() (n int) {
	for _, w := range r.words {
		switch first, _ := utf8.DecodeRuneInString(r.letters[w.start:w.end]); {
		case unspaced(first):
			n += letterSize
		case strings.ContainsFunc(r.letters[w.start:w.end], isLetter):
			n += wordSize
		default:
			n += signSize
		}
	}
	return n
}

// locate returns the place of a span, and reports whether the span begins and ends at the boundaries of words.
func (r *reduced) locate(s span) (p Place, ok bool) {
	first := sort.Search(len(r.words), func(i int) bool { return r.words[i].start >= s.start })
	last := sort.Search(len(r.words), func(i int) bool { return r.words[i].end >= s.end })
	if first == len(r.words) || last == len(r.words) || r.words[first].start != s.start || r.words[last].end != s.end {
		return p, false
	}
	return Place{r.words[first].place.Start, r.words[last].place.End}, true
}

// reduce reduces a text.
func reduce(text string) reduced {
	r := &reducer{text: text}
	r.letters.Grow(len(text))
	end := 0
	for t := range tokens(text) {
		r.add(text[end:t.Start], t)
		end = t.End
	}
	r.finish(text[end:])
	return reduced{text, r.letters.String(), r.words, r.marks}
}

// A reducer reduces a text from its beginning to its end.
type reducer struct {
	text    string
	letters strings.Builder
	words   []word
	marks   []mark
	last    string // the folded letters of the token before
}

// begin begins a word.
func (r *reducer) begin(start int) {
	at := r.letters.Len()
	r.words = append(r.words, word{span{at, at}, Place{start, start}})
}

// write adds letters to the word that was begun last.
func (r *reducer) write(letters string, end int) {
	r.letters.WriteString(letters)
	w := &r.words[len(r.words)-1]
	w.end, w.place.End = r.letters.Len(), end
}

// add adds a token, and what the characters between it and the token before it mean.
func (r *reducer) add(between string, t Place) {
	letters := fold(r.text[t.Start:t.End])
	if letters == "" {
		return
	}
	if joint, ok := r.joint(between, letters); ok {
		r.write(joint+letters, t.End)
	} else {
		r.next(between[r.unit(between):], letters, t)
	}
	r.last = letters
}

// next adds a token that does not belong to the one before, and the signs before it.
func (r *reducer) next(between, letters string, t Place) {
	start := t.Start
	prefix := ""
	if startsWithDigit(letters) {
		prefix = r.prefix(between, &t)
	}
	list := signsIn(between[:len(between)-(start-t.Start)], len(r.words) > 0, true)
	onlyMarks := !slices.ContainsFunc(list, func(s foundSign) bool { return !s.isMark() })
	if onlyMarks && prefix == "" && startsWithDigit(letters) && endsWithDigit(r.last) {
		r.letters.WriteByte(' ') // 19 14 is not 1914
	}
	joined := false
	for _, s := range list {
		at := start - len(between)
		joined = r.sign(s, Place{at + s.Start, at + s.End})
	}
	if !joined {
		r.begin(t.Start)
	}
	r.write(prefix+letters, t.End)
}

// sign adds a sign. It reports whether the token behind the sign belongs to the same word.
func (r *reducer) sign(s foundSign, at Place) (joins bool) {
	if s.isMark() {
		r.mark(s)
		return false
	}
	toLast, toNext := s.belongs()
	if !toLast {
		r.begin(at.Start)
	}
	r.write(s.compared(), at.End)
	return toNext
}

// mark adds a sign to the mark at this place.
func (r *reducer) mark(s foundSign) {
	at := r.letters.Len()
	if len(r.marks) == 0 || r.marks[len(r.marks)-1].at != at {
		r.marks = append(r.marks, mark{at: at})
	}
	m := &r.marks[len(r.marks)-1]
	if len(m.all) > maxMark {
		return
	}
	m.all += s.compared()
	if !s.isIdle() {
		m.counts += s.compared()
	}
}

// finish adds what stands behind the last token.
func (r *reducer) finish(rest string) {
	rest = rest[r.unit(rest):]
	for _, s := range signsIn(rest, len(r.words) > 0, false) {
		at := len(r.text) - len(rest)
		r.sign(s, Place{at + s.Start, at + s.End})
	}
}

const (
	thousands  = ",'’\u00a0\u2009\u202f" // what can stand between groups of three digits
	separators = ".,:/"                  // what can stand between digits of one number, date or time
	minuses    = "-−–"
)

// lineEnd matches what can stand between the two parts of a word that is divided at the end of a line.
var lineEnd = regexp.MustCompile(`^[-‐]?[ \t]*\r?\n[ \t]*$`)

// joint returns what connects two tokens of one word, and whether they are one word.
func (r *reducer) joint(between, letters string) (string, bool) {
	first, size := utf8.DecodeRuneInString(between)
	switch {
	case len(r.words) == 0 || between == "":
		return "", false
	case !startsWithDigit(letters) && !endsWithDigit(r.last):
		hyphen := strings.ContainsAny(between, "-‐") || strings.HasSuffix(r.text[:r.words[len(r.words)-1].place.End], "\u00ad")
		c, _ := utf8.DecodeRuneInString(letters)
		return "", hyphen && !unspaced(c) && lineEnd.MatchString(between)
	case !startsWithDigit(letters) || !endsWithDigit(r.last) || size != len(between):
		return "", false
	case strings.ContainsRune(thousands, first) && isGroup(letters) && len(letters) == 3 && isGroup(r.last):
		return "", true
	}
	return between, strings.ContainsRune(separators, first)
}

// isGroup reports whether letters are a group of digits of a number such as 1,000,000.
func isGroup(letters string) bool {
	return len(letters) <= 3 && strings.Trim(letters, "0123456789") == ""
}

// unit adds the unit that follows a number, such as %, and returns the number of bytes that it takes.
func (r *reducer) unit(between string) int {
	trimmed := strings.TrimLeft(between, spaces)
	c, size := utf8.DecodeRuneInString(trimmed)
	if !endsWithDigit(r.last) || !strings.ContainsRune("%％‰", c) && (c == '$' || !unicode.Is(unicode.Sc, c)) {
		return 0
	}
	n := len(between) - len(trimmed) + size
	r.write(norm.NFKC.String(string(c)), r.words[len(r.words)-1].place.End+n)
	r.last = "" // no number any more
	return n
}

// prefix returns the minus and the currency that stand before a number, and makes them part of its token.
func (r *reducer) prefix(between string, number *Place) (sign string) {
	if c, size := utf8.DecodeLastRuneInString(between); unicode.Is(unicode.Sc, c) {
		sign = string(c)
		between = between[:len(between)-size]
		number.Start -= size
	}
	c, size := utf8.DecodeLastRuneInString(between)
	if rest := between[:len(between)-size]; strings.ContainsRune(minuses, c) && r.opens(rest) {
		sign = "-" + sign
		number.Start -= size
	}
	return sign
}

// opens reports whether a number can begin behind the characters between two tokens.
func (r *reducer) opens(between string) bool {
	c, _ := utf8.DecodeLastRuneInString(between)
	return between == "" && len(r.words) == 0 || between != "" && strings.ContainsRune(opening, c)
}

var (
	powers    = regexp.MustCompile(`(\p{Nd})([⁰¹²³⁴-⁹]+)`)
	fractions = regexp.MustCompile(`(\p{Nd})([¼-¾⅐-⅞↉])`)
	folder    = cases.Fold()
)

// fold returns the letters and numbers of a token in the form in which they are compared.
func fold(token string) string {
	if isASCII(token) {
		return strings.ToLower(token)
	}
	token = powers.ReplaceAllString(token, "$1^$2")       // 10² is not 102
	token = fractions.ReplaceAllString(token, "$1\x1f$2") // 1½ is not 11/2
	folded := norm.NFKC.String(folder.String(norm.NFKC.String(token)))
	return strings.Map(func(c rune) rune {
		switch {
		case c == '⁄':
			return '/'
		case c == '\x1f':
			return ' '
		case isLetter(c) || c == '^':
			return c
		}
		return -1
	}, folded)
}

// tokens yields the runs of letters, numbers and marks of a text. Each letter of a script without spaces is a run.
func tokens(text string) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		var t Place // empty while no run has begun
		for i := 0; i < len(text); {
			c, size := utf8.DecodeRuneInString(text[i:])
			mark := t.End > t.Start && c >= utf8.RuneSelf && (unicode.Is(unicode.M, c) || isHidden(c))
			if t.End > t.Start && !mark && (!isLetter(c) || unspaced(c) || endsUnspaced(text[t.Start:t.End])) {
				if !yield(t) {
					return
				}
				t = Place{}
			}
			switch {
			case t.End > t.Start:
				t.End = i + size
			case isLetter(c):
				t = Place{i, i + size}
			}
			i += size
		}
		if t.End > t.Start {
			yield(t)
		}
	}
}

// isLetter reports whether a character is a letter, a number or a mark.
func isLetter(c rune) bool {
	if c < utf8.RuneSelf {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	return unicode.In(c, unicode.L, unicode.N, unicode.M)
}

// isHidden reports whether a character within a word is not seen, such as a soft hyphen. A space without width separates
// words.
func isHidden(c rune) bool { return c != '\u200b' && unicode.Is(unicode.Cf, c) }

// unspaced reports whether a letter belongs to a script that has no spaces between words.
func unspaced(c rune) bool {
	return c > unicode.MaxLatin1 &&
		unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func endsUnspaced(token string) bool {
	c, _ := utf8.DecodeRuneInString(token)
	return unspaced(c)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func startsWithDigit(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsDigit(c)
}

func endsWithDigit(s string) bool {
	c, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsDigit(c)
}
