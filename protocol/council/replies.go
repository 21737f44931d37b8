package council

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/judge/reply"
)

// The contracts of the members' rankings and the chair's answer.
var (
	RankingContract = reply.New[Ranking]("ranking/1")
	AnswerContract  = reply.New[ChairAnswer]("council-answer/1")
)

// Ranking is a member's ranking of the others' answers.
type Ranking struct {
	Comparison string   `json:"comparison" jsonschema:"maxLength=1900" jsonschema_description:"what each answer gets right and wrong, before you rank them"`
	Ranking    []Ranked `json:"ranking" each:"active" jsonschema:"maxItems=16" jsonschema_description:"all answers with their places, the best first"`
}

// Ranked is one answer of a ranking.
type Ranked struct {
	Name   string `json:"name" names:"participants" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"who gave the answer, exactly as given"`
	Reason string `json:"reason" jsonschema:"maxLength=400" jsonschema_description:"why the answer has this place, in one sentence"`
	// Place is the place of the answer, from 1. Answers that a member does not tell apart share a place, and the next ones
	// are left out: 1, 1, 3.
	Place int `json:"place" names:"active" jsonschema:"minimum=1,maximum=16" jsonschema_description:"the place of the answer: 1 for the best, and each place once"`
}

// noRanking replaces a ranking that is not valid.
var noRanking = Ranking{Comparison: "The member gave no valid ranking.", Ranking: []Ranked{}}

// Default sets a ranking that ranks nothing.
func (k *Ranking) Default([]string) { *k = noRanking }

// Check corrects the spelling of names and sorts the answers by place. It returns a violation for each unknown or repeated
// name, and for each of names that is not ranked. These are the members whose answers are to be ranked.
func (k *Ranking) Check(names []string) []string {
	if len(k.Ranking) == 0 && k.Comparison == noRanking.Comparison {
		return nil
	}
	var spoken []*string
	for i := range k.Ranking {
		spoken = append(spoken, &k.Ranking[i].Name)
	}
	violations := naming.Participant.CheckAll(spoken, names, "/ranking", "name", "is not ranked")
	if len(violations) == 0 {
		k.sort()
	}
	return violations
}

// sort sorts the answers by place, and counts the places from 1.
func (k *Ranking) sort() {
	slices.SortStableFunc(k.Ranking, func(a, b Ranked) int { return a.Place - b.Place })
	said := 0
	for i := range k.Ranking {
		x := &k.Ranking[i]
		if i > 0 && x.Place == said {
			x.Place = k.Ranking[i-1].Place
			continue
		}
		said, x.Place = x.Place, i+1
	}
}

// Text returns the ranking for readers and for the chair.
func (k *Ranking) Text() string {
	var lines []string
	for _, x := range k.Ranking {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%d. %s: %s", x.Place, x.Name, x.Reason), ": "))
	}
	if k.Comparison != "" {
		lines = append(lines, k.Comparison)
	}
	return strings.Join(lines, "\n")
}

// ChairAnswer is the chair's reply.
type ChairAnswer struct {
	Answer        string   `json:"answer" jsonschema:"minLength=1,maxLength=16000" jsonschema_description:"the final answer, complete and in your own words, for readers who know only the question"`
	Disagreements []string `json:"disagreements" jsonschema:"maxItems=8,maxLength=600" jsonschema_description:"the points on which the answers differ and how you decided them; an empty list if there are none"`
}

// Default sets an answer that says that there is none. The answer of the debate is then the best-ranked one.
func (a *ChairAnswer) Default([]string) {
	*a = ChairAnswer{Answer: "The chair gave no valid answer.", Disagreements: []string{}}
}

// Text returns the answer for readers.
func (a *ChairAnswer) Text() string {
	if len(a.Disagreements) == 0 {
		return a.Answer
	}
	return a.Answer + "\n\nWhere the answers differ:\n- " + strings.Join(a.Disagreements, "\n- ")
}
