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

// eachWord calls visit with each word of a text, in lower case. The word is valid during the call alone.
func eachWord(text string, visit func(word []byte)) {
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
		case combiningMark:
			if len(word) > 0 {
				word = utf8.AppendRune(word, r)
			}
		case letter, singleRuneWord:
			if alone || kind == singleRuneWord {
				end()
			}
			alone = kind == singleRuneWord
			word = utf8.AppendRune(word, folded)
		case separator:
			end()
		case ignored:
		}
	}
	end()
}

// runeClass is what a rune does to the word before it.
type runeClass int

const (
	separator      runeClass = iota // ends it
	letter                          // goes on with it
	singleRuneWord                  // ends it, and is a word
	combiningMark                   // belongs to the letter before
	ignored                         // as if it were not there: soft hyphens, joiners
)

func classify(r rune) (kind runeClass, folded rune) {
	switch {
	case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
		return letter, r
	case 'A' <= r && r <= 'Z':
		return letter, r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return separator, r
	case unicode.IsMark(r):
		return combiningMark, r
	case unicode.Is(unicode.Cf, r):
		return ignored, r
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return separator, r
	case r >= firstUnspaced && unicode.In(r, unspaced...):
		return singleRuneWord, r
	}
	return letter, unicode.ToLower(unicode.ToUpper(r)) // up first: some letters have two lower forms
}

// wordIDs numbers words from 1 on, so that sequences of words are small keys and equal only where the words are.
type wordIDs struct {
	ids    map[string]uint32
	buffer []uint32
}

// read gives the numbers of a text's words. They are valid until the next call.
func (v *wordIDs) read(text string) []uint32 {
	if v.ids == nil {
		v.ids = map[string]uint32{}
	}
	v.buffer = v.buffer[:0]
	eachWord(text, func(word []byte) {
		n, known := v.ids[string(word)]
		if !known {
			n = uint32(len(v.ids)) + 1 //nolint:gosec // a debate has fewer than four billion words
			v.ids[string(word)] = n
		}
		v.buffer = append(v.buffer, n)
	})
	return v.buffer
}
