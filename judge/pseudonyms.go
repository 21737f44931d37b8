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

// Pseudonyms are the neutral names under which one judge sees the participants of one debate. They stay the same
// throughout the debate, and never change once made. Safe for concurrent use.
//
// They hide who is who from a judge that knows a participant's name or goes by the order of the seats. What they
// cannot hide is a name in another spelling, such as another case or Unicode form, or one that is hinted at; and a
// name that is a common word, such as "A", is replaced wherever it stands as a word.
//
// Nil labels hide nothing: the reader knows who is who.
type Pseudonyms struct {
	names        []string          // by label: Debater A comes first
	pseudonyms   map[string]string // by name
	byPseudonym  map[string]string // by label in upper case, without "DEBATER "
	firstBytes   [256]bool         // bytes that a name or a label begins with
	longestFirst []string          // names, the longest first
	nonce        string
}

// NewPseudonyms gives each participant a label: "Debater A", "Debater B" and, beyond 26, "Debater AA". Who gets which is drawn
// by the debate's id and the judge's name alone, so that it is the same in each process and each round; swap draws the
// opposite order.
func NewPseudonyms(names []string, debate, judge string, swap bool) *Pseudonyms {
	l := &Pseudonyms{pseudonyms: map[string]string{}, byPseudonym: map[string]string{}}
	for _, name := range names {
		if _, again := l.pseudonyms[name]; !again && name != "" {
			l.pseudonyms[name] = ""
			l.names = append(l.names, name)
		}
	}
	slices.SortFunc(l.names, func(a, b string) int { return bytes.Compare(hashOf(debate, judge, a), hashOf(debate, judge, b)) })
	if swap {
		slices.Reverse(l.names)
	}
	for i, name := range l.names {
		who := letterLabel(i)
		l.pseudonyms[name], l.byPseudonym[who] = pseudonymPrefix+" "+who, name
		l.firstBytes[name[0]] = true
	}
	l.firstBytes['D'], l.firstBytes['d'] = true, true
	l.longestFirst = slices.Clone(l.names)
	slices.SortStableFunc(l.longestFirst, func(a, b string) int { return len(b) - len(a) })
	l.nonce = strconv.FormatUint(binary.BigEndian.Uint64(hashOf(debate, judge, "", "fence")), 10)
	return l
}

// hashOf is a hash of texts that differs where any of them does.
func hashOf(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p))) // a hash takes all
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// letterLabel counts A to Z, then AA, AB and so on.
func letterLabel(i int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(alphabet) {
		return alphabet[i : i+1]
	}
	return letterLabel(i/len(alphabet)-1) + letterLabel(i%len(alphabet))
}

// Names are the labels in order: Debater A, Debater B.
func (l *Pseudonyms) Names() []string {
	list := make([]string, len(l.names))
	for i, name := range l.names {
		list[i] = l.pseudonyms[name]
	}
	return list
}

// Of is a participant's label. Any other name is returned as it is.
func (l *Pseudonyms) Of(name string) string {
	if l == nil {
		return name
	}
	if label, ok := l.pseudonyms[name]; ok {
		return label
	}
	return name
}

// Profiles are the participants as the judge may see them: in the order of their labels, and with the names in all texts
// hidden. Whoever has no label comes last.
func (l *Pseudonyms) Profiles(seats []transcript.Profile) []transcript.Profile {
	if l == nil {
		return seats
	}
	list := slices.Clone(seats)
	rank := func(s transcript.Profile) int {
		if i := slices.Index(l.names, s.Name); i >= 0 {
			return i
		}
		return len(l.names)
	}
	slices.SortStableFunc(list, func(a, b transcript.Profile) int { return rank(a) - rank(b) })
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
func (l *Pseudonyms) Hide(text string) string {
	if l == nil {
		return text
	}
	return replaceWords(text, &l.firstBytes, func(rest string, before rune) (string, int) {
		for _, name := range l.longestFirst {
			if strings.HasPrefix(rest, name) && atBoundary(firstRune(name), before) && atBoundary(lastRune(name), firstRune(rest[len(name):])) {
				return l.pseudonyms[name], len(name)
			}
		}
		who, n := readPseudonym(rest, before)
		if _, forged := l.byPseudonym[who]; !forged || l.pseudonyms[rest[n-len(who):n]] != "" {
			return "", 0 // a name behind the word is found when its turn comes
		}
		return "debater (" + who + ")", n
	})
}

// Reveal puts the participants' names in the place of their labels, with any space or joint between their two words. The
// first may have any case; the second is in capitals, else it is a word like "a".
func (l *Pseudonyms) Reveal(text string) string {
	if l == nil {
		return text
	}
	return replaceWords(text, &l.firstBytes, func(rest string, before rune) (string, int) {
		who, n := readPseudonym(rest, before)
		name, known := l.byPseudonym[who]
		if !known || rest[n-len(who):n] != who { // "the debater a point was put to" names nobody
			return "", 0
		}
		return name, n
	})
}

// Nonce is the number in the marks that quoted statements stand between. It is drawn by debate and judge, and
// participants are never told.
func (l *Pseudonyms) Nonce() string {
	if l == nil {
		return ""
	}
	return l.nonce
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
func (l *Pseudonyms) Quote(who string, round int, text string) string {
	speaker, hidden := l.pseudonyms[who]
	if !hidden {
		speaker = strings.Join(strings.Fields(l.removeDelimiters(l.Hide(removeInvisible(who)))), " ")
	}
	if round > 0 {
		speaker += fmt.Sprintf(", round %d", round)
	}
	return l.Enclose(speaker, l.Hide(removeInvisible(text)))
}

// Enclose is a text between the marks of Quote in which the names are hidden already: one that was made of quotes.
func (l *Pseudonyms) Enclose(what, text string) string {
	if l == nil {
		return what + ":\n\n" + text
	}
	return fmt.Sprintf("<<<%s begin: %s>>>\n%s\n<<<%[1]s end>>>", l.nonce, what, l.removeDelimiters(text))
}

// removeDelimiters is a text between marks.
func (l *Pseudonyms) removeDelimiters(text string) string {
	return strings.ReplaceAll(shortenBracketRuns(removeInvisible(text)), l.nonce, "[removed]")
}
