package main

import (
	"path/filepath"
	"strings"
)

// The purpose whose topic can be left out: its documents say what it is about.
const (
	reviewPurpose = "review"
	reviewTopic   = "Is anything wrong with these documents? Should they be approved as they are?"
)

// topic returns the topic from the argument or the file on the command line.
func (p *program) topic() (string, error) {
	o := p.options
	switch {
	case o.flagGiven["file"] && len(o.operands) > 0:
		return "", exitErrorf(exitInput, "read topic: given as an argument and with --file, want only one of them")
	case len(o.operands) > 1:
		return "", exitErrorf(exitInput, "read topic: got %d arguments, want one; put a topic of several words in quotes", len(o.operands))
	case o.flagGiven["file"]:
		return p.readTextFrom("topic", "--file -", o.file)
	case len(o.operands) == 0 && o.purpose == reviewPurpose:
		return reviewTopic, nil
	case len(o.operands) == 0:
		return p.inputTopic()
	case strings.TrimSpace(o.operands[0]) == "":
		return "", exitErrorf(exitInput, "read topic: the topic is blank")
	}
	return strings.TrimSpace(o.operands[0]), nil
}

// addBackground adds the files of --background to a background. If there are several texts, each begins with its name.
func (p *program) addBackground(background string) (string, error) {
	var texts []string
	if strings.TrimSpace(background) != "" {
		texts = append(texts, background)
	}
	for _, path := range p.backgrounds {
		text, err := p.readTextFrom("background", "--background -", path)
		if err != nil {
			return "", err
		}
		if len(p.backgrounds) > 1 || len(texts) > 0 {
			text = baseOf(path) + ":\n\n" + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n"), nil
}

// baseOf returns the name of a file without its folder.
func baseOf(path string) string {
	if path == standardInput {
		return "standard input"
	}
	return filepath.Base(path)
}
