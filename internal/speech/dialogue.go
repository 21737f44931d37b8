package speech

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dialogue decides whether the labels in a reply are those of a dialogue.
//
// Debaters put the names of others before their answers too. A list of such answers says "you", quotes, or reports, and the
// speaker's own name is not in it. In a dialogue, the speaker returns, or is spoken to, or another speaks of itself.
type dialogue struct {
	text   string
	seats  Seats
	labels []label
}

// firstOther returns the index of the label with which the lines of others begin, or -1 if the reply has none.
func (d *dialogue) firstOther() int {
	first := -1
	certain := false
	for i := range d.labels {
		l := &d.labels[i]
		if l.is(speaker) {
			continue
		}
		isScript := d.returns(i)
		if first < 0 && (isScript || !d.isAnswer(i)) {
			first = i
		}
		certain = certain || isScript || d.speaks(i)
	}
	if !certain {
		return -1
	}
	return max(first, 0)
}

// returns reports whether the speaker's label comes again after a label of another, as it does in a dialogue. In a recap, which a
// line with a colon announces, it must be there before too.
func (d *dialogue) returns(i int) bool {
	isOwn := func(l label) bool { return l.is(speaker) }
	before := slices.ContainsFunc(d.labels[:i], isOwn)
	after := slices.ContainsFunc(d.labels[i+1:], isOwn)
	switch {
	case d.labels[i].dash, d.isWord(), d.isRecap():
		return before && after
	}
	return after
}

// speaks reports whether the words after a label of another are certainly that other's, wherever they are.
func (d *dialogue) speaks(i int) bool {
	l := &d.labels[i]
	words := d.block(i)
	mentions := hasName(words, d.seats.Own)
	hasOwn := slices.ContainsFunc(d.labels, func(l label) bool { return l.is(speaker) })
	switch {
	case l.dash, d.isWord(), isQuote(words), isReport(words), d.isRecap():
		return false
	case mentions && !hasCode(words):
		return true
	case l.is(role) && !hasOwn, addresses(words):
		return false
	case d.labels[0].is(speaker) && d.labels[0].at == d.begin():
		return true
	case l.alone:
		return false
	}
	return isAbout(firstSentence(words), firstPerson()) || d.isLastWord(i)
}

// isAnswer reports whether the words after a label of another are the speaker's answer to it.
func (d *dialogue) isAnswer(i int) bool {
	words := d.block(i)
	isOthers := hasName(words, d.seats.Own)
	return !isOthers && (isQuote(words) || isReport(words) || addresses(words))
}

// isLastWord reports whether a speech is followed by one block of one other, and nothing else.
func (d *dialogue) isLastWord(i int) bool {
	l := &d.labels[i]
	before := strings.TrimRight(d.text[:l.at], " \t\r")
	isParagraph := strings.HasSuffix(before, "\n\n") || strings.HasSuffix(before, "\n\r\n")
	return i == len(d.labels)-1 && len(d.labels) == 1 && l.is(other) && isParagraph && len(strings.Fields(before)) >= minSpeech
}

// minSpeech is the number of words that a speaker has said before others are taken to go on.
const minSpeech = 6

// isWord reports whether the name of a seat is a letter or a word that begins lines of lists.
func (d *dialogue) isWord() bool {
	names := append([]string{d.seats.Own}, d.seats.Others...)
	return slices.ContainsFunc(names, func(name string) bool {
		return utf8.RuneCountInString(name) < 2 || slices.Contains(listWords, strings.ToLower(name))
	})
}

// listWords begin lines of lists.
var listWords = []string{
	"pro", "con", "pros", "cons", "for", "against", "yes", "no", "affirmative", "negative", "positive", "question", "answer", "critic",
	"author",
}

// isRecap reports whether the labels are those of a recap: a line that ends with a colon announces the first one, or they begin lines
// below one another after a speech, each name once.
func (d *dialogue) isRecap() bool {
	first := d.labels[0].at
	if strings.HasSuffix(strings.TrimRight(d.text[:first], " \t\r\n*_"), ":") {
		return true
	}
	names := map[string]bool{}
	for i := range d.labels {
		names[strings.ToLower(d.labels[i].name)] = true
	}
	between := strings.ReplaceAll(d.text[first:d.labels[len(d.labels)-1].at], "\r", "")
	return len(names) > 1 && len(names) == len(d.labels) && first > d.begin() && !strings.Contains(between, "\n\n")
}

// begin returns where the text begins.
func (d *dialogue) begin() int {
	return len(d.text) - len(strings.TrimLeftFunc(d.text, unicode.IsSpace))
}

// block returns the words after a label, up to the next one.
func (d *dialogue) block(i int) string {
	end := len(d.text)
	if i+1 < len(d.labels) {
		end = d.labels[i+1].at
	}
	return strings.TrimSpace(d.text[d.labels[i].body:end])
}

// ownBegin returns where the words of the speaker begin, after the labels at the beginning.
func (d *dialogue) ownBegin() (at int) {
	for i := range d.labels {
		l := &d.labels[i]
		if l.at < at { // it came again, right after the one before
			continue
		}
		if !l.is(speaker) || strings.TrimSpace(d.text[at:l.at]) != "" {
			break
		}
		at = l.body
		rest := d.text[at:]
		again, ok := d.seats.labelOf(strings.TrimLeft(rest, " \t\r\n"), true)
		for ok && again.is(speaker) {
			at += len(rest) - len(strings.TrimLeft(rest, " \t\r\n")) + again.body
			rest = d.text[at:]
			again, ok = d.seats.labelOf(strings.TrimLeft(rest, " \t\r\n"), true)
		}
	}
	return at
}

// ownPart returns what the speaker says in a dialogue: up to the first line of another or, if nothing is before that or only a line
// that announces the dialogue, the first words after the speaker's own label.
func (d *dialogue) ownPart(first int) string {
	own := trim(d.text[d.ownBegin():d.labels[first].at])
	own = d.withoutLabels(own)
	announced := strings.HasSuffix(own, ":") && !strings.Contains(own, "\n")
	if own != "" && !announced {
		return own
	}
	for i := range d.labels {
		if !d.labels[i].is(speaker) {
			continue
		}
		if words := d.withoutLabels(trim(d.block(i))); words != "" {
			return words
		}
	}
	return ""
}

// withoutLabels returns a part of the reply without a label of the speaker at its beginning, below a line that announces it.
func (d *dialogue) withoutLabels(part string) string {
	announced, rest, ok := strings.Cut(part, "\n")
	if !ok || !strings.HasSuffix(strings.TrimSpace(announced), ":") {
		return part
	}
	rest = strings.TrimSpace(rest)
	if l, labeled := d.seats.labelOf(rest, true); labeled && l.is(speaker) {
		return trim(rest[l.body:])
	}
	return part
}

// isQuote reports whether a text begins with a quote.
func isQuote(words string) bool {
	return words != "" && strings.ContainsRune("\"'“‘„«»「『>", firstRune(words))
}

// isReport reports whether a text goes on with the sentence that a name has begun.
func isReport(words string) bool { return unicode.IsLower(firstRune(words)) }

// hasCode reports whether a text has code, in which names mean something else.
func hasCode(words string) bool { return strings.Contains(words, "```") }

// hasName reports whether a text has a name as a word.
func hasName(text, name string) bool {
	if utf8.RuneCountInString(name) < 2 {
		return false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		after := firstRune(text[at+len(name):])
		before := lastRune(text[:at])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) && !unicode.IsDigit(after) {
			return true
		}
		at += len(name)
	}
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	if end := strings.IndexAny(text, ".!?\n。"); end >= 0 {
		return text[:end]
	}
	return text
}
