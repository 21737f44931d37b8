package debatetool

import (
	"fmt"
	"strings"
)

// maxEarlier is the largest number of earlier messages that become background.
const maxEarlier = 20

// background returns the background of a debate within a conversation: its own, all instructions, and the last of the other
// messages. Each of these is cut to the length that texts have in outputs.
func (s *Toolset) background(own string, earlier []Turn) string {
	parts, said := []string{own}, []string(nil)
	for _, m := range earlier {
		text := strings.TrimSpace(m.Text)
		switch kept, left := cut(text, s.maxText); {
		case text == "":
		case m.Actor == "system":
			parts = append(parts, text)
		case left > 0:
			said = append(said, fmt.Sprintf("Earlier, %s said: %s [%d characters left out]", speaker(m.Actor), kept, left))
		default:
			said = append(said, fmt.Sprintf("Earlier, %s said: %s", speaker(m.Actor), kept))
		}
	}
	if most := len(said) - maxEarlier; most > 0 {
		parts, said = append(parts, fmt.Sprintf("[%d earlier messages left out]", most)), said[most:]
	}
	return strings.TrimSpace(strings.Join(append(parts, said...), "\n\n"))
}

// speaker returns who has said a message.
func speaker(role string) string {
	if role == "user" || role == "assistant" || role == "tool" {
		return "the " + role
	}
	return role
}

// ForPeople returns the same tools for people who read what an agent says, in a chat window. Their outputs have texts without
// delimiters, and say what to do next by a message. A model that reads them cannot tell the texts from instructions. If it
// has to, set Options.QuoteAlways: then ForPeople changes nothing.
func (s *Toolset) ForPeople() *Toolset {
	c := *s
	c.forPeople = !s.quoteAlways
	return &c
}
