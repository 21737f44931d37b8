package leftover

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// atMark goes on at a character with which a mark can begin.
func (s *scanner) atMark() bool {
	rest := s.buf[s.at:]
	m, wait := lookup(rest, s.end)
	switch {
	case wait:
		return false
	case m == nil && s.isCut(rest):
		s.remove(rest, len(rest))
		return true
	case m == nil, s.to == Reply && (s.fences.Open() || s.span), s.inline && m.role != inlineOff:
		s.keep(1)
		return true
	}
	switch m.role {
	case inlineOn, inlineOff:
		s.atInline(m)
	case noise:
		s.atNoise(m)
	case ends:
		return s.atEnd(m)
	case turn:
		return s.atTurn(m)
	case assistant, other:
		return s.atAuthor(m)
	case author:
		return s.atHeader(m)
	case channel:
		return s.atChannel(m)
	case message:
		s.atMessage(m)
	case thinks, thought:
		return s.atThought(m)
	case calls:
		return s.atCalls(m)
	}
	return true
}

// isCut reports whether a text is the beginning of a mark that was cut off.
func (s *scanner) isCut(rest string) bool {
	_, begun := lookup(rest, false)
	return s.end && begun && len(rest) > len("<|") && strings.HasPrefix(rest, "<|") && !s.fences.Open() && !s.span && !s.inline
}

// atInline goes on at a tag of package reasoning, which stays in the text.
func (s *scanner) atInline(m *mark) {
	if m.role == inlineOn {
		s.flush()
		s.inline = true
		s.advance(len(m.text))
		return
	}
	s.advance(len(m.text))
	s.flush()
	s.inline = false
}

// atNoise goes on at a mark that means nothing.
func (s *scanner) atNoise(m *mark) {
	if s.before() == 0 && !s.said {
		s.remove(m.text, len(m.text))
		return
	}
	s.struck = s.struck || m.text == "<s>"
	s.keep(len(m.text))
}

// atEnd goes on at a mark that ends a message. One that stands within a line, between spaces or in brackets, is mentioned.
func (s *scanner) atEnd(m *mark) bool {
	takes := false
	switch s.after(len(m.text)) {
	case unclear:
		return false
	case nothing, nextMark:
		takes = true
	case atOnce:
		r, _ := utf8.DecodeRuneInString(s.buf[s.at+len(m.text):])
		takes = s.isGlued() && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '{')
	case nextLine:
		takes = s.isGlued()
	case sameLine:
		takes = isEndOfSentence(s.before())
	}
	if !takes || m.text == "</s>" && s.struck {
		s.keep(len(m.text))
		return true
	}
	s.remove(m.text, len(m.text))
	s.endMessage()
	return true
}

// name matches the name of an author.
var name = regexp.MustCompile(`^ ?[A-Za-z_]{0,20}$`)

// atTurn goes on at a mark that begins a message, whose header names the author. At the end of a text, it may not be complete.
func (s *scanner) atTurn(m *mark) bool {
	rest := s.buf[s.at+len(m.text):]
	header, _, complete := strings.Cut(rest, m.until)
	size := len(m.text) + len(header)
	if complete {
		size += len(m.until)
	} else if i := strings.IndexByte(header, '<'); i >= 0 && strings.HasPrefix(m.until, header[i:]) {
		header = header[:i]
	}
	author := strings.TrimSpace(header)
	switch {
	case !name.MatchString(header), !complete && s.end && !isAuthor(author):
		s.keep(len(m.text))
		return true
	case !complete && !s.end:
		return false
	}
	s.remove(m.text, size)
	s.speaks(isAssistant(author))
	return true
}

// isAuthor reports whether a word is the name of an author, or empty.
func isAuthor(word string) bool {
	switch strings.ToLower(word) {
	case "system", "user", "tool", "developer", "human", "function", "ipython":
		return true
	}
	return isAssistant(word)
}

// isAssistant reports whether a header names the model.
func isAssistant(author string) bool {
	switch strings.ToLower(author) {
	case "", "assistant", "model", "gpt", "ai", "bot", "chatbot":
		return true
	}
	return false
}

// atAuthor goes on at a mark that stands for the author of a message.
func (s *scanner) atAuthor(m *mark) bool {
	takes := s.before() == 0 || s.before() == '\n' || isEndOfSentence(s.solidBefore())
	if !takes {
		switch s.after(len(m.text)) {
		case unclear:
			return false
		case nothing, nextMark, nextLine:
			takes = true
		case atOnce, sameLine:
		}
	}
	if !takes && !s.others {
		s.keep(len(m.text))
		return true
	}
	s.remove(m.text, len(m.text))
	s.speaks(m.role == assistant)
	return true
}

// The header of a message in Harmony: <|start|>author to=recipient<|channel|>name to=recipient <|constrain|>format<|message|>
var (
	authorHeader  = regexp.MustCompile(`^(?:[A-Za-z][\w.-]*)?(?: ?to=[\w.-]+)?$`)
	mayBeAuthor   = regexp.MustCompile(`^[\w.-]*(?: ?[\w.=-]*)?<?$`)
	channelHeader = regexp.MustCompile(`^ ?(analysis|commentary|final)\b`)
)

// atHeader goes on at the mark that begins a message in Harmony.
func (s *scanner) atHeader(m *mark) bool {
	rest := s.buf[s.at+len(m.text):]
	header, complete := headerUntil(rest, "<|")
	isShort := len(header) <= maxHeader
	switch {
	case isShort && authorHeader.MatchString(header) && (complete || s.end):
	case isShort && !complete && !s.end && mayBeAuthor.MatchString(header):
		return false
	default:
		s.keep(len(m.text))
		return true
	}
	s.author, _, _ = strings.Cut(header, " ")
	s.recipient = recipientOf(header)
	s.remove(m.text, len(m.text)+len(header))
	return true
}

// headerUntil returns the header with which a text begins and whether the mark that ends it is complete. A part of that mark does not
// belong to the header.
func headerUntil(text, until string) (header string, complete bool) {
	header, _, complete = strings.Cut(text, until)
	if complete {
		return header, true
	}
	for n := min(len(until)-1, len(header)); n > 0; n-- {
		if strings.HasSuffix(header, until[:n]) {
			return header[:len(header)-n], false
		}
	}
	return header, false
}

// atChannel goes on at the mark that names the channel of a message. Some servers leave out the mark at the end of the header.
func (s *scanner) atChannel(m *mark) bool {
	rest := s.buf[s.at+len(m.text):]
	header, complete := headerUntil(rest, m.until)
	size := len(m.text) + len(header) + len(m.until)
	isLong := len(header) > maxHeader || strings.Contains(header, "\n")
	switch word := channelHeader.FindString(rest); {
	case complete && !isLong:
	case !isLong && !s.end:
		return false
	case word == "" && rest != "":
		s.keep(len(m.text))
		return true
	default: // the mark at the end of the header is missing
		header = word
		size = len(m.text) + len(word)
	}
	s.remove(m.text, size)
	s.beginMessage(header)
	return true
}

// atMessage goes on at the mark that ends a header without a channel.
func (s *scanner) atMessage(m *mark) {
	if s.before() != 0 {
		s.keep(len(m.text))
		return
	}
	s.remove(m.text, len(m.text))
	s.beginMessage("")
}

// beginMessage begins a message in Harmony, with the header of its channel.
func (s *scanner) beginMessage(header string) {
	author, to := s.author, s.recipient
	s.author = ""
	s.recipient = ""
	if to == "" {
		to = recipientOf(header)
	}
	s.to = Reply
	switch name := strings.TrimSpace(channelHeader.FindString(header)); {
	case !isAssistant(author):
		s.speaks(false)
	case to != "" && !isAssistant(to) && to != "user" && to != "all":
		s.others = false
		s.block = &block{name: to, until: []string{"<|call|>", "<|end|>", "<|return|>", "<|start|>", "<|channel|>"}}
	case name == "analysis", name == "commentary":
		s.others = false
		s.to = Thought
	case s.said && !s.channels: // the text began within the reasoning
		s.others = false
		s.reset()
	default:
		s.others = false
		s.ended = s.said
	}
	s.channels = true
}

// atThought goes on at a mark that begins or ends reasoning. An end without a beginning says that the text began within it.
func (s *scanner) atThought(m *mark) bool {
	switch next := s.after(len(m.text)); {
	case s.to == Thought && m.role == thought:
		s.remove(m.text, len(m.text))
		s.to = Reply
		return true
	case next == unclear:
		return false
	case !s.isGlued(), next == sameLine && s.before() != 0 && s.before() != '\n' && !isEndOfSentence(s.before()):
		s.keep(len(m.text))
		return true
	}
	s.remove(m.text, len(m.text))
	switch {
	case m.role == thinks:
		s.to = Thought
	case s.said && !s.channels:
		s.reset()
	}
	s.channels = true
	return true
}
