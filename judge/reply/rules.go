package reply

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// rulesOf returns what violations say without what they quote of a reply: the paths, with the names of fields only, and the
// rules. A rule of which a word may come from the reply is replaced.
func (c *Contract) rulesOf(violations []string, text string) (rules []string) {
	text = strings.ToLower(text + " " + escapes.ReplaceAllStringFunc(text, func(e string) string {
		plain, _ := strconv.Unquote(`"` + e + `"`) // "" for half of a surrogate pair, which no word contains
		return plain
	}))
	for _, v := range violations {
		where, rule, ok := strings.Cut(v, ": ")
		where += ": "
		if !ok || !strings.HasPrefix(v, "/") { // there is no path
			where, rule = "", v
		}
		rule = strings.TrimSuffix(quoted.ReplaceAllString(rule, "…"), "...")
		for _, word := range words.FindAllString(rule, -1) {
			if w := strings.ToLower(word); !ownWords()[w] && strings.Contains(text, w) && !c.reading().known.hasField(word) {
				rule = "the value is not valid"
				break
			}
		}
		rules = append(rules, c.fieldsOf(where)+rule)
	}
	return rules
}

var (
	// quoted matches what a violation quotes, also if it was cut. The validator quotes names with single quotes.
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*("|$)|'(?:[^'\\]|\\.)*('|$)|“[^”]*(”|$)`)
	// escapes matches characters that a reply may write in another way than a violation.
	escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}`)
	words   = regexp.MustCompile(`[\pL\pN]+`)
)

// ownWords are the words of the rules of this library and of the validator. They say nothing about a reply that has them too.
var ownWords = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for w := range strings.FieldsSeq(`a after all allowed an and answer appears are as assessment at be before bracket brief but by bytes
		character characters close closed contradict deeper different each else empty end entries entry error every exactly expected
		field for found give has have hold holds in invalid is it item items its json known length less levels list lower many
		missing more most must name named names needs nested no not nothing null number object objects of once one only or order out
		participant participants preference properties property ranked ranking reply required score scores shorter several
		spelled spelling string syntax than that the their them there these to too twice two type unknown use valid value values
		winner with write wrong`) {
		known[w] = true
	}
	return known
})

// hasField reports whether an object or one inside it has a field.
func (s knownFields) hasField(name string) bool {
	for known, field := range s {
		if known == name || field.inner.hasField(name) {
			return true
		}
	}
	return false
}

// fieldsOf returns a path in a reply with a star for each part that is neither a field nor a number.
func (c *Contract) fieldsOf(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	parts := strings.Split(strings.TrimSuffix(path, ": "), "/")
	for i, part := range parts[1:] {
		if _, err := strconv.Atoi(part); err != nil && !c.reading().known.hasField(part) {
			parts[i+1] = "*"
		}
	}
	return strings.Join(parts, "/") + ": "
}

// withRules adds the rules to the error of a reply.
func (c *Contract) withRules(err error, text string) error {
	if invalid, ok := errors.AsType[*Invalid](err); ok {
		return &Invalid{Violations: invalid.Violations, Rules: c.rulesOf(invalid.Violations, text)}
	}
	return err
}
