package offline

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// prompt holds what the demo model finds in a request.
type prompt struct {
	system, task  string
	name          string // the actor's, empty if there is none
	topic, side   string
	round, rounds int
	own           []string    // earlier statements of the actor, in order
	others        []statement // earlier statements of others, in order
	heard         []string    // the messages with these statements, which end with the verdicts on their quotes
	violations    []string    // what was wrong with the reply to the same prompt
	texts         []passage   // results of tools, the last round first
	lookedUp      bool        // a tool was called for this reply
}

// statement is a text and the name of its speaker.
type statement struct{ name, text string }

func read(r providers.Request) (p prompt) {
	messages := p.readRounds(r.Messages)
	if last := messages[len(messages)-1].Text; strings.HasPrefix(last, "Your last reply is invalid.") && len(messages) > 3 {
		p.violations, messages = listItems(last, "It has the following errors:"), messages[:len(messages)-2]
	}
	p.system, p.task = messages[0].Text, messages[len(messages)-1].Text
	p.name, _, _ = strings.Cut(between(p.system, "You are ", ", "), ". ")
	p.topic, p.side = labeledLine(p.system, "Topic: "), labeledLine(p.system, "Your side: ")
	_, _ = fmt.Sscanf(p.task, "Round %d of %d", &p.round, &p.rounds) // a verdict has no round
	between := messages[1 : len(messages)-1]
	for name, text := range scripted.Statements(providers.Request{Messages: between}) {
		p.others = append(p.others, statement{name, text})
	}
	for _, m := range between {
		if m.Role == providers.Assistant {
			p.own = append(p.own, m.Text)
		} else {
			p.heard = append(p.heard, m.Text)
		}
	}
	return p
}

// readRounds removes the rounds of tool calls from the end of messages, and keeps their results.
func (p *prompt) readRounds(messages []providers.Message) []providers.Message {
	end := len(messages)
	for i := end - 1; i > 0 && len(messages[i].Parts) > 0 && messages[i].Parts[0].ToolResult != nil; i -= 2 {
		for _, part := range messages[i].Parts {
			if t := part.ToolResult; t != nil && !t.Failed {
				p.texts = append(p.texts, enclosed(t.Text)...)
			}
		}
		p.lookedUp, end = true, i-1
	}
	return messages[:end]
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
	_, rest, _ := strings.Cut(text, heading)
	rest = strings.TrimPrefix(rest, "\n")
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
	return p.name == "" || p.name[0]%2 == 1
}
