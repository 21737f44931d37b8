package quote

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// TestRates checks quotes of a text, and quotes that were changed so that the text does not contain them. It measures
// the documents of this project. make quotes measures other texts, which QUOTE_TEXTS names.
func TestRates(t *testing.T) {
	files := filepath.SplitList(os.Getenv("QUOTE_TEXTS"))
	if len(files) == 0 {
		measure(t, "docs", New(documents(t)), 40, present, absent)
		return
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		measure(t, filepath.Base(file), For(file, string(text)), 250, present, absent)
	}
}

// TestRatesOfCode does the same with the code of this project, where each character counts but white space.
func TestRatesOfCode(t *testing.T) {
	measure(t, "code", Code(read(t, "../../*.go")), 200, []class{present[0], present[3]}, []class{
		absent[4], absent[5],
		{"sign changed", false, false, func(s *sampler) string { return s.changeSign() }},
		{"case changed", false, false, func(s *sampler) string {
			return s.changeOne(`[a-zA-Z]`, func(c string) string {
				if upper := strings.ToUpper(c); upper != c {
					return upper
				}
				return strings.ToLower(c)
			})
		}},
		{"character left out", false, false, func(s *sampler) string {
			return s.changeOne(`[^\sa-zA-Z0-9_]`, func(string) string { return "" })
		}},
		{"character doubled", false, false, func(s *sampler) string {
			return s.changeOne(`[^\sa-zA-Z0-9_]`, func(c string) string { return c + c })
		}},
	})
}

// changeOne changes one part of a passage that matches a pattern.
func (s *sampler) changeOne(pattern string, change func(string) string) string {
	q := s.passage()
	at := regexp.MustCompile(pattern).FindAllStringIndex(q, -1)
	if len(at) == 0 {
		return ""
	}
	i := at[s.IntN(len(at))]
	changed := q[:i[0]] + change(q[i[0]:i[1]]) + q[i[1]:]
	if strings.Contains(s.bare, bare(changed)) {
		return "" // the passage stands in the text too, such as one without its last bracket
	}
	return changed
}

func documents(t *testing.T) string { return read(t, "../../docs/*.md") }

func read(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	b := &strings.Builder{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		b.Write(text)
	}
	return b.String()
}

// A sampler draws quotes from a text.
type sampler struct {
	*rand.Rand
	text   string
	fields []Place // the parts between white space
	code   []Place // the parts that are code
	prose  bool    // quotes have no code
	bare   string  // the text without white space
	signs  []Place // between words
	words  string  // the words of the text, each between spaces
}

// A class makes quotes of one kind. It returns "" if the passage that was drawn has no quote of this kind.
type class struct {
	name  string
	words bool // its quotes have other words than the text, so that one with the words of the text is left out
	prose bool // its quotes differ in what counts in code
	make  func(*sampler) string
}

// present are classes of quotes that a text contains, and absent those of quotes that it does not contain.
var (
	present = []class{
		{"exact", false, false, func(s *sampler) string { return s.passage() }},
		{"case", false, true, func(s *sampler) string { return strings.ToUpper(s.passage()) }},
		{"punctuation", false, true, func(s *sampler) string { return withoutPunctuation(s.passage()) }},
		{"white space", false, false, func(s *sampler) string { return strings.Join(strings.Fields(s.passage()), "\n  ") }},
		{"Unicode form", false, true, func(s *sampler) string { return unicodeForm(s.passage()) }},
		{"hyphen at line end", false, true, func(s *sampler) string { return s.hyphenated(s.passage()) }},
		{"omission", false, false, func(s *sampler) string { return s.omission(true, 3, 40, " ... ") }},
	}
	absent = []class{
		{"word replaced", true, false, func(s *sampler) string {
			return s.changeWord(func(w []string, i int) []string { w[i] = s.word(); return w })
		}},
		{"word deleted", true, false, func(s *sampler) string {
			return s.changeWord(func(w []string, i int) []string { return slices.Delete(w, i, i+1) })
		}},
		{"word inserted", true, false, func(s *sampler) string {
			return s.changeWord(func(w []string, i int) []string { return slices.Insert(w, i, s.word()) })
		}},
		{"words swapped", true, false, func(s *sampler) string {
			return s.changeWord(func(w []string, i int) []string { w[i], w[i-1] = w[i-1], w[i]; return w })
		}},
		{"letter changed", true, false, func(s *sampler) string {
			return s.changeWord(func(w []string, i int) []string { w[i] = s.misspell(w[i]); return w })
		}},
		{"digit changed", false, false, func(s *sampler) string { return s.number(changeDigit) }},
		{"decimal point moved", false, false, func(s *sampler) string { return s.number(movePoint) }},
		{"sign changed", false, false, func(s *sampler) string { return s.changeSign() }},
		{"words cut", false, false, func(s *sampler) string { return s.cut() }},
		{"pieces in wrong order", false, false, func(s *sampler) string { return s.omission(false, 3, 40, " ... ") }},
		{"pieces far apart", false, false, func(s *sampler) string { return s.omission(true, 1500, 5000, " ... ") }},
		{"pieces without a mark", false, false, func(s *sampler) string { return s.omission(true, 3, 40, " ") }},
	}
)

func measure(t *testing.T, name string, prepared *Text, each int, present, absent []class) {
	text := prepared.text
	s := &sampler{Rand: rand.New(rand.NewPCG(1, 2)), text: text, words: " " + strings.Join(plainWords(text), " ") + " ", code: prepared.code, bare: bare(text), signs: signsOf(text)}
	for _, at := range regexp.MustCompile(`\S+`).FindAllStringIndex(text, -1) {
		s.fields = append(s.fields, Place{at[0], at[1]})
	}
	var quotes, all, found, accepted int
	check := func(c class, want bool) {
		made, wrong := 0, 0
		s.prose = c.prose
		for range each * 50 {
			q := c.make(s)
			if made == each {
				break
			}
			if q == "" || c.words && s.contains(q) {
				continue
			}
			verdict, _ := prepared.Check(q)
			if verdict == TooShort {
				continue
			}
			made++
			if ok := verdict == Verified || verdict == Elided; ok != want {
				wrong++
				if testing.Verbose() && wrong <= 3 {
					t.Logf("%s: %q: %s", c.name, q, verdict)
				}
			}
		}
		t.Logf("%-12s %-24s %4d quotes, %d wrong", name, c.name, made, wrong)
		quotes += made
		if want {
			all, found = all+made, found+made-wrong
		} else {
			accepted += wrong
		}
	}
	for _, c := range present {
		check(c, true)
	}
	for _, c := range absent {
		check(c, false)
	}
	require.Positive(t, found)
	precision, recall := float64(found)/float64(found+accepted), float64(found)/float64(all)
	t.Logf("| %s | %d | %d | %.4f | %.4f |", name, len(text), quotes, precision, recall)
	require.GreaterOrEqual(t, precision, 0.99)
	require.GreaterOrEqual(t, recall, 0.99)
}

// plainWords returns the words of a text in lower case. It finds them in another way than reduce does.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(norm.NFC.String(text)), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// contains reports whether the text contains the words of a quote.
func (s *sampler) contains(q string) bool { return s.count(q) > 0 }

func (s *sampler) count(q string) int {
	return strings.Count(s.words, " "+strings.Join(plainWords(q), " ")+" ")
}

// passage returns 6 to 40 words.
func (s *sampler) passage() string {
	for {
		from, to := s.bounds()
		start, end := s.fields[from].Start, s.fields[to].End
		overlaps := func(c Place) bool { return c.Start < end && start < c.End }
		if !s.prose || !slices.ContainsFunc(s.code, overlaps) {
			return s.text[start:end]
		}
	}
}

func (s *sampler) bounds() (from, to int) {
	n := 6 + s.IntN(35)
	from = s.IntN(len(s.fields) - n)
	for strings.HasPrefix(s.text[s.fields[from+n].Start:], "%") {
		n++ // a number and its unit are one word
	}
	return from, from + n - 1
}

func (s *sampler) word() string {
	f := s.fields[s.IntN(len(s.fields))]
	return s.text[f.Start:f.End]
}

func withoutPunctuation(q string) string {
	if regexp.MustCompile(`[\d$€£]|[\p{Sm}#@&*/^%]\pP|\pP[\p{Sm}#@&*/^%]`).MatchString(q) {
		return "" // punctuation has a meaning in numbers, and shows what a sign belongs to
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsPunct(c) && !strings.ContainsRune("-_/.#@&*%!", c) {
			return -1
		}
		return c
	}, q)
}

func unicodeForm(q string) string {
	q = strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ", `"`, "”", "'", "’", "en", "e\u00adn").Replace(q)
	return norm.NFD.String(q)
}

// hyphenated divides a word of a quote at the end of a line.
func (s *sampler) hyphenated(q string) string {
	long := regexp.MustCompile(`[a-z]{6,}`).FindAllStringIndex(q, -1)
	if len(long) == 0 {
		return ""
	}
	at := long[s.IntN(len(long))][0] + 3
	return q[:at] + "-\n" + q[at:]
}

// omission returns two pieces of 4 to 12 words, in order or not, and the mark between them.
func (s *sampler) omission(inOrder bool, fewest, most int, mark string) string {
	a := 4 + s.IntN(9)
	b := 4 + s.IntN(9)
	gap := fewest + s.IntN(most-fewest)
	if a+b+gap >= len(s.fields) {
		return ""
	}
	from := s.IntN(len(s.fields) - a - b - gap)
	first := s.text[s.fields[from].Start:s.fields[from+a-1].End]
	second := s.text[s.fields[from+a+gap].Start:s.fields[from+a+gap+b-1].End]
	if ellipsis.MatchString(first+" "+second) || strings.HasPrefix(s.text[s.fields[from+a].Start:], "%") ||
		!inOrder && (s.count(first) > 1 || s.count(second) > 1) || most > 40 && (s.count(first) > 1 || s.count(second) > 1) {
		return ""
	}
	omitted := s.text[s.fields[from+a].Start:s.fields[from+a+gap-1].End]
	switch letters := len(strings.Join(plainWords(omitted), "")); {
	case most <= 40 && letters > MaxOmission*9/10, most > 40 && letters < MaxOmission*11/10:
		return ""
	case inOrder:
		return first + mark + second
	}
	return second + mark + first
}

func (s *sampler) changeWord(change func(words []string, i int) []string) string {
	q := s.passage()
	words := strings.Fields(q)
	i := 1 + s.IntN(len(words)-2)
	changed := strings.Join(change(slices.Clone(words), i), " ")
	if slices.Equal(plainWords(changed), plainWords(q)) || strings.Join(plainWords(changed), "") == strings.Join(plainWords(q), "") {
		return ""
	}
	return changed
}

func (s *sampler) misspell(w string) string {
	at := regexp.MustCompile(`[a-z]`).FindAllStringIndex(w, -1)
	if len(at) == 0 {
		return w
	}
	i := at[s.IntN(len(at))][0]
	return w[:i] + string('a'+(w[i]-'a'+1+byte(s.IntN(25)))%26) + w[i+1:]
}

var digits = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// number changes a number of a passage that has one.
func (s *sampler) number(change func(string) string) string {
	for range 200 {
		q := s.passage()
		at := digits.FindAllStringIndex(q, -1)
		if len(at) == 0 {
			continue
		}
		i := at[s.IntN(len(at))]
		if changed := change(q[i[0]:i[1]]); changed != "" {
			return q[:i[0]] + changed + q[i[1]:]
		}
	}
	return ""
}

// signBetween matches a sign between words, in one of three groups.
var signBetween = regexp.MustCompile(`\w ?([*+/&@^=<>]|&&|\|\||[!=<>]=|->) ?\w|\w(_|\+\+)|\s(--)\w`)

// changeSign replaces a sign between words by another one, or removes it.
func (s *sampler) changeSign() string {
	if len(s.signs) == 0 {
		return ""
	}
	sign := s.signs[s.IntN(len(s.signs))]
	middle, _ := slices.BinarySearchFunc(s.fields, sign.Start+1, func(f Place, at int) int { return f.End - at })
	first, last := middle-3-s.IntN(12), middle+3+s.IntN(12)
	if first < 0 || last >= len(s.fields) {
		return ""
	}
	others := []string{"+", "/", "*", "!=", "<", ">", "&&", "||", "->", " "}
	other := others[s.IntN(len(others))]
	if other == s.text[sign.Start:sign.End] {
		return ""
	}
	return s.text[s.fields[first].Start:sign.Start] + other + s.text[sign.End:s.fields[last].End]
}

// signsOf returns the places of signs in a text.
func signsOf(text string) (list []Place) {
	for _, at := range signBetween.FindAllStringSubmatchIndex(text, -1) {
		list = append(list, Place{max(at[2], at[4], at[6]), max(at[3], at[5], at[7])})
	}
	return list
}

func changeDigit(n string) string {
	i := strings.LastIndexAny(n, "0123456789")
	return n[:i] + string('0'+(n[i]-'0'+1)%10) + n[i+1:]
}

func movePoint(n string) string {
	if whole, part, ok := strings.Cut(n, "."); ok && len(part) > 1 && !strings.Contains(part, ".") {
		return whole + part[:1] + "." + part[1:]
	} else if !ok && len(n) > 1 && !strings.Contains(n, ",") {
		return n[:1] + "." + n[1:]
	}
	return ""
}

// cut returns a passage without the beginning of its first word, or without the end of its last word.
func (s *sampler) cut() string {
	from, to := s.bounds()
	first, last := s.fields[from], s.fields[to]
	if s.IntN(2) == 0 {
		first.Start += 1 + s.IntN(2)
		if first.End-first.Start < 2 || !regexp.MustCompile(`^[a-z]{2}`).MatchString(s.text[first.Start-1:]) {
			return ""
		}
	} else {
		last.End -= 1 + s.IntN(2)
		if last.End-last.Start < 2 || !regexp.MustCompile(`^[a-z]{2}`).MatchString(s.text[last.End-1:]) {
			return ""
		}
	}
	return s.text[first.Start:last.End]
}
