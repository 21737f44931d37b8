package canonical

import (
	"regexp"
	"strings"
	"sync"
)

// choiceLabel matches the letter of a choice: at the beginning of a line, or after white space.
var choiceLabel = regexp.MustCompile(`(?:^|[\s(\[])([A-Z])[).:\]][ \t]+`)

// Choices returns the texts of the choices that a question lists with their letters, from A on without a gap, each on a line or
// all in one: the last such list. It returns nil if there is none.
func Choices(question string) []string {
	lines := strings.Split(question, "\n")
	var last, list []string
	for _, line := range lines {
		at := choiceLabel.FindStringSubmatchIndex(line)
		switch {
		case at == nil || strings.Trim(line[:at[2]], " \t([") != "":
			continue
		case line[at[2]] == 'A':
			list = nil
		case int(line[at[2]]-'A') != len(list):
			list = nil
			continue
		}
		list = append(list, strings.TrimSpace(line[at[1]:]))
		if len(list) > 1 {
			last = list
		}
	}
	if last != nil {
		return last
	}
	return choicesInLine(question)
}

// choicesInLine returns the last list of choices that follow one another in a text.
func choicesInLine(text string) (last []string) {
	var list []string
	all := choiceLabel.FindAllStringSubmatchIndex(text, -1)
	for i, at := range all {
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		switch int(text[at[2]] - 'A') {
		case 0:
			list = nil
		case len(list):
		default:
			list = nil
			continue
		}
		choice, _, _ := strings.Cut(text[at[1]:end], "\n")
		choice = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(choice), "or"))
		list = append(list, strings.TrimRight(choice, " ,;"))
		if len(list) > 1 {
			last = list
		}
	}
	return last
}

// statedText matches the statement of an answer by its text, such as "the answer is Paris". It is compiled on first use.
var statedText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:so,?\s+|therefore,?\s+)?(?:(?:my|the)\s+)?(?:(?:final|correct|right|best)\s+)?` +
		`(?:answer|choice|option)(?:\s+(?:is|would be|must be)\b|\s*:)\s*(.+)$|` +
		`^(?:i\s+)?(?:would\s+)?(?:choose|pick|select|go with)\s+(.+)$`)
})

// Choice returns the letter of the choice that an answer names: by the letter alone, by the text of the choice, or else as Letter
// does. It returns "" if it names none.
func Choice(answer string, choices []string) string {
	alone := letterAlone().FindStringSubmatch(answer)
	if alone != nil {
		return strings.ToUpper(alone[1])
	}
	if letter := choiceOfText(answer, choices); letter != "" {
		return letter
	}
	if found := statedText().FindStringSubmatch(strings.TrimSpace(answer)); found != nil {
		if letter := choiceOfText(found[1]+found[2], choices); letter != "" {
			return letter
		}
	}
	return Letter(answer)
}

// choiceOfText returns the letter of the only choice with a text: as it is written, or else without case and punctuation.
func choiceOfText(text string, choices []string) string {
	for _, same := range []func(choice string) bool{
		func(choice string) bool { return strings.TrimSpace(choice) == strings.TrimSpace(text) },
		func(choice string) bool { return Text(text) != "" && Text(choice) == Text(text) },
	} {
		at, count := 0, 0
		for i, choice := range choices {
			if same(choice) {
				at = i
				count++
			}
		}
		if count == 1 {
			return string(rune('A' + at))
		}
	}
	return ""
}
