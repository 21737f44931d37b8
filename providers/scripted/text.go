package scripted

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text returns a text that follows a schema: the given one, shortened or repeated, if the schema has no format and no pattern.
func (s *schema) text(words, path string) (string, error) {
	if known, ok := formats[s.format]; ok {
		return known.sample, s.checkText(known.sample, path)
	}
	if s.pattern != "" {
		return s.patternText(path)
	}
	if words == "" {
		words = "Text."
	}
	text := words
	if short := s.minLength - utf8.RuneCountInString(text); short > 0 {
		if s.minLength > maxTextLength {
			return "", fmt.Errorf("%s: a text of %d characters is too long to make, choose one", at(path), s.minLength)
		}
		text += strings.Repeat(" "+words, short/(utf8.RuneCountInString(words)+1)+1)
	}
	if s.maxLength != nil && utf8.RuneCountInString(text) > *s.maxLength {
		text = string([]rune(text)[:max(*s.maxLength, 0)])
	}
	return text, s.checkText(text, path)
}

// maxTextLength is the largest minLength for which a text is made.
const maxTextLength = 100_000

// patternText returns a text that matches the pattern: it repeats what may be repeated until the text is long enough.
func (s *schema) patternText(path string) (string, error) {
	pattern, err := syntax.Parse(s.pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("%s: pattern: %w", at(path), err)
	}
	for _, repeats := range []int{0, 1, 2, 3, 5, 8, 16, 32, s.minLength} {
		if repeats > maxRepeats {
			continue
		}
		var b strings.Builder
		if !example(&b, pattern, repeats) {
			break
		}
		for _, text := range []string{b.String(), b.String() + strings.Repeat("a", max(s.minLength-utf8.RuneCountInString(b.String()), 0))} {
			if s.checkText(text, path) == nil {
				return text, nil
			}
		}
	}
	return "", fmt.Errorf("%s: no text was found for the pattern %s, choose one", at(path), s.pattern)
}

const (
	maxRepeats       = 1000
	maxPatternLength = 20_000
)

// example writes a text for a pattern, which repeats what may be repeated so many times if the pattern allows it. It returns
// false for a pattern that it cannot follow.
func example(b *strings.Builder, p *syntax.Regexp, repeats int) bool {
	if b.Len() > maxPatternLength {
		return false
	}
	times := 1
	switch p.Op {
	case syntax.OpLiteral:
		b.WriteString(string(p.Rune))
		return true
	case syntax.OpCharClass:
		return writeRune(b, p.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
		return true
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	case syntax.OpAlternate:
		return example(b, p.Sub[0], repeats)
	case syntax.OpCapture, syntax.OpConcat:
	case syntax.OpStar:
		times = repeats
	case syntax.OpPlus:
		times = max(repeats, 1)
	case syntax.OpQuest:
		times = min(repeats, 1)
	case syntax.OpRepeat:
		if times = max(repeats, p.Min); p.Max >= 0 {
			times = min(times, p.Max)
		}
	default:
		return false
	}
	for range times {
		for _, sub := range p.Sub {
			if !example(b, sub, repeats) {
				return false
			}
		}
	}
	return true
}

// writeRune writes a character of a class, which is a list of ranges: a letter or a digit if there is one.
func writeRune(b *strings.Builder, ranges []rune) bool {
	for _, good := range []func(rune) bool{unicode.IsLetter, unicode.IsDigit, unicode.IsPrint, utf8.ValidRune} {
		for i := 0; i+1 < len(ranges); i += 2 {
			for r := ranges[i]; r <= min(ranges[i+1], ranges[i]+200); r++ {
				if good(r) {
					b.WriteRune(r)
					return true
				}
			}
		}
	}
	return false
}
