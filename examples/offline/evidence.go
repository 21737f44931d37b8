package offline

import (
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// lookUp returns a call of the first tool with the words of the topic, once for each speech. It returns nil if no tool may be
// called, or if the model cannot fill in the arguments.
func (p prompt) lookUp(r providers.Request) []providers.ToolCall {
	if len(r.Tools) == 0 || r.ToolChoice == "none" || p.lookedUp {
		return nil
	}
	arguments, err := scripted.Values{"": strings.Join(keywords(p.topic), " ")}.Fill(r.Tools[0].Schema)
	if err != nil {
		return nil
	}
	return []providers.ToolCall{{ID: "call-1", Name: r.Tools[0].Name, Arguments: arguments}}
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

// delimiter matches the line before a document or the result of a tool, up to the line after it.
var delimiter = regexp.MustCompile(`(?s)<<<(\d+) begin: (?:document|result of) [^\n]*>>>\n(.*?)\n<<<\d+ end>>>`)

// enclosed returns the texts of documents and results of tools between their delimiters.
func enclosed(text string) (list []string) {
	for _, m := range delimiter.FindAllStringSubmatch(text, -1) {
		list = append(list, m[2])
	}
	return list
}

// quotation returns the nth sentence with a word of the topic in documents and results of tools, or an empty text if there
// is none.
func (p prompt) quotation(n int) string {
	var fitting []string
	words := keywords(strings.ToLower(p.topic))
	for _, text := range append(p.texts, enclosed(p.system)...) {
		for _, s := range sentence.FindAllString(text, -1) {
			if lower := strings.ToLower(s); len(strings.Fields(s)) > 3 && containsAny(lower, words) {
				fitting = append(fitting, s)
			}
		}
	}
	if len(fitting) == 0 {
		return ""
	}
	return nth(fitting, n)
}

// sentence matches a sentence on one line.
var sentence = regexp.MustCompile(`\p{Lu}[^.!?\n]{10,200}[.!?]`)

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
