package speech

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/reasoning"
)

// Seats are the names of those who can speak in a debate.
type Seats struct {
	Own    string   // the speaker
	Others []string // everybody else, and the pseudonyms under which the speaker knows them
}

// owner says whose label it is.
type owner int

const (
	speaker  owner = iota + 1
	other          // another seat
	role           // somebody without a seat whom debates have, such as a moderator
	stranger       // anybody else, or no label of a person
)

// label is a name at the beginning of a line that says whose words follow.
type label struct {
	owner owner
	name  string
	at    int  // where its line begins
	body  int  // where the words begin
	alone bool // nothing follows in its line
	dash  bool // a dash follows the name
}

func (l *label) is(o owner) bool { return l.owner == o }

// roles are who speaks in transcripts of debates besides the seats.
var roles = []string{"moderator", "host", "chair", "judge", "narrator", "interviewer", "audience", "opponent", "user", "human"}

const (
	maxGroup = 40 // bytes of what may follow a name, such as "(round 2)"
)

// labels returns the labels with which lines of a text begin. Lines in code, in quotes and in lists have none.
func (s Seats) labels(text string) (list []label) {
	var fences reasoning.Fences
	hasFences := strings.Contains(text, "```") || strings.Contains(text, "~~~")
	previous := ""
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		inside := fences.Open()
		for i := 0; i < len(line) && hasFences; i++ {
			fences.Add(line[i])
		}
		fences.Add('\n')
		if !inside && !fences.Open() {
			if l, ok := s.labelOf(line, strings.TrimSpace(previous) == ""); ok {
				l.at += at
				l.body += at
				list = append(list, l)
			}
		}
		previous = line
		at += len(line) + 1
	}
	return withoutStrangers(text, list)
}

// withoutStrangers removes the labels of strangers, which begin paragraphs of speeches too, such as "Cost: it falls". One stays if no
// other has a label, and the stranger asks or addresses the speaker between two labels of the speaker.
func withoutStrangers(text string, list []label) []label {
	first := slices.IndexFunc(list, func(l label) bool { return l.is(speaker) })
	last := len(list) - 1
	for last >= 0 && !list[last].is(speaker) {
		last--
	}
	hasOthers := slices.ContainsFunc(list, func(l label) bool { return l.is(other) || l.is(role) })
	var kept []label
	for i, l := range list {
		isBetween := first >= 0 && i > first && i < last
		if !l.is(stranger) || isBetween && !hasOthers && asks(text[l.body:list[i+1].at]) {
			kept = append(kept, l)
		}
	}
	return kept
}

// asks reports whether a text asks or addresses somebody.
func asks(words string) bool { return strings.ContainsAny(words, "?？") || addresses(words) }

// labelOf returns the label with which a line begins. fresh reports that nothing but white space is in the line before.
func (s Seats) labelOf(line string, fresh bool) (l label, ok bool) {
	rest := strings.TrimLeft(line, " \t\r")
	if strings.HasPrefix(rest, "<<<") {
		return s.delimiterOf(line, rest)
	}
	bare := strings.TrimLeft(rest, "#")
	isHeading := len(bare) < len(rest)
	bare = strings.TrimLeft(bare, " ")
	if !isHeading && bare != rest {
		return l, false
	}
	if strings.HasPrefix(bare, "* ") || strings.HasPrefix(bare, "*\t") { // a list
		return l, false
	}
	named := strings.TrimLeft(bare, "*_[")
	if named == "" || !unicode.IsLetter(firstRune(named)) {
		return l, false
	}
	isDecorated := isHeading || len(named) < len(bare)
	l.name, l.owner = s.nameAt(named)
	if l.name == "" {
		l.name = strangerAt(named)
		l.owner = stranger
	}
	if l.name == "" {
		return l, false
	}
	size, end := endOfLabel(named[len(l.name):])
	l.body = len(line) - len(named) + len(l.name) + size
	l.alone = strings.Trim(line[l.body:], " \t\r*_]") == ""
	l.dash = end == dash
	isLine := end == lineEnd && l.owner != stranger && (isDecorated || fresh)
	return l, isLine || end == colon || end == dash
}

// delimiterOf returns the label in a line that looks like a delimiter of the prompts: "<<<123 begin: Ada, round 2>>>".
func (s Seats) delimiterOf(line, rest string) (l label, ok bool) {
	_, named, found := strings.Cut(rest, " begin: ")
	inner, _, closed := strings.Cut(named, ">>>")
	if !found || !closed {
		return l, false
	}
	l.name, l.owner = s.nameAt(inner)
	l.alone = true
	l.body = len(line)
	return l, l.owner != 0
}

// nameAt returns the longest name of a seat with which a text begins, as the text spells it, and whose name it is.
func (s Seats) nameAt(text string) (name string, of owner) {
	try := func(n string, o owner) {
		is := len(n) > len(name) && len(text) >= len(n) && strings.EqualFold(text[:len(n)], n)
		if is && !isWordRune(firstRune(text[len(n):])) {
			name = text[:len(n)]
			of = o
		}
	}
	try(s.Own, speaker)
	for _, n := range s.Others {
		try(n, other)
	}
	for _, n := range roles {
		try(n, role)
	}
	return name, of
}

// isWordRune reports whether a character goes on with a word.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’' || r == '-')
}

// strangerAt returns up to three capitalized words before a colon at the beginning of a text.
func strangerAt(text string) string {
	name, _, ok := strings.Cut(text, ":")
	if !ok || len(name) > maxGroup {
		return ""
	}
	words := strings.Fields(name)
	for _, w := range words {
		if !unicode.IsUpper(firstRune(w)) {
			return ""
		}
	}
	if len(words) == 0 || len(words) > 3 {
		return ""
	}
	return strings.TrimRight(name, "*_]")
}

// ending is what ends a label.
type ending int

const (
	noEnd ending = iota
	colon
	dash
	lineEnd
)

// endOfLabel reads what follows a name: marks of Markdown, a round or a task in brackets, and a colon, a dash or the end of the
// line. It returns the length of all that.
func endOfLabel(rest string) (size int, how ending) {
	const marks = "*_] "
	text := strings.TrimLeft(rest, marks)
	text = strings.TrimLeft(afterGroup(text), marks)
	size = len(rest) - len(text)
	switch {
	case strings.TrimSpace(text) == "":
		return len(rest), lineEnd
	case strings.HasPrefix(text, ":"), strings.HasPrefix(text, "："):
		_, n := utf8.DecodeRuneInString(text)
		after := text[n:]
		body := strings.TrimLeft(after, " \t")
		if emphasis := strings.TrimLeft(body, "*_"); strings.HasPrefix(after, "*") || strings.HasPrefix(after, "_") {
			body = strings.TrimLeft(emphasis, " \t")
		}
		if strings.HasPrefix(after, "//") {
			return 0, noEnd
		}
		return size + len(text) - len(body), colon
	}
	for _, d := range []string{"— ", "– "} {
		body, ok := strings.CutPrefix(text, d)
		if ok && strings.HasSuffix(rest[:size], " ") && unicode.IsUpper(firstRune(body)) {
			return size + len(d), dash
		}
	}
	return 0, noEnd
}

// afterGroup returns a text without what can follow a name: brackets, or a round after a comma.
func afterGroup(text string) string {
	if text == "" {
		return text
	}
	shut, ok := map[byte]string{'(': ")", '[': "]", ',': ":"}[text[0]]
	end := strings.Index(text, shut)
	switch {
	case !ok || end < 0 || end > maxGroup || strings.Contains(text[:end], "\n"):
		return text
	case text[0] == ',' && !strings.ContainsAny(text[:end], "0123456789"):
		return text
	case text[0] == ',':
		return text[end:]
	}
	return text[end+1:]
}

// labelsInLines returns labels that follow the end of a sentence within a line. They count only in a reply that begins with a label.
func (s Seats) labelsInLines(text string, known []label) (list []label) {
	for at := 0; at+2 < len(text); at++ {
		if text[at] != ' ' || at == 0 || !strings.ContainsRune(".!?\"”…", lastRune(text[:at])) {
			continue
		}
		name, of := s.nameAt(text[at+1:])
		if of != speaker && of != other {
			continue
		}
		size, end := endOfLabel(text[at+1+len(name):])
		isKnown := slices.ContainsFunc(known, func(l label) bool { return l.at == at+1 })
		if end == colon && !isKnown {
			list = append(list, label{owner: of, name: name, at: at + 1, body: at + 1 + len(name) + size})
		}
	}
	return list
}

func sortLabels(list []label) {
	slices.SortFunc(list, func(a, b label) int { return cmp.Compare(a.at, b.at) })
}

// trim removes white space, rules and delimiters around a part of a reply.
func trim(text string) string {
	for {
		text = strings.TrimSpace(text)
		at := strings.LastIndexByte(text, '\n') + 1
		last := strings.TrimSpace(text[at:])
		isRule := at > 0 && len(last) >= 3 && strings.Trim(last, "-*_= ") == ""
		isDelimiter := strings.HasPrefix(last, "<<<") && strings.HasSuffix(last, ">>>")
		if !isRule && !isDelimiter {
			return text
		}
		text = text[:at]
	}
}
