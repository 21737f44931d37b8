package offline

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// prompt holds what the demo model finds in a request.
type prompt struct {
	system, task  string
	topic, side   string
	round, rounds int
	own           []string    // earlier statements of the actor, in order
	others        []statement // earlier statements of others, in order
}

// statement is a text and the name of its speaker.
type statement struct{ name, text string }

func read(r providers.Request) (p prompt) {
	p.system, p.task = r.Messages[0].Text, r.Messages[len(r.Messages)-1].Text
	p.topic, p.side = labeledLine(p.system, "Topic: "), labeledLine(p.system, "Your side: ")
	_, _ = fmt.Sscanf(p.task, "Round %d of %d", &p.round, &p.rounds) // a verdict has no round
	for _, m := range r.Messages[1 : len(r.Messages)-1] {
		if m.Role == providers.User {
			p.others = append(p.others, parseStatement(m.Text))
		} else {
			p.own = append(p.own, m.Text)
		}
	}
	return p
}

// parseStatement parses a statement of another actor. It is a text between two delimiter lines, the first of which names
// the speaker, such as "Ada, round 1" or "Ada on Bo, round 1".
func parseStatement(message string) statement {
	delimiter, text, _ := strings.Cut(message, "\n")
	_, name, _ := strings.Cut(delimiter, " begin: ")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, ">>>"), ", round ")
	name, _, _ = strings.Cut(name, " on ")
	return statement{name, text[:max(0, strings.LastIndex(text, "\n"))]}
}

// between returns the text between two strings, up to the end of the line.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	rest, _, _ = strings.Cut(rest, "\n")
	rest, _, _ = strings.Cut(rest, after)
	return rest
}

// labeledLine returns the rest of the line that begins with a label.
func labeledLine(text, label string) string { return between("\n"+text, "\n"+label, "\n") }

// listItems returns the lines of a list under a heading, without their dashes.
func listItems(text, heading string) (list []string) {
	_, rest, _ := strings.Cut(text, heading+"\n")
	for item := range strings.Lines(rest) {
		item, ok := strings.CutPrefix(item, "- ")
		if !ok {
			break
		}
		list = append(list, strings.TrimSpace(item))
	}
	return list
}

// hasOddName reports whether the first byte of the actor's name is odd. It is true if there is no name. The demo model
// uses it to give participants different opinions.
func (p prompt) hasOddName() bool {
	_, name, _ := strings.Cut(p.system, "You are ")
	return name == "" || name[0]%2 == 1
}
