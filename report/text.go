package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// breaks are what ends a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// clean is a text that moves no cursor and turns no direction of writing, with lines that end in \n alone.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Noncharacter_Code_Point) {
			return -1
		}
		return r
	}, breaks.Replace(strings.ToValidUTF8(text, "\uFFFD")))
}

// line is a clean text on one line.
func line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// paragraphs are what blank lines part in a text.
func paragraphs(text string) (list []string) {
	var lines []string
	for l := range strings.Lines(clean(text) + "\n\n") {
		switch {
		case strings.TrimSpace(l) != "":
			lines = append(lines, strings.TrimRightFunc(l, unicode.IsSpace))
		case len(lines) > 0:
			list, lines = append(list, strings.Join(lines, "\n")), nil
		}
	}
	return list
}

// words are a name of the library's in words.
func words[T ~string](name T) string { return strings.ReplaceAll(string(name), "_", " ") }

// number is one with its thousands parted.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// score is a number with at most two decimals.
func score(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// tokens is a count of some of the tokens of a usage.
func tokens(u transcript.Usage, n int) string {
	if u.Estimated {
		return "≈ " + number(n)
	}
	return number(n)
}

// cost is what a usage cost, as far as it is known.
func (s settings) cost(u transcript.Usage) string {
	paid := strconv.FormatFloat(math.Round(u.Cost*1e6)/1e6, 'f', -1, 64)
	switch {
	case u.Cost == 0 && (len(s.Prices) == 0 || u.Unpriced):
		return "no price known"
	case u.Unpriced:
		return "at least " + paid + ", a part has no known price"
	}
	return paid
}

// took is a duration, to the millisecond.
func took(d time.Duration) string { return max(d, 0).Round(time.Millisecond).String() }

// moment is a time in UTC; empty where there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// who says who speaks in a turn, where, and about whom.
func who(t *transcript.Turn) string {
	switch {
	case t.Kind == transcript.Remark, t.Actor == t.Phase: // a remark's target only tells it from others
		return t.Actor
	case t.Target == judge.Swapped:
		return t.Actor + ", " + t.Phase + " in the other order"
	case t.Target != "":
		return t.Actor + ", " + t.Phase + " of " + t.Target
	}
	return t.Actor + ", " + t.Phase
}

// flags are the flags of turns in words.
var flags = map[transcript.Flag]string{
	transcript.Truncated:   "cut at its token cap",
	transcript.Fallback:    "no valid reply came, defaults stand for it",
	transcript.Reasked:     "the first reply was invalid",
	transcript.Partial:     "the model failed, this is as far as it came",
	transcript.Substituted: "by a substitute",
	transcript.Withheld:    "the service held back the rest",
}

// marks are what a reader should know about how a turn came to be.
func marks(t *transcript.Turn) (list []string) {
	if n := len(t.Attempts); n > 1 {
		list = append(list, fmt.Sprintf("%d attempts", n))
	}
	for _, f := range t.Flags {
		text, known := flags[f]
		if !known {
			text = words(f)
		}
		list = append(list, text)
	}
	if w := t.Window; w != nil && w.Cut > 0 {
		list = append(list, fmt.Sprintf("its prompt left out %d turns", w.Cut))
	}
	return list
}
