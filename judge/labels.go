package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Labels are the neutral names under which one judge sees the participants of one debate. They stay the same
// throughout the debate, and never change once made. Safe for concurrent use.
//
// They hide who is who from a judge that knows a participant's name or goes by the order of the seats. What they
// cannot hide is a name in another spelling, such as another case or Unicode form, or one that is hinted at; and a
// name that is a common word, such as "A", is replaced wherever it stands as a word.
//
// Nil labels hide nothing: the reader knows who is who.
type Labels struct {
	names  []string          // by label: Debater A comes first
	labels map[string]string // by name
	back   map[string]string // by label in upper case, without "DEBATER "
	first  [256]bool         // bytes that a name or a label begins with
	sorted []string          // names, the longest first
	fence  string
}

// Blind gives each participant a label: "Debater A", "Debater B" and, beyond 26, "Debater AA". Who gets which is drawn
// by the debate's id and the judge's name alone, so that it is the same in each process and each round; swap draws the
// opposite order.
func Blind(names []string, debate, judge string, swap bool) *Labels {
	l := &Labels{labels: map[string]string{}, back: map[string]string{}}
	for _, name := range names {
		if _, again := l.labels[name]; !again && name != "" {
			l.labels[name] = ""
			l.names = append(l.names, name)
		}
	}
	slices.SortFunc(l.names, func(a, b string) int { return bytes.Compare(digest(debate, judge, a), digest(debate, judge, b)) })
	if swap {
		slices.Reverse(l.names)
	}
	for i, name := range l.names {
		who := ordinal(i)
		l.labels[name], l.back[who] = debater+" "+who, name
		l.first[name[0]] = true
	}
	l.first['D'], l.first['d'] = true, true
	l.sorted = slices.Clone(l.names)
	slices.SortStableFunc(l.sorted, func(a, b string) int { return len(b) - len(a) })
	l.fence = strconv.FormatUint(binary.BigEndian.Uint64(digest(debate, judge, "", "fence")), 10)
	return l
}

// digest is a hash of texts that differs where any of them does.
func digest(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p))) // a hash takes all
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// ordinal counts A to Z, then AA, AB and so on.
func ordinal(i int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(alphabet) {
		return alphabet[i : i+1]
	}
	return ordinal(i/len(alphabet)-1) + ordinal(i%len(alphabet))
}

// Names are the labels in order: Debater A, Debater B.
func (l *Labels) Names() []string {
	list := make([]string, len(l.names))
	for i, name := range l.names {
		list[i] = l.labels[name]
	}
	return list
}

// Of is a participant's label. Any other name is returned as it is.
func (l *Labels) Of(name string) string {
	if l == nil {
		return name
	}
	if label, ok := l.labels[name]; ok {
		return label
	}
	return name
}

// Seats are the participants as the judge may see them: in the order of their labels, and with the names in all texts
// hidden. Whoever has no label comes last.
func (l *Labels) Seats(seats []transcript.Seat) []transcript.Seat {
	if l == nil {
		return seats
	}
	list := slices.Clone(seats)
	rank := func(s transcript.Seat) int {
		if i := slices.Index(l.names, s.Name); i >= 0 {
			return i
		}
		return len(l.names)
	}
	slices.SortStableFunc(list, func(a, b transcript.Seat) int { return rank(a) - rank(b) })
	for i := range list {
		s := &list[i]
		s.Name = l.Of(s.Name)
		for _, text := range []*string{&s.Role, &s.Side, &s.Position, &s.Persona, &s.Instructions} {
			*text = l.Hide(*text)
		}
		s.KeyArguments = slices.Clone(s.KeyArguments)
		for j, text := range s.KeyArguments {
			s.KeyArguments[j] = l.Hide(text)
		}
	}
	return list
}

// Hide puts labels in the place of the participants' names in a text, where these stand as words: "Ann's" becomes
// "Debater A's", "Annual" stays. Of names that contain one another the longest counts. In scripts that put no space
// between words, and before the endings of Korean, a name is a word wherever it stands. A label that stands in the text
// already is none of the judge's, and becomes "debater (A)".
//
// Each text is to be hidden once: what was hidden would be taken for a forgery.
func (l *Labels) Hide(text string) string {
	if l == nil {
		return text
	}
	return replace(text, &l.first, func(rest string, before rune) (string, int) {
		for _, name := range l.sorted {
			if strings.HasPrefix(rest, name) && apart(head(name), before) && apart(tail(name), head(rest[len(name):])) {
				return l.labels[name], len(name)
			}
		}
		who, n := spoken(rest, before)
		if _, forged := l.back[who]; !forged || l.labels[rest[n-len(who):n]] != "" {
			return "", 0 // a name behind the word is found when its turn comes
		}
		return "debater (" + who + ")", n
	})
}

// Reveal puts the participants' names in the place of their labels, with any space or joint between their two words. The
// first may have any case; the second is in capitals, else it is a word like "a".
func (l *Labels) Reveal(text string) string {
	if l == nil {
		return text
	}
	return replace(text, &l.first, func(rest string, before rune) (string, int) {
		who, n := spoken(rest, before)
		name, known := l.back[who]
		if !known || rest[n-len(who):n] != who { // "the debater a point was put to" names nobody
			return "", 0
		}
		return name, n
	})
}

// Fence is the number in the marks that quoted statements stand between. It is drawn by debate and judge, and
// participants are never told.
func (l *Labels) Fence() string {
	if l == nil {
		return ""
	}
	return l.fence
}

// Quote is a statement as it reaches the judge: between two marks, of which the first names its speaker and the
// round, each on a line of its own.
//
//	<<<9214337650718826612 begin: Debater A, round 2>>>
//	What was said.
//	<<<9214337650718826612 end>>>
//
// Who is a participant's name, or that of another, which stays; a round of 0 is left out. Names are hidden in who and
// in the text, which come as they are. Nothing in the text can end it or begin another: the fence's number is taken out
// of it, and so are control characters, those that nobody sees, and angle brackets that could pass for a mark's.
func (l *Labels) Quote(who string, round int, text string) string {
	speaker, hidden := l.labels[who]
	if !hidden {
		speaker = strings.Join(strings.Fields(l.safe(l.Hide(clean(who)))), " ")
	}
	if round > 0 {
		speaker += fmt.Sprintf(", round %d", round)
	}
	return l.Enclose(speaker, l.Hide(clean(text)))
}

// Enclose is a text between the marks of Quote in which the names are hidden already: one that was made of quotes.
func (l *Labels) Enclose(what, text string) string {
	if l == nil {
		return what + ":\n\n" + text
	}
	return fmt.Sprintf("<<<%s begin: %s>>>\n%s\n<<<%[1]s end>>>", l.fence, what, l.safe(text))
}

// safe is a text between marks.
func (l *Labels) safe(text string) string {
	return strings.ReplaceAll(blunt(clean(text)), l.fence, "[removed]")
}
