package acp

import (
	"cmp"
	"strings"

	"github.com/elenchus-go/debate/providers/adapter"
)

// speech makes a reply of the messages of an agent. The last message is the reply. Some agents send notices as messages, such as
// a warning about the model: they have no number while the messages of the model have one.
type speech struct {
	out     adapter.AgentText
	numbers func(seen bool) bool

	message string // the number of the current message
	used    bool   // a tool has been used since the current message
	spoken  bool
	held    string   // a message without a number that may be a notice
	plain   string   // the end of what was said without a number
	notices []string // what the agent has said beside the reply
}

// add adds an event.
func (s *speech) add(e event) error {
	if e.message == "" {
		const longest = 1000
		s.plain += e.text
		s.plain = s.plain[max(len(s.plain)-longest, 0):]
	}
	switch {
	case e.thought != "":
		return s.out.Add(adapter.Chunk{Reasoning: e.thought})
	case e.text == "":
		s.used = true
		return s.out.Add(adapter.Chunk{})
	case e.message != "":
		s.numbers(true)
		s.notice(s.held)
		s.held = ""
	case s.numbers(false):
		s.notice(e.text)
		return s.out.Add(adapter.Chunk{})
	case !s.spoken && isWarning(s.held, e.text):
		s.held += e.text
		return s.out.Add(adapter.Chunk{})
	default:
		if err := s.release(); err != nil {
			return err
		}
	}
	return s.say(e.message, e.text)
}

// isWarning reports whether a text without a number begins like a warning, at the begin of a paragraph.
func isWarning(before, text string) bool {
	begins := strings.HasPrefix(strings.ToLower(strings.TrimLeft(text, " *#>_⚠️")), "warning")
	return begins && (before == "" || strings.HasSuffix(before, "\n"))
}

// say adds a piece of the reply.
func (s *speech) say(message, text string) error {
	if s.spoken && (message != s.message || s.used) {
		s.out.Next()
	}
	s.message = message
	s.used = false
	s.spoken = true
	return s.out.Say(text)
}

// release says what was held, because it belongs to the reply.
func (s *speech) release() error {
	text := s.held
	s.held = ""
	if text == "" {
		return nil
	}
	return s.say("", text)
}

// notice notes what the agent has said beside the reply.
func (s *speech) notice(text string) {
	const most = 20
	text = strings.TrimSpace(text)
	if text != "" && len(s.notices) < most {
		s.notices = append(s.notices, text)
	}
}

// failure returns the error of a turn that the agent has ended well although it has failed: it says so elsewhere, or there are only
// notices. The last of them is the error.
func (s *speech) failure(failed bool) error {
	if !failed && (s.spoken || s.held != "" || len(s.notices) == 0) {
		return nil
	}
	text := strings.TrimSpace(s.plain)
	if n := len(s.notices); n > 0 {
		text = s.notices[n-1]
		s.notices = s.notices[:n-1]
	}
	return &agentError{text: cmp.Or(text, "the agent says that its turn has failed")}
}

// end ends the reply.
func (s *speech) end() error {
	if err := s.release(); err != nil {
		return err
	}
	return s.out.End()
}
