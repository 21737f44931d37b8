package sources

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mention is a source that a text cites or quotes.
type mention struct {
	number   int    // 0 if the text gives a name
	name     string // such as that of a document; only of a quote
	quote    string // empty if the source is only cited
	quoted   bool
	attached bool // to a word, as the index of an array is
}

// maxDigits limits the digits of the number of a source, so that [2024] is a year.
const maxDigits = 3

var (
	tag      = regexp.MustCompile(`(?i)<quote(?:\s[^<>]*)?>|</quote\s*>`)
	named    = regexp.MustCompile(`(?i)\ssource\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))`)
	brackets = regexp.MustCompile(`\[\s*[0-9]{1,4}(?:\s*[,;]\s*[0-9]{1,4})*\s*\]`)
	numbers  = regexp.MustCompile(`[0-9]+`)
	fence    = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	ticks    = regexp.MustCompile("`+")

	paragraphs = regexp.MustCompile(`\n[ \t\r]*\n`)
)

// MayQuote reports whether a text may quote a source.
func MayQuote(text string) bool { return tag.MatchString(text) }

// parse returns what a text mentions: its quotes and, behind them, each source that it cites and does not quote. What stands
// in code is none of these.
func parse(text string) (list []mention) {
	if !strings.ContainsAny(text, "[<") {
		return nil
	}
	masked := maskCode(text)
	var cited []mention
	open := -1 // where the body of a quote begins
	var source mention
	for _, at := range tag.FindAllIndex(masked, -1) {
		closes := masked[at[0]+1] == '/'
		switch {
		case closes && open >= 0:
			source.quote, source.quoted = strings.TrimSpace(text[open:at[0]]), true
			list = append(list, source)
			blank(masked[open:at[0]])
			open = -1
		case !closes:
			if open >= 0 { // the quote before is not closed
				cited = append(cited, source)
			}
			source, open = sourceOf(text[at[0]:at[1]]), -1
			if source != (mention{}) {
				open = at[1]
			}
		}
		blank(masked[at[0]:at[1]])
	}
	if open >= 0 {
		cited = append(cited, source)
	}
	cited = append(cited, inBrackets(masked)...)
	for _, c := range cited {
		same := func(m mention) bool { return m.number == c.number && m.name == c.name }
		if !slices.ContainsFunc(list, same) {
			list = append(list, c)
		}
	}
	return list
}

// sourceOf returns the source that a tag names, or the zero mention if it names none.
func sourceOf(tag string) (m mention) {
	found := named.FindStringSubmatch(tag)
	if found == nil {
		return m
	}
	m.name = strings.TrimSpace(found[1] + found[2] + found[3])
	number := strings.Trim(m.name, "[] ")
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		return mention{number: n}
	}
	return m
}

// inBrackets returns the sources that a text cites by numbers in brackets, each once. Brackets with a number that no source
// can have are none: [0, 1] is an interval, and [2024] a year.
func inBrackets(text []byte) (list []mention) {
	for _, at := range brackets.FindAllIndex(text, -1) {
		before, _ := utf8.DecodeLastRune(text[:at[0]])
		var group []mention
		for _, digits := range numbers.FindAll(text[at[0]:at[1]], -1) {
			n, _ := strconv.Atoi(string(digits)) // at most four digits
			if n == 0 || len(digits) > maxDigits || digits[0] == '0' {
				group = nil
				break
			}
			group = append(group, mention{number: n, attached: unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_'})
		}
		for _, m := range group {
			at := slices.IndexFunc(list, func(x mention) bool { return x.number == m.number })
			switch {
			case at < 0:
				list = append(list, m)
			case !m.attached:
				list[at].attached = false
			}
		}
	}
	return list
}

// maskCode returns a text whose code, as Markdown has it, is blank.
func maskCode(text string) []byte {
	masked := []byte(text)
	fenced, start := "", 0
	for line := range strings.Lines(text) {
		end := start + len(line)
		mark := ""
		if found := fence.FindStringSubmatch(line); found != nil {
			mark = found[1]
		}
		switch {
		case fenced == "" && mark != "":
			fenced = mark
			blank(masked[start:end])
		case fenced != "":
			blank(masked[start:end])
			if strings.HasPrefix(mark, fenced) && strings.TrimSpace(strings.Trim(line, " `~\r\n")) == "" {
				fenced = ""
			}
		}
		start = end
	}
	maskSpans(masked)
	return masked
}

// maskSpans blanks code within lines: what stands between two runs of as many backticks, in one paragraph.
func maskSpans(masked []byte) {
	breaks := paragraphs.FindAllIndex(masked, -1)
	runs := ticks.FindAllIndex(masked, -1)
	next := map[int][]int{} // the runs of each length, in order
	for i, at := range runs {
		next[at[1]-at[0]] = append(next[at[1]-at[0]], i)
	}
	for i := 0; i < len(runs); i++ { // a run is closed by the next one of the same length
		length := runs[i][1] - runs[i][0]
		same := next[length]
		for len(same) > 0 && same[0] <= i {
			same = same[1:]
		}
		next[length] = same
		if len(same) == 0 {
			continue
		}
		start, end := runs[i][0], runs[same[0]][1]
		if at := sort.Search(len(breaks), func(i int) bool { return breaks[i][0] > start }); at == len(breaks) || breaks[at][0] > end {
			blank(masked[start:end])
			i = same[0]
		}
	}
}

// blank overwrites a text with blanks.
func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}

// Readable returns a text with its quotes as readers know them: <quote source="3">so it is</quote> becomes “so it is” [3].
func Readable(text string) string {
	if !MayQuote(text) {
		return text
	}
	var b strings.Builder
	written := 0
	var open []int // the place of a tag that is not closed yet
	for _, at := range tag.FindAllIndex(maskCode(text), -1) {
		if text[at[0]+1] != '/' {
			open = at
			continue
		}
		if open == nil {
			continue
		}
		source := sourceOf(text[open[0]:open[1]])
		if label := cmp.Or(source.name, strconv.Itoa(source.number)); source != (mention{}) {
			b.WriteString(text[written:open[0]] + "“" + strings.Trim(text[open[1]:at[0]], " \r\n\t\"“”„«»") + "” [" + label + "]")
			written = at[1]
		}
		open = nil
	}
	return b.String() + text[written:]
}
