package offline

import (
	"regexp"
	"strings"
)

// lastSentence is a statement's last sentence, cut where it is long.
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

// speaker is what the script can tell of somebody.
type speaker struct {
	name         string
	points       []string
	newWordShare float64 // of new words in the last statement
	newWords     int     // new words in all statements
}

// speakers are those who spoke, in order.
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

// pseudonym is how judges know participants. Who gets which differs from debate to debate, and is to change no count.
var pseudonym = regexp.MustCompile(`Debater [A-Z]+`)

func (w *speaker) add(s statement, known map[string]bool) {
	said, before := splitWords(strings.ToLower(pseudonym.ReplaceAllString(s.text, ""))), len(known)
	for _, word := range said {
		known[word] = true
	}
	fresh := len(known) - before
	w.points, w.newWords, w.newWordShare = append(w.points, s.lastSentence()), w.newWords+fresh, float64(fresh)/float64(max(len(said), 1))
}

// leader is who brought the most new words; empty where two did.
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
