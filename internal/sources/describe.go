package sources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/transcript"
)

const (
	maxQuote = 200 // bytes of a quote that a description repeats
	maxName  = 100 // bytes of the name of a source
)

// Describe returns what the check of a turn's citations has found, one sentence for each quote and each number that no source
// has, and one for all sources that are only cited. It names sources by their numbers alone if list is nil. The sentences have words of
// models and tools.
func Describe(cited []transcript.Citation, list []evidence.Source) (lines []string) {
	var only []string
	for _, c := range cited {
		switch {
		case c.Quote == "" && c.Verdict == "":
			only = append(only, Label(c.Source, list))
		case c.Quote == "":
			lines = append(lines, fmt.Sprintf("Not found: there is no source [%d].", c.Source))
		default:
			lines = append(lines, describeQuote(c, list))
		}
	}
	if only != nil {
		lines = append(lines, "Cites "+strings.Join(only, ", ")+".")
	}
	return lines
}

func describeQuote(c transcript.Citation, list []evidence.Source) string {
	words := "“" + characters.Cut(c.Quote, maxQuote) + "”"
	source := Label(c.Source, list)
	if c.Line > 0 {
		source += ", " + Lines(&c)
	}
	switch {
	case c.Verdict == transcript.Verified && c.Omitted > 0:
		return fmt.Sprintf("Verified, with %d words left out: %s is in %s.", c.Omitted, words, source)
	case c.Verdict == transcript.Verified:
		return fmt.Sprintf("Verified: %s is in %s.", words, source)
	case c.Verdict == transcript.Altered:
		return fmt.Sprintf("Altered: %s is not in %s, which has a similar passage.", words, source)
	case c.Verdict == transcript.NotChecked:
		return fmt.Sprintf("Not checked: %s, from %s.", words, source)
	case c.Source == 0:
		return fmt.Sprintf("Not found: %s names no source of the debate.", words)
	case list != nil && !has(list, c.Source):
		return fmt.Sprintf("Not found: %s, because there is no source [%d].", words, c.Source)
	default:
		return fmt.Sprintf("Not found: %s is not in %s.", words, source)
	}
}

// Lines returns where a quote of code stands, such as "line 3" or "lines 3 to 5".
func Lines(c *transcript.Citation) string {
	if c.EndLine <= c.Line {
		return fmt.Sprintf("line %d", c.Line)
	}
	return fmt.Sprintf("lines %d to %d", c.Line, c.EndLine)
}

// Label returns the number and the name of a source, such as "[3] law.md".
func Label(number int, list []evidence.Source) string {
	i := slices.IndexFunc(list, func(s evidence.Source) bool { return s.Number == number })
	if i < 0 {
		return fmt.Sprintf("[%d]", number)
	}
	return label(&list[i])
}

func label(s *evidence.Source) string {
	return fmt.Sprintf("[%d] %s", s.Number, characters.Cut(s.Name, maxName))
}

// Line returns what turns have made of a source, such as "[3] law.md, cited by Ada and Bo; wrongly quoted by Bo".
func Line(s *evidence.Source) string {
	parts := []string{label(s)}
	for _, x := range []struct {
		what string
		by   []string
	}{{", cited by ", s.CitedBy}, {"; rightly quoted by ", s.QuotedBy}, {"; wrongly quoted by ", s.MisquotedBy}} {
		if x.by != nil {
			parts = append(parts, x.what, naming.Enumerate(x.by, 4))
		}
	}
	if s.Unanswered {
		parts = append(parts, "; answered by nobody")
	}
	return strings.Join(parts, "")
}

func has(list []evidence.Source, number int) bool {
	return slices.ContainsFunc(list, func(s evidence.Source) bool { return s.Number == number })
}

// Count returns the numbers of quotes by their verdicts, such as "2 quotes verified, 1 altered, 1 not found", and "" if there are
// none.
func Count(cited []transcript.Citation) string {
	n := map[transcript.Verdict]int{}
	for _, c := range cited {
		if c.Quote != "" {
			n[c.Verdict]++
		}
	}
	var list []string
	for _, v := range []transcript.Verdict{transcript.Verified, transcript.Altered, transcript.NotFound, transcript.NotChecked} {
		if n[v] == 0 {
			continue
		}
		what := ""
		if list == nil {
			what = map[bool]string{true: "quote ", false: "quotes "}[n[v] == 1]
		}
		list = append(list, fmt.Sprintf("%d %s%s", n[v], what, strings.ReplaceAll(string(v), "_", " ")))
	}
	return strings.Join(list, ", ")
}
