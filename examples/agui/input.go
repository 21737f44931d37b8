package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// input is what a user interface sends to begin a run.
type input struct {
	ThreadID string    `json:"threadId"`
	RunID    string    `json:"runId"`
	Messages []message `json:"messages"`
}

// message is a message of the conversation so far.
type message struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text, or a list of parts
}

// text returns the text of a message.
func (m message) text() (text string, err error) {
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", errors.New("the content of a message is neither a text nor a list of parts")
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a message has a part of type %q, only text is supported", p.Type)
		}
		text += p.Text
	}
	return text, nil
}

const (
	idPrefix = "agui-"   // begins the ids of debates, and so those of their messages
	answerID = "/answer" // ends the id of the message with the answer
)

// conversation returns the topic of a debate, which is the last message, and the background, which is what was said before
// it. Of earlier debates, the answers count and the speeches do not.
func conversation(list []message) (topic, background string, err error) {
	last := len(list) - 1
	if last < 0 || list[last].Role != "user" {
		return "", "", errors.New("the last message is not from the user")
	}
	topic, err = list[last].text()
	if err != nil {
		return "", "", err
	}
	var before []string
	for _, m := range list[:last] {
		text, err := m.text()
		speech := strings.HasPrefix(m.ID, idPrefix) && !strings.HasSuffix(m.ID, answerID)
		switch {
		case speech || m.Role != "user" && m.Role != "assistant" && m.Role != "system" && m.Role != "developer":
		case err != nil:
			return "", "", err
		case m.Role == "system", m.Role == "developer":
			before = append(before, text)
		case text != "": // a message that only calls tools has none
			before = append(before, fmt.Sprintf("Earlier, the %s said: %s", m.Role, text))
		}
	}
	return topic, strings.TrimSpace(strings.Join(before, "\n\n")), nil
}
