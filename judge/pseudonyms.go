package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/transcript"
)

// Pseudonyms are the neutral names under which one reader, such as a judge, sees the participants of one debate. They
// are the same throughout the debate and immutable, so they are safe for concurrent use.
//
// Pseudonyms keep a judge from recognizing a participant by name and from preferring the order in which participants
// are listed. They do not hide a name in another spelling, such as another case or Unicode form, or a name that is
// only hinted at. A name that is a common word, such as "A", is replaced wherever it appears as a word.
//
// Pseudonyms of no participants hide nothing. They only enclose statements, for readers that may know who the
// participants are.
type Pseudonyms struct {
	names        []string          // by pseudonym: Debater A first
	pseudonyms   map[string]string // by name
	byPseudonym  map[string]string // names by pseudonym, in upper case and without "DEBATER "
	firstBytes   [256]bool         // the bytes with which a name or a pseudonym can begin
	longestFirst []string          // names, longest first
	nonce        string            // number in the delimiters of quotes
}

// NewPseudonyms assigns each participant a pseudonym: "Debater A", "Debater B" and so on, then "Debater AA" after the
// first 26. The assignment and the nonce depend only on the names, the debate's seed and the reader's name, so they are
// the same in each process and each round. If swap is true, the order is reversed.
func NewPseudonyms(names []string, seed, reader string, swap bool) *Pseudonyms {
	l := &Pseudonyms{pseudonyms: map[string]string{}, byPseudonym: map[string]string{}}
	for _, name := range names {
		if _, again := l.pseudonyms[name]; !again && name != "" {
			l.pseudonyms[name] = ""
			l.names = append(l.names, name)
		}
	}
	slices.SortFunc(l.names, func(a, b string) int { return bytes.Compare(hashOf(seed, reader, a), hashOf(seed, reader, b)) })
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
	l.nonce = fmt.Sprintf("%020d", binary.BigEndian.Uint64(hashOf(seed, reader, "", "fence"))) // prompts of all debates have the same size
	return l
}

// hashOf returns a hash of parts. Two lists with different parts have different hashes.
func hashOf(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		_ = binary.Write(h, binary.BigEndian, uint64(len(p))) // writing to a hash never fails
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// letterLabel returns the i-th label of the sequence A to Z, AA, AB and so on, counted from 0.
func letterLabel(i int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(alphabet) {
		return alphabet[i : i+1]
	}
	return letterLabel(i/len(alphabet)-1) + letterLabel(i%len(alphabet))
}

// Names returns the pseudonyms in order: Debater A, Debater B and so on.
func (l *Pseudonyms) Names() []string {
	list := make([]string, len(l.names))
	for i, name := range l.names {
		list[i] = l.pseudonyms[name]
	}
	return list
}

// Of returns the pseudonym of a participant. It returns any other name unchanged.
func (l *Pseudonyms) Of(name string) string {
	if label, ok := l.pseudonyms[name]; ok {
		return label
	}
	return name
}

// Profiles returns the participants' profiles as the reader may see them: sorted by pseudonym, and with the names in
// all texts hidden. Participants without a pseudonym come last.
func (l *Pseudonyms) Profiles(seats []transcript.Profile) []transcript.Profile {
	if len(l.names) == 0 {
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
		l.hideTexts(s)
	}
	return list
}

// hideTexts hides the names in the texts of a profile, but not the profile's own name. It changes no list that others
// share.
func (l *Pseudonyms) hideTexts(s *transcript.Profile) {
	for _, text := range []*string{&s.Role, &s.Side, &s.Position, &s.Persona, &s.Instructions} {
		*text = l.Hide(*text)
	}
	s.KeyArguments = slices.Clone(s.KeyArguments)
	for i, text := range s.KeyArguments {
		s.KeyArguments[i] = l.Hide(text)
	}
}

// Hide replaces the participants' names in a text with their pseudonyms. It replaces a name only if it appears as a
// word: "Ann's" becomes "Debater A's", and "Annual" stays. If one name contains another, the longer name is replaced.
// In scripts that put no space between words, and before Korean endings, a name counts as a word wherever it appears.
// A pseudonym that is already in the text does not come from the reader, so it is rewritten as "debater (A)".
//
// Hide a text only once: a second call would rewrite the pseudonyms of the first.
func (l *Pseudonyms) Hide(text string) string {
	if len(l.names) == 0 {
		return text
	}
	return replaceWords(text, &l.firstBytes, func(rest string, before rune) (string, int) {
		if withinWord(rest, before) {
			return "", 0
		}
		if name := l.nameAt(rest, before); name != "" {
			return l.pseudonyms[name], len(name)
		}
		who, n := readPseudonym(rest, before)
		if _, forged := l.byPseudonym[who]; !forged || l.pseudonyms[rest[n-len(who):n]] != "" {
			return "", 0 // a name that follows is found when the scan reaches it
		}
		return "debater (" + who + ")", n
	})
}

// nameAt returns the name with which a text begins, or "".
func (l *Pseudonyms) nameAt(rest string, before rune) string {
	for _, name := range l.longestFirst {
		if strings.HasPrefix(rest, name) && atBoundary(firstRune(name), before) && atBoundary(lastRune(name), firstRune(rest[len(name):])) {
			return name
		}
	}
	return ""
}

// Find returns where a text that the reader gets has names of participants, as offsets in bytes: where Hide would replace them. A
// part of a pseudonym is no name, such as the last word of "Debater B" or of "debater (B)".
func (l *Pseudonyms) Find(text string) (places []int) {
	replaceWords(text, &l.firstBytes, func(rest string, before rune) (string, int) {
		who, n := readPseudonym(rest, before)
		if _, known := l.byPseudonym[who]; known && rest[n-len(who):n] == who {
			return rest[:n], n
		}
		n = len(pseudonymPrefix) + 2
		if len(rest) > n && strings.EqualFold(rest[:n], pseudonymPrefix+" (") {
			if end := strings.IndexByte(rest[n:], ')'); end > 0 && l.byPseudonym[rest[n:n+end]] != "" {
				return rest[:n+end], n + end
			}
		}
		name := l.nameAt(rest, before)
		if name != "" {
			places = append(places, len(text)-len(rest))
		}
		return name, len(name)
	})
	return places
}

// Reveal replaces pseudonyms in a text with the participants' names. Any space, hyphen or underscore may join the two
// words of a pseudonym. The first word may have any case, and the second must be in capitals, because a lower-case
// "a" is an ordinary word.
func (l *Pseudonyms) Reveal(text string) string {
	if len(l.names) == 0 {
		return text
	}
	return replaceWords(text, &l.firstBytes, func(rest string, before rune) (string, int) {
		if withinWord(rest, before) {
			return "", 0
		}
		who, n := readPseudonym(rest, before)
		name, known := l.byPseudonym[who]
		if !known || rest[n-len(who):n] != who { // "the debater a point was put to" contains no pseudonym
			return "", 0
		}
		return name, n
	})
}

// Nonce returns the number in the delimiters around statements. It depends on the seed and the reader, so no other
// reader sees it. It protects the delimiters even if the seed is known, because Quote removes the nonce from statements.
func (l *Pseudonyms) Nonce() string { return l.nonce }

// Quote returns a statement as the reader sees it: between two delimiters, each on a line of its own. The first
// delimiter names the speaker and the round.
//
//	<<<09214337650718826612 begin: Debater A, round 2>>>
//	What was said.
//	<<<09214337650718826612 end>>>
//
// If who is a participant, the pseudonym is shown instead. Any other name is kept. A round of 0 is omitted. Quote
// hides the names in who and text, so pass both unmodified.
//
// The text cannot close the quote or open another one. Quote removes the nonce, control characters and invisible
// characters from it, and shortens runs of angle brackets that look like a delimiter.
func (l *Pseudonyms) Quote(who string, round int, text string) string {
	speaker, hidden := l.pseudonyms[who]
	if !hidden {
		speaker = delimit.Line(l.nonce, l.Hide(delimit.RemoveInvisible(who)))
	}
	if round > 0 {
		speaker = speaker + ", round " + strconv.Itoa(round) // on the stack if it is short, unlike the result of +=
	}
	if len(l.names) > 0 { // otherwise Enclose does the same
		text = l.Hide(delimit.RemoveInvisible(text))
	}
	return l.Enclose(speaker, text)
}

// Enclose returns a text between the delimiters of Quote. The names in the text must already be hidden, as in a text
// that was made from quotes.
func (l *Pseudonyms) Enclose(what, text string) string { return delimit.Enclose(l.nonce, what, text) }

// HideAll hides the names in each of texts, in place, and returns texts.
func (l *Pseudonyms) HideAll(texts []string) []string {
	for i := range texts {
		texts[i] = l.Hide(texts[i])
	}
	return texts
}

// HideValues returns a copy of a map with the names in its values hidden.
func (l *Pseudonyms) HideValues(values map[string]string) map[string]string {
	if len(l.names) == 0 || len(values) == 0 {
		return values
	}
	hidden := map[string]string{}
	for k, v := range values {
		hidden[k] = l.Hide(v)
	}
	return hidden
}

// Rubric returns a rubric with the names in all texts hidden.
func (l *Pseudonyms) Rubric(r Rubric) Rubric {
	r = slices.Clone(r)
	for i := range r {
		c := &r[i]
		for _, text := range []*string{&c.Name, &c.Description, &c.Zero, &c.Ten} {
			*text = l.Hide(*text)
		}
		c.Bands = l.HideAll(slices.Clone(c.Bands))
	}
	return r
}

// OwnProfile returns the profile of the reader itself, with the names in its texts hidden.
func (l *Pseudonyms) OwnProfile(s transcript.Profile) transcript.Profile {
	if len(l.names) > 0 {
		l.hideTexts(&s)
	}
	return s
}

// SortedPseudonyms returns the pseudonyms of participants in the order of [Pseudonyms.Names]. Names without a pseudonym
// are unchanged and come last.
func (l *Pseudonyms) SortedPseudonyms(names []string) []string {
	if len(l.names) == 0 {
		return names
	}
	list := slices.Clone(names)
	slices.SortStableFunc(list, func(a, b string) int { return l.rank(a) - l.rank(b) })
	for i, name := range list {
		list[i] = l.Of(name)
	}
	return list
}

// rank returns the index of a participant's pseudonym. Names without a pseudonym sort last.
func (l *Pseudonyms) rank(name string) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	return len(l.names)
}

// QuoteTokens returns approximately how many tokens Quote adds to a statement.
func (l *Pseudonyms) QuoteTokens() int { return 30 }

// Sort sorts the speeches of each parallel phase by pseudonym. No speech of such a phase was written with knowledge
// of another, so their order carries no meaning. The elements of shown are indexes into turns.
func (l *Pseudonyms) Sort(turns []transcript.Turn, shown []int) {
	if len(l.names) == 0 {
		return
	}
	together := func(i, j int) bool {
		a, b := &turns[shown[i]], &turns[shown[j]]
		return a.Kind == transcript.Speech && a.Kind == b.Kind && a.Round == b.Round && a.Phase == b.Phase && a.VisibleSeq == b.VisibleSeq
	}
	for from := 0; from < len(shown); {
		to := from + 1
		for to < len(shown) && together(from, to) {
			to++
		}
		slices.SortStableFunc(shown[from:to], func(i, j int) int { return l.rank(turns[i].Actor) - l.rank(turns[j].Actor) })
		from = to
	}
}

// Mentions reports whether a text contains a pseudonym.
func (l *Pseudonyms) Mentions(text string) bool {
	return l.Reveal(text) != text
}

// replaceWords replaces words in a text. At each character whose first byte is set in first, it calls find with the
// rest of the text and the character before it, which is 0 at the beginning. find returns the replacement and the
// number of bytes that it replaces, or 0 to replace nothing. replaceWords adds a space where a replacement would
// merge with a neighboring word. The time is linear in the length of the text as long as find takes bounded time.
func replaceWords(text string, first *[256]bool, find func(rest string, before rune) (string, int)) string {
	var b strings.Builder
	copied := 0
	before := rune(0)
	last := rune(0) // last is the last character written
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf && !first[b] { // the common case
			for i++; i < len(text) && text[i] < utf8.RuneSelf && !first[text[i]]; i++ {
				b = text[i]
			}
			before, last = rune(b), rune(b)
			continue
		}
		to, n := "", 0
		if first[text[i]] {
			to, n = find(text[i:], before)
		}
		if n == 0 {
			r, size := utf8.DecodeRuneInString(text[i:])
			before = r
			last = r
			i += size
			continue
		}
		b.WriteString(text[copied:i])
		if sameWord(last, firstRune(to)) {
			b.WriteByte(' ')
		}
		b.WriteString(to)
		i += n
		copied = i
		before = lastRune(text[:i])
		last = lastRune(to)
		if sameWord(last, firstRune(text[i:])) {
			b.WriteByte(' ')
		}
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// firstRune returns the first character of a text, or 0 if the text is empty.
func firstRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastRune returns the last character of a text, or 0 if the text is empty.
func lastRune(text string) rune {
	if text == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// A pseudonym is pseudonymPrefix followed by at most maxLetters letters.
const (
	pseudonymPrefix = "Debater"
	maxLetters      = 3
)

// readPseudonym reads a pseudonym at the beginning of a text. It returns its letters and its length in bytes, or ""
// and 0 if there is none.
func readPseudonym(text string, before rune) (who string, n int) {
	if sameWord(before, 'D') || len(text) < len(pseudonymPrefix) || !strings.EqualFold(text[:len(pseudonymPrefix)], pseudonymPrefix) {
		return "", 0
	}
	rest := strings.TrimLeft(text[len(pseudonymPrefix):], " \t\u00a0_-")
	at := len(text) - len(rest)
	for n < min(maxLetters, len(rest)) && rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' {
		n++
	}
	if at == len(pseudonymPrefix) || n == 0 || sameWord('A', firstRune(rest[n:])) {
		return "", 0
	}
	return strings.ToUpper(rest[:n]), at + n
}

// atBoundary reports whether a word with the character edge at its end stops there, next to the character beside.
func atBoundary(edge, beside rune) bool {
	return unicode.In(edge, unspacedScripts...) || !isWordRune(beside)
}

// sameWord reports whether two adjacent characters belong to the same word.
func sameWord(a, b rune) bool { return isWordRune(a) && isWordRune(b) }

// withinWord reports whether a text goes on with a word that has begun before it, so that no name and no pseudonym begins with it.
func withinWord(text string, before rune) bool { return text[0] < utf8.RuneSelf && isWordRune(before) }

// isWordRune reports whether a character is part of a word in a script that separates words.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf { // the common case
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) && !unicode.In(r, unspacedScripts...)
}

// unspacedScripts lists the scripts that put no space between words, and Korean, which appends endings to names.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}
