package review

import (
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The phases.
const (
	phaseFind   = "find"
	phaseAttack = "attack"
	phaseRule   = "rule"
)

// examined is the findings of a review after the check of their quotes.
type examined struct {
	list    []claimed
	dropped Dropped
	// expected are the texts of replies that are not known yet: nobody has replied, or a turn is only supposed. Budgets reserve enough
	// for prompts with these texts.
	expected map[string]string // by reviewer
}

// claimed is a finding whose quote was found.
type claimed struct {
	Claim

	number int
	author string
}

// examine returns the findings of all reviewers, with those whose quotes were not found left out. They are numbered from 1 in the order
// of the reviewers. Those of a reviewer who dropped out later stay.
func examine(r *protocol.Record) (found examined) {
	found.expected = map[string]string{}
	if r.Ending.Outcome == "" { // afterwards, nobody finds anything
		for _, name := range r.ParticipantNames() {
			found.expected[name] = ""
		}
	}
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Phase != phaseFind || t.Kind != transcript.Speech {
			continue
		}
		if t.Data == nil {
			found.expected[t.Actor] = t.Text
			continue
		}
		delete(found.expected, t.Actor)
		found.add(t)
	}
	return found
}

// add adds the findings of a turn.
func (found *examined) add(t *transcript.Turn) {
	claims, err := transcript.Decode[Claims](*t)
	if err != nil {
		return // written by another version: there is nothing to discuss
	}
	for _, c := range claims.Findings {
		verdict := c.check(t.Citations)
		if !found.dropped.count(verdict) {
			found.list = append(found.list, claimed{c, len(found.list) + 1, t.Actor})
		}
	}
}

// check returns the verdict on the quote of a finding, and corrects its place if the check has found it elsewhere. A text can cite more
// than its findings quote, so the words tell which citation belongs to a finding.
func (x *Claim) check(cited []transcript.Citation) transcript.Verdict {
	words := strings.TrimSpace(indent(x.Quote))
	at := slices.IndexFunc(cited, func(c transcript.Citation) bool { return c.Source == x.Source && c.Quote == words })
	if at < 0 {
		return transcript.NotFound
	}
	c := &cited[at]
	if c.Line > 0 {
		x.File = c.File
		x.Line = c.Line
		x.EndLine = c.EndLine
	}
	return c.Verdict
}

// without returns the findings of all others than a reviewer.
func (found examined) without(reviewer string) (others examined) {
	for _, x := range found.list {
		if x.author != reviewer {
			others.list = append(others.list, x)
		}
	}
	others.expected = map[string]string{}
	for name, text := range found.expected {
		if name != reviewer {
			others.expected[name] = text
		}
	}
	return others
}

// isEmpty reports whether there are no findings, and none are expected.
func (found *examined) isEmpty() bool { return len(found.list) == 0 && len(found.expected) == 0 }

// numbers returns the numbers of the findings.
func (found *examined) numbers() []int {
	numbers := make([]int, len(found.list))
	for i := range found.list {
		numbers[i] = found.list[i].number
	}
	return numbers
}

// vars returns the parameters of a prompt that shows the findings, without the names of their authors.
func (found *examined) vars() map[string]string {
	var list []string
	for i := range found.list {
		x := &found.list[i]
		list = append(list, x.text(strconv.Itoa(x.number)))
	}
	for _, text := range found.expected {
		list = append(list, text)
	}
	slices.Sort(list[len(found.list):])
	return map[string]string{"findings": strings.Join(list, "\n\n"), "numbers": enumerate(found.numbers())}
}
