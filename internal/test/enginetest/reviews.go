package enginetest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
)

// reviewed is the document that reviews read, and quotes of it.
const (
	reviewedName = "store.go"
	reviewedText = "func (s *Store) Close() error {\n\treturn s.db.Close()\n}\n"
)

// withDocument adds the document that reviews read.
func withDocument(c debate.Config) debate.Config {
	c.Documents = []evidence.Document{evidence.Shared(reviewedName, reviewedText)}
	return c
}

// claims returns a finding with a quote of the document, and some have another one with a quote that it does not have.
func claims(_ providers.Request, _ []string, words string, pick uint64) any {
	list := []review.Claim{{
		Source: 1, File: reviewedName, Quote: "return s.db.Close()", Severity: review.Severity(pickFrom(pick, "note", "warning", "error")),
		Title: "About " + reviewedName, Text: words, Show: "Call it.",
	}}
	if pick%2 == 1 {
		invented := list[0]
		invented.Quote = "return s.db.Shutdown(everything, now)"
		list = append(list, invented)
	}
	return review.Claims{Findings: list}
}

var (
	numberList = regexp.MustCompile(`by its number: ([0-9, ]+)\.`)
	issueList  = regexp.MustCompile(`(?m)^(\d+)\. (?:critical|major|minor): `)
)

// numbersIn returns the numbers of the findings that a request asks about.
func numbersIn(r providers.Request) (list []int) {
	found := numberList.FindStringSubmatch(r.Messages[len(r.Messages)-1].Text)
	for i := len(r.Messages) - 1; found == nil && i > 0; i-- { // a reply is asked for again
		found = numberList.FindStringSubmatch(r.Messages[i].Text)
	}
	if found == nil {
		return nil
	}
	for text := range strings.SplitSeq(found[1], ", ") {
		n, _ := strconv.Atoi(text) // digits
		list = append(list, n)
	}
	return list
}

func findingVotes(r providers.Request, _ []string, words string, pick uint64) any {
	v := review.Votes{Summary: words, Votes: []review.Vote{}}
	for i, n := range numbersIn(r) {
		v.Votes = append(v.Votes, review.Vote{Finding: n, Reason: words, Holds: (uint64(i)+pick)%2 == 0})
	}
	return v
}

func findingRulings(r providers.Request, _ []string, words string, pick uint64) any {
	v := review.Rulings{Summary: words, Rulings: []review.Ruling{}}
	for i, n := range numbersIn(r) {
		v.Rulings = append(v.Rulings, review.Ruling{Finding: n, Reason: words, Stands: (uint64(i)+pick)%2 == 0, Severity: review.Warning})
	}
	return v
}

func improvedPlan(r providers.Request, _ []string, words string, pick uint64) any {
	p := skeptic.ImprovedPlan{Plan: words, Changes: []skeptic.Change{}, Objections: []skeptic.Objection{}}
	for _, m := range r.Messages {
		for _, issue := range issueList.FindAllStringSubmatch(m.Text, -1) {
			n, _ := strconv.Atoi(issue[1]) // digits
			p.Objections = append(p.Objections, skeptic.Objection{Number: n, Reason: words, Met: pick%2 == 0})
		}
	}
	return p
}
