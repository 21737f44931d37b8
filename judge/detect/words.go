package detect

import (
	"unicode"
	"unicode/utf8"
)

// unspaced lists the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

const firstUnspaced = '\u0e00' // no rune before it belongs to an unspaced script

// eachWord calls visit with each word of a text, in lower case. The word is valid only during the call.
func eachWord(text string, visit func(word []byte)) {
	word := make([]byte, 0, 64)
	end := func() {
		if len(word) > 0 {
			visit(word)
			word = word[:0]
		}
	}
	alone := false // the word is a letter of an unspaced script, which only marks can extend
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

// runeClass is the effect of a rune on the word before it.
type runeClass int

const (
	separator      runeClass = iota // ends the word
	letter                          // continues the word
	singleRuneWord                  // ends the word and is a word of its own
	combiningMark                   // belongs to the letter before it
	ignored                         // has no effect: soft hyphens, joiners
)

// classify returns the class of a rune and the rune in lower case.
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
	return letter, unicode.ToLower(unicode.ToUpper(r)) // upper case first, because some letters have two lower forms
}

// wordIDs assigns ids to words, starting from 1. Sequences of ids are small keys that are equal only if the words are
// equal.
type wordIDs struct {
	ids    map[string]uint32
	buffer []uint32
}

// read returns the ids of a text's words. The result is valid until the next call.
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
