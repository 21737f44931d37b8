package speech

import (
	"strings"
	"sync"
	"unicode/utf8"
)

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
			for _, word := range list {
				root.add(word, entry{lang: lang, kind: kind(k)})
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
		if n = n.next[s.text[i]]; n == nil {
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

// firstCJK is where the scripts begin that have no space between words.
const firstCJK = 0x2E80

// isCJK reports whether a text has characters of such scripts, except Korean, which has spaces.
func isCJK(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return isIdeograph(r) })
}

func isIdeograph(r rune) bool { return r >= firstCJK && r < 0xAC00 && r != utf8.RuneError }
