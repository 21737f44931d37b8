package offline

import (
	"math"
	"regexp"
	"strings"
)

// lastSentence returns the last sentence of a statement, cut off after 150 characters.
func (s statement) lastSentence() string {
	text := strings.TrimSpace(s.text)
	text = text[strings.LastIndex(text, "\n")+1:]
	if i := strings.LastIndex(strings.TrimRight(text, ".?! "), ". "); i >= 0 {
		text = text[i+2:]
	}
	if r := []rune(text); len(r) > 150 {
		text = string(r[:150]) + "..."
	}
	return text
}

// speaker holds figures about the statements of one actor. A word is new if nobody has used it before.
type speaker struct {
	name         string
	points       []string // the last sentence of each statement
	newWordShare float64  // share of new words in the last statement
	newWords     int      // number of new words in all statements
	scores       float64  // sum of the scores of the statements; see score
}

// speakers returns the actors that have spoken, in the order of their first statements.
func (p prompt) speakers() (list []*speaker) {
	known, by := map[string]bool{}, map[string]*speaker{}
	for _, s := range p.others {
		who := by[s.name]
		if who == nil {
			who = &speaker{name: s.name}
			by[s.name], list = who, append(list, who)
		}
		who.add(s, known)
	}
	return list
}

// pseudonym matches the pseudonyms of participants in a judge's prompt. They differ from debate to debate, so they must
// not change the counts.
var pseudonym = regexp.MustCompile(`Debater [A-Z]+`)

func (w *speaker) add(s statement, known map[string]bool) {
	said, before := splitWords(strings.ToLower(pseudonym.ReplaceAllString(s.text, ""))), len(known)
	for _, word := range said {
		known[word] = true
	}
	fresh := len(known) - before
	w.points = append(w.points, s.lastSentence())
	w.newWords += fresh
	w.newWordShare = float64(fresh) / float64(max(len(said), 1))
	w.scores += w.score()
}

// score returns the score of the last statement, from 4 to 9.
func (w *speaker) score() float64 { return tenths(4 + 5*w.newWordShare) }

// nothingNew holds the share of new words below which a round counts as one that says nothing new.
const nothingNew = 0.12

// newWords returns the mean share of new words in the last statements, and whether that is nothing.
func newWords(all []*speaker) (share float64, none bool) {
	for _, w := range all {
		share += w.newWordShare / float64(len(all))
	}
	return share, len(all) > 0 && share < nothingNew
}

// best returns the name of the speaker with the highest mean score of a statement, or an empty name for a tie.
func best(all []*speaker) (name string) {
	most := 0.0
	for _, w := range all {
		switch mean := tenths(w.scores / float64(len(w.points))); {
		case mean > most:
			most, name = mean, w.name
		case mean == most:
			name = ""
		}
	}
	return name
}

// leader returns the name of the speaker with the most new words, or an empty name for a tie.
func leader(all []*speaker) (name string) {
	most := 0
	for _, w := range all {
		switch {
		case w.newWords > most:
			most, name = w.newWords, w.name
		case w.newWords == most:
			name = ""
		}
	}
	return name
}

func tenths(f float64) float64 { return math.Round(10*f) / 10 }
