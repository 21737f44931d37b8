package speech

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// sentence is a sentence in lower case, without punctuation, between two spaces.
type sentence struct {
	text  string
	words int
	found []match // in order; nil until they are looked for
}

// sentencesOf splits a text into sentences.
func sentencesOf(text string) (list []sentence) {
	var b strings.Builder
	words := 0
	end := func() {
		s := strings.Join(strings.Fields(b.String()), " ")
		b.Reset()
		if s != "" {
			list = append(list, sentence{text: " " + expand(s) + " ", words: words + strings.Count(s, " ") + 1})
		}
		words = 0
	}
	for _, r := range text {
		switch {
		case strings.ContainsRune(".!?\n。！？।؟;", r):
			end()
		case r == '’', r == '‘', r == '´', r == '`':
			b.WriteByte('\'')
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '\'':
			b.WriteRune(unicode.ToLower(r))
			if isIdeograph(r) { // a word of Chinese or Japanese has about two characters
				words++
			}
		default:
			b.WriteByte(' ')
		}
	}
	end()
	for i := range list {
		if isCJK(list[i].text) {
			list[i].words /= 2
		}
	}
	return list
}

// contractions are the short forms of English, and what they stand for.
var contractions = strings.NewReplacer(
	"can't", "cannot", "won't", "will not", "n't ", " not ", "i'm ", "i am ", "i'd ", "i would ", "i'll ", "i will ", "i've ", "i have ",
	"it's ", "it is ", "that's ", "that is ", "let's ", "let us ", "can not ", "cannot ", "dont ", "do not ",
)

// expand writes the short forms of English out.
func expand(text string) string {
	return strings.TrimSpace(contractions.Replace(text + " "))
}

// match is a word of a list in a sentence: from the space before it to the one after the word that it begins.
type match struct {
	lang    int
	kind    kind
	at, end int
}

// node is a node of a tree with all words of all lists, byte by byte.
type node struct {
	next  map[byte]*node
	words []entry
}

// entry is a word of a list.
type entry struct {
	lang                int
	kind                kind
	whole, begins, ends bool // the word is complete; it begins, or ends, the sentence
}

// tree returns the tree of all words. It is made once.
var tree = sync.OnceValue(func() *node {
	root := &node{}
	for lang := range languages {
		for k, list := range languages[lang].words {
			for word := range strings.SplitSeq(list, ",") {
				word = strings.TrimSpace(strings.Join(strings.Fields(word), " "))
				if word != "" {
					root.add(word, entry{lang: lang, kind: kind(k)})
				}
			}
		}
	}
	return root
})

// add adds a word with its marks.
func (n *node) add(word string, e entry) {
	word, e.begins = strings.CutPrefix(word, "^ ")
	word, e.whole = strings.CutSuffix(word, "$")
	word, e.ends = strings.CutSuffix(word, " ")
	for i := range len(word) {
		if n.next == nil {
			n.next = map[byte]*node{}
		}
		if n.next[word[i]] == nil {
			n.next[word[i]] = &node{}
		}
		n = n.next[word[i]]
	}
	n.words = append(n.words, e)
}

// find looks for all words in a sentence. It takes one pass.
func (s *sentence) find() {
	if s.found != nil {
		return
	}
	s.found = []match{}
	for at, r := range s.text {
		begins := at > 0 && s.text[at-1] == ' '
		if r != ' ' && (begins || r >= firstCJK) {
			s.findAt(at, r >= firstCJK)
		}
	}
}

// findAt looks for the words that begin at a place. In a script without spaces, they can begin anywhere.
func (s *sentence) findAt(at int, spaceless bool) {
	n := tree()
	for i := at; i < len(s.text); i++ {
		n = n.next[s.text[i]]
		if n == nil {
			return
		}
		end := i + 1
		for _, e := range n.words {
			follows := s.text[end:]
			isWhole := spaceless || !e.whole || follows[0] == ' '
			if !isWhole || e.begins && at > 1 || e.ends && follows != " " {
				continue
			}
			m := match{lang: e.lang, kind: e.kind, at: at - 1, end: end}
			if spaceless {
				m.at = at
			} else {
				m.end += strings.IndexByte(follows, ' ') + 1
			}
			s.found = append(s.found, m)
		}
	}
}

// firstRune returns the first character of a text.
func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// lastRune returns the last character of a text.
func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// firstCJK is where the scripts begin that have no space between words.
const firstCJK = 0x2E80

// isCJK reports whether a text has characters of such scripts, except Korean, which has spaces.
func isCJK(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return isIdeograph(r) })
}

func isIdeograph(r rune) bool { return r >= firstCJK && r < 0xAC00 && r != utf8.RuneError }
