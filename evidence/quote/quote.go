// Package quote checks whether a text contains a quote.
//
//	text := quote.New(document)
//	verdict, places := text.Check("people who cycle … live longer")
//
// In prose, Check compares letters, numbers, and signs with a meaning. It ignores case, punctuation of sentences, quotation marks,
// dashes, marks of lists and emphasis, white space, Unicode forms, ligatures, soft hyphens and hyphens at line ends, because copies
// and extractions of a text differ in them. It does not ignore what changes the meaning: 1.5 is not 15, -5 is not 5, 50 % is not 50,
// p < 0.05 is not p > 0.05, A*B is not A/B, C is not C++, foo_bar is not foo bar, and --force is not -force. A quote begins and ends
// at the boundary of a word.
//
// In code, each character counts but white space, and case does. A text is code as a whole, see [Code] and [For], or where it
// stands between backticks or fences. If each line of a quote of code begins with a number and a bar, as prompts show code, these
// do not count.
//
// A quote may mark omissions with an ellipsis, which can be in brackets. Its pieces must then occur in their order, with
// at most [MaxOmission] bytes of letters and numbers between them. An omission can change what a text says, so the
// verdict tells that there are some.
//
// New and Check take time in proportion to the length of the text. docs/measured/quotes.md has the rates of errors.
package quote

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/lines"
)

// MaxOmission is the longest omission between two pieces of a quote, in bytes of letters and numbers: about 200 English
// words. With longer ones, a quote could join pieces of separate passages.
const MaxOmission = 1200

// minSize is the size of the shortest quote that Check looks for; see reduced.size. Shorter ones occur in many texts by
// chance.
const minSize = 3 * wordSize

// A Verdict tells whether a text contains a quote.
type Verdict string

// The verdicts of Check.
const (
	Verified Verdict = "verified"  // the text contains the quote
	Elided   Verdict = "elided"    // the text contains the pieces of the quote, between which the quote marks omissions
	Absent   Verdict = "absent"    // the text does not contain the quote
	TooShort Verdict = "too_short" // the quote, or one of its pieces, has fewer than three words, which prove nothing
)

// A Text is a text in which quotes are looked for. It is safe for concurrent use. It takes about ten times the
// size of the text in memory.
type Text struct {
	reduced
	reduce   func(quote string) reduced
	ellipsis *regexp.Regexp // what marks an omission in a quote
	code     []Place        // the parts of the text that are code, in order
	within   *Text          // these parts; nil if there are none
	isCode   bool           // the whole text is code
}

// New prepares a text in prose. What stands between backticks or fences in it, as in Markdown, is code.
func New(text string) *Text {
	t := &Text{reduced: reduce(text), reduce: reduce, code: codeIn(text), ellipsis: ellipsis}
	if len(t.code) > 0 {
		t.within = &Text{reduced: reduceParts(text, t.code), reduce: reduceQuoted, ellipsis: codeEllipsis}
	}
	return t
}

// Code prepares a text that is code: each character of a quote counts but white space, and case does.
func Code(text string) *Text {
	return &Text{reduced: reduceCode(text), reduce: reduceQuoted, ellipsis: codeEllipsis, isCode: true}
}

// For prepares the text of a document, which is code if its name says so.
func For(name, text string) *Text {
	if IsCode(name) {
		return Code(text)
	}
	return New(text)
}

// ellipsis matches a mark of omission.
var ellipsis = regexp.MustCompile(`[\[(]?\s*(?:(?:\.\s?){3,}|…)\s*[\])]?`)

// codeEllipsis matches a mark of omission in code, where three points behind a name have a meaning.
var codeEllipsis = regexp.MustCompile(`[\[(]\s*(?:\.{3}|…)\s*[\])]|…|(?:^|\s)(?:(?://|#)\s*)?\.{3}(?:\s|$)`)

// Check reports whether the text contains a quote. If it does, Check returns the first place of the quote or, for an
// elided quote, a place of each piece in order.
func (t *Text) Check(quote string) (Verdict, []Place) {
	verdict, places := t.check(quote)
	if verdict == Verified || verdict == Elided {
		return verdict, places
	}
	if bare := lines.Strip(quote); t.isCode && bare != quote {
		return t.check(bare)
	}
	if verdict == Absent && t.within != nil {
		return t.within.check(quote)
	}
	return verdict, places
}

func (t *Text) check(quote string) (Verdict, []Place) {
	whole := t.reduce(quote)
	if whole.size() < minSize {
		return TooShort, nil
	}
	for found := range t.occurrences(&whole) {
		return Verified, []Place{found.place}
	}
	return t.checkPieces(t.ellipsis.Split(quote, -1))
}

func (t *Text) checkPieces(pieces []string) (Verdict, []Place) {
	var chain [][]link
	short := false
	for _, piece := range pieces {
		r := t.reduce(piece)
		switch {
		case r.letters == "":
		case r.size() < minSize:
			short = true
		default:
			links := t.follow(chain, &r)
			if len(links) == 0 {
				return Absent, nil
			}
			chain = append(chain, links)
		}
	}
	if short {
		return TooShort, nil
	}
	return Elided, t.places(chain)
}

// A link is an occurrence of a piece, and the index of an occurrence of the piece before from which it can be reached.
type link struct {
	word
	before int
}

// follow returns the occurrences of a piece that can be reached from those of the piece before.
func (t *Text) follow(chain [][]link, piece *reduced) (links []link) {
	var before []link
	if len(chain) > 0 {
		before = chain[len(chain)-1]
	}
	next := 0 // the first link of before that ends behind the occurrence
	for found := range t.occurrences(piece) {
		for next < len(before) && before[next].end <= found.start {
			next++
		}
		if len(chain) == 0 || next > 0 && found.start-before[next-1].end <= MaxOmission {
			links = append(links, link{found, next - 1})
		}
	}
	return links
}

// places returns the places of the pieces that end with the first occurrence of the last piece.
func (t *Text) places(chain [][]link) (list []Place) {
	i := 0
	for _, links := range slices.Backward(chain) {
		list = append(list, links[i].place)
		i = links[i].before
	}
	slices.Reverse(list)
	return list
}

// occurrences yields where the letters of a quote stand in the text, from the boundary of a word to the boundary of a
// word. It uses the algorithm of Knuth, Morris and Pratt, because a repeated strings.Index takes quadratic time for a
// repeated text.
func (t *Text) occurrences(q *reduced) iter.Seq[word] {
	quote := q.letters
	return func(yield func(word) bool) {
		from := strings.Index(t.letters, quote)
		if from < 0 {
			return
		}
		border := borders(quote)
		matched := 0
		for i := from; i < len(t.letters); i++ {
			for matched > 0 && (matched == len(quote) || t.letters[i] != quote[matched]) {
				matched = border[matched]
			}
			if t.letters[i] == quote[matched] {
				matched++
			}
			if matched < len(quote) {
				continue
			}
			found := span{i + 1 - matched, i + 1}
			place, ok := t.locate(found)
			if ok && t.sameMarks(found, q) && t.sameCode(found, q) && !yield(word{found, place}) {
				return
			}
		}
	}
}

// sameMarks reports whether a quote has the same marks as a part of the text. Those at the beginning of a line may be missing or added.
func (t *Text) sameMarks(part span, q *reduced) bool {
	own := marksIn(t.marks, part)
	theirs := marksIn(q.marks, span{0, part.end - part.start})
	for len(own) > 0 || len(theirs) > 0 {
		var a, b mark
		at := nextMark(own, theirs, part.start)
		if len(own) > 0 && own[0].at-part.start == at {
			a = own[0]
			own = own[1:]
		}
		if len(theirs) > 0 && theirs[0].at == at {
			b = theirs[0]
			theirs = theirs[1:]
		}
		if a.all != b.all && a.counts != b.counts {
			return false
		}
	}
	return true
}

// nextMark returns the place of the first mark in a quote, of those in the text from start on and those in the quote.
func nextMark(own, theirs []mark, start int) int {
	switch {
	case len(own) == 0:
		return theirs[0].at
	case len(theirs) == 0:
		return own[0].at - start
	}
	return min(own[0].at-start, theirs[0].at)
}

// marksIn returns the marks between the ends of a part.
func marksIn(list []mark, part span) []mark {
	place := func(m mark, at int) int { return m.at - at }
	from, _ := slices.BinarySearchFunc(list, part.start+1, place)
	to, _ := slices.BinarySearchFunc(list, part.end, place)
	return list[from:max(from, to)]
}

// sameCode reports whether a quote has the same characters as a part of the text where the text is code.
func (t *Text) sameCode(part span, quote *reduced) bool {
	place, _ := t.locate(part)
	i, _ := slices.BinarySearchFunc(t.code, place.Start, func(c Place, at int) int { return c.End - at })
	for ; i < len(t.code) && t.code[i].Start < place.End; i++ {
		in := t.wordsOf(t.code[i], part)
		if in.start >= in.end {
			continue
		}
		own, _ := t.locate(in)
		theirs, ok := quote.locate(span{in.start - part.start, in.end - part.start})
		if !ok || bare(t.text[own.Start:own.End]) != bare(quote.text[theirs.Start:theirs.End]) {
			return false
		}
	}
	return true
}

// wordsOf returns the words of a part that are in a place of the text.
func (t *Text) wordsOf(place Place, part span) span {
	first, _ := slices.BinarySearchFunc(t.words, place.Start, func(w word, at int) int { return w.place.Start - at })
	last, _ := slices.BinarySearchFunc(t.words, place.End+1, func(w word, at int) int { return w.place.End - at })
	if first >= last {
		return span{}
	}
	return span{max(t.words[first].start, part.start), min(t.words[last-1].end, part.end)}
}

// borders returns, for each length n, the length of the longest proper prefix of s[:n] that is also its suffix.
func borders(s string) []int {
	list := make([]int, len(s)+1)
	n := 0
	for i := 1; i < len(s); i++ {
		for n > 0 && s[i] != s[n] {
			n = list[n]
		}
		if s[i] == s[n] {
			n++
		}
		list[i+1] = n
	}
	return list
}
