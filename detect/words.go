package detect

import (
	"unicode"
	"unicode/utf8"
)

// unspaced are scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

const firstUnspaced = '\u0e00' // nothing before it is of an unspaced script

// scan calls visit with each word of a text, in lower case. The word is valid during the call alone.
func scan(text string, visit func(word []byte)) {
	word := make([]byte, 0, 64)
	end := func() {
		if len(word) > 0 {
			visit(word)
			word = word[:0]
		}
	}
	alone := false // the word is a letter of an unspaced script, to which only marks can be added
	for _, r := range text {
		switch kind, folded := classify(r); kind {
		case mark:
			if len(word) > 0 {
				word = utf8.AppendRune(word, r)
			}
		case letter, sign:
			if alone || kind == sign {
				end()
			}
			alone = kind == sign
			word = utf8.AppendRune(word, folded)
		case gap:
			end()
		case nothing:
		}
	}
	end()
}

// class is what a rune does to the word before it.
type class int

const (
	gap     class = iota // ends it
	letter               // goes on with it
	sign                 // ends it, and is a word
	mark                 // belongs to the letter before
	nothing              // as if it were not there: soft hyphens, joiners
)

func classify(r rune) (kind class, folded rune) {
	switch {
	case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
		return letter, r
	case 'A' <= r && r <= 'Z':
		return letter, r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return gap, r
	case unicode.IsMark(r):
		return mark, r
	case unicode.Is(unicode.Cf, r):
		return nothing, r
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return gap, r
	case r >= firstUnspaced && unicode.In(r, unspaced...):
		return sign, r
	}
	return letter, unicode.ToLower(unicode.ToUpper(r)) // up first: some letters have two lower forms
}

// vocabulary numbers words from 1 on, so that sequences of words are small keys and equal only where the words are.
type vocabulary struct {
	numbers map[string]uint32
	buffer  []uint32
}

// read gives the numbers of a text's words. They are valid until the next call.
func (v *vocabulary) read(text string) []uint32 {
	if v.numbers == nil {
		v.numbers = map[string]uint32{}
	}
	v.buffer = v.buffer[:0]
	scan(text, func(word []byte) {
		n, known := v.numbers[string(word)]
		if !known {
			n = uint32(len(v.numbers)) + 1 //nolint:gosec // a debate has fewer than four billion words
			v.numbers[string(word)] = n
		}
		v.buffer = append(v.buffer, n)
	})
	return v.buffer
}
