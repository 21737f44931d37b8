// Package quote checks whether a text contains a quote.
//
//	text := quote.New(document)
//	verdict, places := text.Check("people who cycle … live longer")
//
// Check compares letters and numbers. It ignores case, punctuation, white space, Unicode forms, ligatures, soft hyphens
// and hyphens at line ends, because copies and extractions of a text differ in them. It does not ignore what punctuation
// means in numbers: 1.5 is not 15, -5 is not 5, 50 % is not 50, and p < 0.05 is not p > 0.05. A quote begins and ends at
// the boundary of a word.
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
type Text struct{ reduced }

// New prepares a text.
func New(text string) *Text { return &Text{reduce(text)} }

// ellipsis matches a mark of omission.
var ellipsis = regexp.MustCompile(`[\[(]?\s*(?:(?:\.\s?){3,}|…)\s*[\])]?`)

// Check reports whether the text contains a quote. If it does, Check returns the first place of the quote or, for an
// elided quote, a place of each piece in order.
func (t *Text) Check(quote string) (Verdict, []Place) {
	whole := reduce(quote)
	if whole.size() < minSize {
		return TooShort, nil
	}
	for found := range t.occurrences(whole.letters) {
		return Verified, []Place{found.place}
	}
	return t.checkPieces(ellipsis.Split(quote, -1))
}

func (t *Text) checkPieces(pieces []string) (Verdict, []Place) {
	var chain [][]link
	short := false
	for _, piece := range pieces {
		r := reduce(piece)
		switch {
		case r.letters == "":
		case r.size() < minSize:
			short = true
		default:
			links := t.follow(chain, r.letters)
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
func (t *Text) follow(chain [][]link, piece string) (links []link) {
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
func (t *Text) occurrences(quote string) iter.Seq[word] {
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
			if place, ok := t.locate(found); ok && !yield(word{found, place}) {
				return
			}
		}
	}
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
