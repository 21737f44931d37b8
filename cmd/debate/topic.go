package main

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The purpose whose topic can be left out: its documents say what it is about.
const (
	reviewPurpose = "review"
	reviewTopic   = "Is anything wrong with these documents? Should they be approved as they are?"
)

// topic returns the topic from the argument or the file on the command line.
func (o options) topic() (string, error) {
	switch {
	case o.flagGiven["file"] && len(o.operands) > 0:
		return "", exitErrorf(exitInput, "read topic: given as an argument and with --file, want only one of them")
	case len(o.operands) > 1:
		return "", exitErrorf(exitInput, "read topic: got %d arguments, want one; put a topic of several words in quotes", len(o.operands))
	case o.flagGiven["file"]:
		return readText("topic", o.file)
	case len(o.operands) == 0 && o.purpose == reviewPurpose:
		return reviewTopic, nil
	case len(o.operands) == 0:
		return "", exitErrorf(exitInput, "read topic: no topic given, want an argument or --file; see debate --help")
	case strings.TrimSpace(o.operands[0]) == "":
		return "", exitErrorf(exitInput, "read topic: the topic is blank")
	}
	return strings.TrimSpace(o.operands[0]), nil
}

// addBackground adds the files of --background to a background. If there are several texts, each begins with its name.
func (o options) addBackground(background string) (string, error) {
	var texts []string
	if strings.TrimSpace(background) != "" {
		texts = append(texts, background)
	}
	for _, path := range o.backgrounds {
		text, err := readText("background", path)
		if err != nil {
			return "", err
		}
		if len(o.backgrounds) > 1 || len(texts) > 0 {
			text = filepath.Base(path) + ":\n\n" + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n"), nil
}

// readText returns the text of a file, without white space around it. Errors name what the text is.
func readText(what, path string) (string, error) {
	if isDirectory(path) {
		return "", exitErrorf(exitInput, "read %s: %s is a directory, want a file", what, path)
	}
	b, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", exitErrorf(exitInput, "read %s: %w", what, err)
	case !utf8.Valid(b):
		return "", exitErrorf(exitInput, "read %s: %s is not UTF-8 text", what, path)
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if text == "" {
		return "", exitErrorf(exitInput, "read %s: %s is blank", what, path)
	}
	return text, nil
}
