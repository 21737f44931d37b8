package vote

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// extractors are the built-in extractors by the values of Protocol.Extract. Each returns an answer in canonical form.
var extractors = map[string]func(string) string{
	"":       canonical.Text,
	"text":   canonical.Text,
	"number": canonical.Number,
	"letter": canonical.Letter,
	"boxed":  canonical.Boxed,
}

// reader returns a function that returns the answer of a turn in canonical form. It returns "" if the turn is not a ballot, is a
// default, or has no answer. Where answers are letters, the topic lists the choices.
func (p Protocol) reader(r *protocol.Record) func(transcript.Turn) string {
	extract := extractors[p.Extract]
	if p.Extract == "letter" {
		choices := canonical.Choices(r.Topic)
		extract = func(answer string) string { return canonical.Choice(answer, choices) }
	}
	return func(t transcript.Turn) string { return p.answer(t, extract) }
}

// answer returns the answer of a turn in the canonical form that extract returns.
func (p Protocol) answer(t transcript.Turn, extract func(string) string) string {
	if t.Kind != transcript.Speech || slices.Contains(t.Flags, transcript.Defaulted) {
		return ""
	}
	if p.Extractor != nil {
		return p.Extractor(t)
	}
	b, err := transcript.Decode[Ballot](t)
	if err != nil || extract == nil {
		return ""
	}
	if len(p.Options) > 0 {
		if n := p.option(b.Answer); n > 0 {
			return p.Options[n-1]
		}
		return ""
	}
	return extract(b.Answer)
}

// optionPattern matches the number of an option, such as "2", "Option 2" or "2. Refuse".
var optionPattern = regexp.MustCompile(`(?i)^(?:option\s*)?#?(\d{1,2})(?:$|[.):])`)

// option returns the number of the option that an answer names, by its number or by its text. It returns 0 if there is none.
func (p Protocol) option(answer string) int {
	answer = strings.TrimSpace(answer)
	if found := optionPattern.FindStringSubmatch(answer); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n >= 1 && n <= len(p.Options) {
			return n
		}
	}
	if at := slices.Index(p.Options, answer); at >= 0 {
		return at + 1
	}
	text, is := canonical.Text(answer), 0
	for i, o := range p.Options {
		switch {
		case text == "" || canonical.Text(o) != text:
		case is > 0: // two options differ only in what comparisons ignore
			return 0
		default:
			is = i + 1
		}
	}
	return is
}

// checkBallot sets the answer of a ballot to the text of the option that it names. It returns a violation if it names none.
// A ballot without an answer is valid and does not count.
func (p Protocol) checkBallot(v any) []string {
	b := v.(*Ballot)
	if b.Answer == "" {
		return nil
	}
	n := p.option(b.Answer)
	if n == 0 {
		return []string{fmt.Sprintf("/answer: %q is no option, give a number from 1 to %d", b.Answer, len(p.Options))}
	}
	b.Answer = p.Options[n-1]
	return nil
}

// ballotCheck returns the check of ballots, or nil if they are open.
func (p Protocol) ballotCheck() func(any) []string {
	if len(p.Options) == 0 {
		return nil
	}
	return p.checkBallot
}
