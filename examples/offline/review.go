package offline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/providers/scripted"
)

var (
	lineNumber = regexp.MustCompile(`^\s*\d+\| ?`)
	entryFor   = regexp.MustCompile(`by its number: ([0-9, ]+)\.`)
)

// findings quotes one line of the documents. Which one depends on the name of the reviewer. Without documents it finds nothing.
func (p prompt) findings() scripted.Values {
	var list []map[string]any
	for _, x := range append(p.texts, enclosed(p.system)...) {
		source := p.sourceNumber(x.source)
		for line := range strings.Lines(x.text) {
			line = strings.TrimSpace(lineNumber.ReplaceAllString(line, ""))
			if len(strings.Fields(line)) > 3 && !strings.Contains(line, "<") && source > 0 {
				list = append(list, map[string]any{
					"source": source, "file": "the document", "line": nil, "end_line": nil, "quote": line, "severity": p.severity(),
					"title": fmt.Sprintf("%s has %d words", p.name, len(strings.Fields(line))),
					"text":  fmt.Sprintf("As an offline demo model, %s cannot read this, and only quotes it.", p.name),
					"show":  fmt.Sprintf("Count the words as %s did.", p.name),
				})
			}
		}
	}
	if len(list) == 0 {
		return scripted.Values{"findings": []map[string]any{}}
	}
	at := 0
	for i, c := range p.name {
		at += (i + 1) * int(c) // names of the same letters get different lines too
	}
	at %= len(list)
	return scripted.Values{"findings": list[at : at+1]}
}

// sourceNumber returns the number of a source that has a number or a name, or 0.
func (p prompt) sourceNumber(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		return n
	}
	found := regexp.MustCompile(`\[(\d+)\] ` + regexp.QuoteMeta(name) + `[.;]`).FindStringSubmatch(p.system)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1]) // digits
	return n
}

// severity depends on the name.
func (p prompt) severity() string {
	if p.hasOddName() {
		return "warning"
	}
	return "note"
}

// numbers returns the numbers of the findings that the prompt asks about.
func (p prompt) numbers() (list []int) {
	found := entryFor.FindStringSubmatch(p.task)
	if found == nil {
		return nil
	}
	for text := range strings.SplitSeq(found[1], ", ") {
		n, _ := strconv.Atoi(text) // digits
		list = append(list, n)
	}
	return list
}

// findingVotes lets the findings with odd numbers hold.
func (p prompt) findingVotes() scripted.Values {
	list := []map[string]any{}
	for _, n := range p.numbers() {
		list = append(list, map[string]any{
			"finding": n, "reason": fmt.Sprintf("%s goes by the number of finding %d.", p.name, n),
			"holds": n%2 == 1,
		})
	}
	return scripted.Values{"summary": fmt.Sprintf("As an offline demo model, %s cannot refute anything.", p.name), "votes": list}
}

// findingRulings lets the findings with odd numbers stand.
func (p prompt) findingRulings() scripted.Values {
	list := []map[string]any{}
	for _, n := range p.numbers() {
		list = append(list, map[string]any{
			"finding": n, "reason": fmt.Sprintf("%s decides finding %d by its number.", p.name, n),
			"stands": n%2 == 1, "severity": p.severity(), "same_as": nil,
		})
	}
	return scripted.Values{"summary": cannotJudge, "rulings": list}
}

// improvedPlan repeats the plan, and meets the open issues with odd numbers.
func (p prompt) improvedPlan() scripted.Values {
	list := []map[string]any{}
	for i, issue := range regexp.MustCompile(`(?m)^(\d+)\. (?:critical|major|minor): `).FindAllStringSubmatch(p.task, -1) {
		n, _ := strconv.Atoi(issue[1]) // digits
		list = append(list, map[string]any{"number": n, "reason": "I go by its number.", "met": i%2 == 0})
	}
	return scripted.Values{
		"plan": p.topic + "\n\nAs an offline demo model, I cannot write a plan.", "objections": list,
		"changes": []map[string]any{{"what": "One sentence was added.", "why": "It says who wrote this."}},
	}
}
