package leftover

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// begin goes on at the beginning of the reply, or before it.
func (s *scanner) begin() bool {
	rest := s.buf[s.at:]
	text := strings.TrimLeft(rest, space)
	white := rest[:len(rest)-len(text)]
	switch {
	case len(white) > maxHeader, text == "" && s.end:
		s.skip(white)
		return true
	case text == "":
		return false
	case text[0] == '<', text[0] == '[':
		s.skip(white)
		return s.atMark()
	}
	size, words, wait := label(text, s.end)
	switch {
	case wait:
		return false
	case words != "":
		s.beginWords(words, len(white)+size)
	case size > 0:
		s.remove(strings.TrimSpace(text[:size]), len(white)+size)
		s.begun = true
	default:
		s.begun = true
	}
	return true
}

// skip leaves out white space at the beginning. It means nothing before a mark.
func (s *scanner) skip(white string) {
	s.trim = true
	s.advance(len(white))
	s.mark = s.at
}

// label returns the length of the name of the model at the beginning of a text, such as "assistant:". words are those of
// Harmony with which the text begins.
// Sources: microsoft/semantic-kernel#1667, AtomaAI/atoma-infer#227
func label(text string, end bool) (size int, words string, wait bool) {
	bare := strings.TrimLeft(text, "*_")
	size = len(text) - len(bare)
	if size > 2 {
		return 0, "", false
	}
	for _, word := range []string{assistantWord, analysisWord, callHeader, commentaryWord, finalWord, "model"} {
		n := min(len(word), len(bare))
		exact := size == 0 && bare[:n] == word[:n]
		if !exact && (word != assistantWord || !strings.EqualFold(bare[:n], word[:n])) {
			continue
		}
		if n < len(word) {
			wait = !end
			continue
		}
		rest := bare[n:]
		switch {
		case word == callHeader:
			return 0, callHeader, false
		case word == assistantWord:
			return assistantLabel(text, size+n, exact, end)
		case word == "model":
			size, wait = lineEnd(rest, end)
			if size > 0 {
				size += n
			}
			return size, "", wait
		case rest == "":
			return 0, "", !end
		case isFused(rest):
			return n, word, false
		}
		return 0, "", wait
	}
	return 0, "", wait || size == len(text) && !end
}

// assistantLabel reads what follows the word assistant, whose end is at n.
func assistantLabel(text string, n int, exact, end bool) (size int, words string, wait bool) {
	if exact {
		for _, word := range []string{finalWord, analysisWord, callHeader} {
			switch rest := text[n:]; {
			case strings.HasPrefix(rest, word) && word == callHeader:
				return n, callHeader, false
			case strings.HasPrefix(rest, word):
				return n + len(word), word, false
			case !end && strings.HasPrefix(word, rest):
				return 0, "", true
			}
		}
	}
	rest := text[n:]
	after := strings.TrimLeft(rest, "*_ ")
	switch {
	case after == "":
		return 0, "", !end
	case after[0] != ':' && exact:
		size, wait = lineEnd(rest, end)
		if size > 0 {
			size += n
		}
		return size, "", wait
	case after[0] != ':':
		return 0, "", false
	}
	closed := strings.ContainsAny(rest[:len(rest)-len(after)], "*_")
	after = strings.TrimLeft(after[1:], " ")
	if after == "" && !end {
		return 0, "", true
	}
	if emphasis := text[:len(text)-len(strings.TrimLeft(text, "*_"))]; emphasis != "" && !closed {
		if len(after) < len(emphasis) && !end {
			return 0, "", true
		}
		after = strings.TrimPrefix(after, emphasis)
	}
	return len(text) - len(after), "", false
}

// lineEnd returns the length of the white space up to the end of a line, or 0 if there is more.
func lineEnd(text string, end bool) (size int, wait bool) {
	rest := strings.TrimLeft(text, " \t\r")
	switch {
	case rest == "":
		return 0, !end
	case rest[0] == '\n':
		return len(text) - len(rest) + 1, false
	}
	return 0, false
}

// isFused reports whether a text cannot follow a word without a space.
func isFused(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.Is(unicode.Lo, r) || strings.ContainsRune("{[\"“*#", r)
}

// beginWords begins a text whose marks have become words. n bytes are those of the first word.
func (s *scanner) beginWords(words string, n int) {
	s.remove(words, n)
	s.begun = true
	s.words = true
	s.channels = true
	switch words {
	case analysisWord, commentaryWord:
		s.to = Thought
	case callHeader:
		s.block = &block{until: []string{assistantWord + finalWord, assistantWord + analysisWord, assistantWord + commentaryWord}}
	}
}

// atWord goes on at a character with which the word assistant can begin.
func (s *scanner) atWord() bool {
	rest := s.buf[s.at:]
	ends := isEndOfSentence(s.before()) && s.to == Reply && !s.fences.Open() && !s.span && !s.inline
	switch {
	case !s.words && !ends:
		s.advance(1)
		return true
	case !s.end && len(rest) < len(assistantWord) && strings.HasPrefix(assistantWord, rest):
		return false
	case !strings.HasPrefix(rest, assistantWord):
		s.advance(1)
		return true
	}
	rest = rest[len(assistantWord):]
	for _, word := range []string{finalWord, analysisWord, commentaryWord} {
		switch {
		case !s.words:
		case strings.HasPrefix(rest, word):
			return s.nextWords(word)
		case !s.end && strings.HasPrefix(word, rest):
			return false
		}
	}
	size, wait := lineEnd(rest, s.end)
	switch {
	case wait && s.to == Reply:
		return false
	case ends && (size > 0 || strings.TrimLeft(rest, space) == ""): // Llama 3: meta-llama/llama3#29
		s.remove(assistantWord, len(assistantWord)+size)
		s.endMessage()
	default:
		s.advance(len(assistantWord))
	}
	return true
}

// nextWords begins the next message of a text whose marks have become words.
func (s *scanner) nextWords(word string) bool {
	rest := s.buf[s.at+len(assistantWord):]
	if word == commentaryWord && !s.end && len(rest) < len(callHeader) && strings.HasPrefix(callHeader, rest) {
		return false
	}
	switch {
	case strings.HasPrefix(rest, callHeader):
		s.beginWords(callHeader, len(assistantWord))
	case word == finalWord:
		s.remove(assistantWord+word, len(assistantWord)+len(word))
		s.to = Reply
		s.ended = s.said
	default:
		s.remove(assistantWord+word, len(assistantWord)+len(word))
		s.to = Thought
	}
	return true
}
