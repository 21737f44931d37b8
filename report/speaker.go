package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate"
)

// speaker is how a page shows who speaks.
type speaker struct {
	Name     string
	Initials string // differ from those of other speakers
	Class    string // color and place, as CSS classes
	About    string // side, role, position or office
}

// cast holds the speakers of a report by name.
type cast map[string]*speaker

// otherClass holds the class of judges and of all others who are not participants.
const otherClass = "other"

// cast returns the participants, judges and all others who have turns.
func (r *Report) cast() cast {
	c, taken := cast{}, map[string]bool{}
	add := func(name, class, about string) {
		if c[name] == nil {
			c[name] = &speaker{Name: name, Initials: initials(name, taken), Class: class, About: about}
		}
	}
	s := r.shownConfig()
	seats := s.Participants
	if len(seats) == 0 {
		for _, p := range r.Result.Participants {
			seats = append(seats, debate.Participant{Name: p.Name})
		}
	}
	var sides []string
	for i, p := range seats {
		place := i
		if p.Side != "" {
			if place = slices.Index(sides, p.Side); place < 0 {
				place, sides = len(sides), append(sides, p.Side)
			}
		}
		about := joinWords(p.Side, p.Role)
		if about == "" {
			about = truncateText(p.Position, 40)
		}
		add(p.Name, colorClass(i)+" "+[]string{"left", "right"}[place%2], about)
	}
	office := cmp.Or(r.Result.Outcome.Office, "judge")
	for _, p := range s.Judges {
		add(p.Name, otherClass, office)
	}
	for i := range r.Result.Turns {
		add(r.Result.Turns[i].Actor, otherClass, "")
	}
	return c
}

// of returns the speaker of that name, or one without a color if there is none.
func (c cast) of(name string) *speaker {
	if s := c[name]; s != nil {
		return s
	}
	return &speaker{Name: name, Initials: initials(name, map[string]bool{}), Class: otherClass}
}

// joinWords joins words that are not empty with a middle dot.
func joinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " · ")
}

// initials returns at most three characters that stand for a name, and adds them to those that are taken.
func initials(name string, taken map[string]bool) string {
	var letters []rune // the first of each word
	words := strings.FieldsFunc(singleLine(name), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	for _, w := range words {
		letters = append(letters, unicode.ToUpper([]rune(w)[0]))
	}
	var tries []string
	switch n := len(letters); n {
	case 0:
		tries = []string{"?"}
	case 1:
		tries = []string{string(letters)}
		if w := []rune(words[0]); len(w) > 1 {
			tries = append(tries, string([]rune{letters[0], w[1]}), string([]rune{letters[0], w[len(w)-1]}))
		}
	default:
		tries = []string{string([]rune{letters[0], letters[n-1]}), string(letters[:min(n, 3)])}
	}
	for i := 2; i < 100; i++ {
		tries = append(tries, fmt.Sprint(string([]rune(tries[0])[:1]), i))
	}
	for _, s := range tries {
		if !taken[s] {
			taken[s] = true
			return s
		}
	}
	return tries[0]
}
