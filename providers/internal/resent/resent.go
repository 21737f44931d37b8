// Package resent finds text that a service sends again. Some services put all text so far into each piece of a stream, and
// some end a stream with the whole text. The content of the pieces decides, not the service: a speaker may repeat a word.
//
// Sources: QwenLM/qwen-code#3896, swuecho/chat#687, HybridAIOne/hybridclaw#1325; and for what must stay, Quorinex/Kiro-Go#138
// and cita-777/metapi#336.
package resent

import (
	"bytes"
	"errors"
	"unicode"
	"unicode/utf8"
)

// ErrChanged reports that a service which sends all text so far has changed text that was passed on.
var ErrChanged = errors.New("the service changed text that it had sent")

// Filter passes on what is new in the pieces of a text. A piece that may be a repetition is held until a later piece, or the
// end of the text, shows what it is. The zero Filter is ready to use.
type Filter struct {
	all   []byte // what was passed on
	form  form
	held  chain  // while the form is not known
	again []byte // in a text that comes in pieces: a piece that may be the whole text again, with the white space after it

	removed int
}

// chain is pieces of which each begins with the one before it.
type chain struct {
	text    []byte // all of them
	last    []byte
	n       int // their number
	growths int // how many of them are longer than the one before
}

// form is how a service sends a text.
type form int

const (
	unknown  form = iota
	inPieces      // each piece is new
	growing       // each piece is all text so far
)

const (
	maxHeld  = 8  // pieces that are held while the form is not known
	minGrown = 8  // bytes of a text that is certain to have grown, if it has twice
	minTimes = 4  // how often any text is certain to have grown
	minLong  = 64 // bytes that nobody says twice by chance, from the first word on
	minShort = 3  // bytes of a text that can be the whole text again
	minWhole = 9  // the same, if nothing but its pieces tells
)

// Removed returns how many bytes were sent again, and left out.
func (f *Filter) Removed() int { return f.removed }

// Held reports whether End may return text.
func (f *Filter) Held() bool { return f.held.n > 0 || f.again != nil }

// Add returns what is new in a piece. The result is valid until the next call.
func (f *Filter) Add(piece []byte) ([]byte, error) {
	switch {
	case len(piece) == 0:
		return nil, nil
	case f.form == growing:
		return f.grow(piece)
	case f.form == inPieces:
		return f.addPiece(piece), nil
	case f.all == nil:
		return f.pass(piece), nil
	}
	before := f.all
	if f.held.n > 0 {
		before = f.held.last
	}
	if !bytes.HasPrefix(piece, whole(before)) {
		f.form = inPieces
		from := len(f.all)
		f.release()
		f.addPiece(piece)
		return f.all[from:], nil
	}
	f.hold(piece, len(before))
	switch {
	case f.hasGrown():
		return f.takeLast(), nil
	case f.held.n == maxHeld:
		f.form = inPieces
		return f.release(), nil
	}
	return nil, nil
}

// End returns the rest of a text that has ended. More text may follow, if the service goes on nevertheless.
func (f *Filter) End() []byte {
	switch {
	case f.again != nil:
		rest := f.rest(f.again)
		f.removed += len(f.again) - len(rest)
		f.again = nil
		return f.pass(rest)
	case f.held.n == 0:
		return nil
	case f.isAgain(f.held.last, false):
		return f.takeLast()
	}
	f.form = inPieces
	return f.release()
}

// pass notes a text that is passed on.
func (f *Filter) pass(text []byte) []byte {
	from := len(f.all)
	f.all = append(f.all, text...)
	return f.all[from:]
}

// hold holds a piece that begins with the one before it, which has a length.
func (f *Filter) hold(piece []byte, before int) {
	h := &f.held
	h.text = append(h.text, piece...)
	h.last = append(h.last[:0], piece...)
	h.n++
	if len(piece) > before {
		h.growths++
	}
}

// release passes on all pieces that are held.
func (f *Filter) release() []byte {
	text := f.held.text
	f.held = chain{}
	return f.pass(text)
}

// takeLast passes on what is new in the last piece, because each piece is all text so far.
func (f *Filter) takeLast() []byte {
	last := whole(f.held.last)
	fresh := last[min(len(f.all), len(last)):]
	f.removed += len(f.held.text) - len(fresh)
	f.held = chain{}
	f.form = growing
	return f.pass(fresh)
}

// hasGrown reports whether the pieces that are held are certain to be all text so far: the text has grown twice, or more often if
// it is short, or one word again and again.
func (f *Filter) hasGrown() bool {
	h := &f.held
	switch {
	case h.growths >= minTimes:
		return true
	case h.growths < 2, isRepetition(h.last, len(f.all)):
		return false
	}
	return len(h.last) >= minGrown || !goesOn(f.all, h.last)
}

// grow returns what is new in a piece that is all text so far.
func (f *Filter) grow(piece []byte) ([]byte, error) {
	text := whole(piece)
	same := commonLength(f.all, text)
	switch {
	case same == len(f.all):
		f.removed += same
		return f.pass(text[same:]), nil
	case same == len(text): // it repeats a part, such as the text without white space at its end
		f.removed += len(text)
		return nil, nil
	case 2*same >= len(f.all):
		return nil, ErrChanged
	}
	return f.pass(piece), nil
}

// addPiece returns what is new in a piece of a text that comes in pieces.
func (f *Filter) addPiece(piece []byte) []byte {
	from := len(f.all)
	switch {
	case f.again == nil:
	case len(bytes.TrimSpace(piece)) == 0:
		f.again = append(f.again, piece...)
		return nil
	case bytes.HasPrefix(piece, f.again):
		f.removed += len(f.again)
		f.again = append(f.again[:0], piece...)
		return nil
	default: // it was not the end
		f.pass(f.again)
		f.again = nil
	}
	switch {
	case !f.isAgain(piece, true):
		f.pass(piece)
	case len(f.all) >= minLong:
		rest := f.rest(piece)
		f.removed += len(piece) - len(rest)
		f.pass(rest)
	default: // the end of the text decides
		f.again = append([]byte(nil), piece...)
	}
	return f.all[from:]
}

// isAgain reports whether a piece can be the whole text again, to which more may be added. inPieces means that the text came in
// several pieces: then a model that says it again says it in several pieces too.
func (f *Filter) isAgain(piece []byte, inPieces bool) bool {
	size := len(f.all)
	switch {
	case len(piece) < size-size/8, !bytes.HasPrefix(bytes.TrimSpace(piece), bytes.TrimSpace(f.all)):
		return false
	case size >= minLong:
		return true
	case size < minShort, !bytes.HasPrefix(piece, f.all), isRepetition(f.all, 0):
		return false
	case !goesOn(f.all, piece):
		return true
	}
	return inPieces && size >= minWhole && !unicode.IsSpace(lastRune(f.all)) && !unicode.IsSpace(firstRune(piece))
}

// rest returns what follows the whole text in a piece.
func (f *Filter) rest(piece []byte) []byte {
	if rest, ok := bytes.CutPrefix(piece, f.all); ok {
		return rest
	}
	rest, _ := bytes.CutPrefix(bytes.TrimLeft(piece, " \t\r\n"), bytes.TrimSpace(f.all))
	if len(bytes.TrimSpace(rest)) == 0 {
		return nil
	}
	return rest
}

// whole returns a text without the marks of a character that is not complete yet.
func whole(text []byte) []byte {
	for bytes.HasSuffix(text, incomplete) {
		text = text[:len(text)-len(incomplete)]
	}
	return text
}

var incomplete = []byte(string(utf8.RuneError))

// commonLength returns the length of the text with which both begin.
func commonLength(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// isRepetition reports whether a text is one piece again and again, of a length, or of any length if it is 0.
func isRepetition(text []byte, length int) bool {
	if length > 0 {
		return len(text) > length && bytes.Equal(text[length:], text[:len(text)-length])
	}
	for n := 1; n <= len(text)/2; n++ {
		if isRepetition(text, n) {
			return true
		}
	}
	return false
}

// goesOn reports whether a text can go on with a piece: at a space, or within a word or a number. Sentences do not follow one
// another without a space, except in scripts that have none.
func goesOn(text, piece []byte) bool {
	a, b := lastRune(text), firstRune(piece)
	switch {
	case unicode.IsSpace(a), unicode.IsSpace(b), isDense(a), isDense(b):
		return true
	case isWordRune(a) && isWordRune(b):
		return !bytes.ContainsFunc(text, unicode.IsSpace)
	}
	return false
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isDense reports whether a character is of a script without spaces between words.
func isDense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r >= '\u3000' && r <= '\u303F' || r >= '\uFF00' && r <= '\uFFEF'
}

func lastRune(text []byte) rune {
	r, _ := utf8.DecodeLastRune(text)
	return r
}

func firstRune(text []byte) rune {
	r, _ := utf8.DecodeRune(text)
	return r
}
