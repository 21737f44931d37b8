package readmodel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/markup"
)

// Colors is the number of colors that speakers have.
const Colors = 8

// A Speaker is somebody who speaks in a debate.
type Speaker struct {
	Name     string
	Initials string // differ from those of the other speakers
	About    string // side and role, or position, or office
	Place    string // "left", "right" or "wide": those of one side have one place, and all but participants are wide
	Color    int    // from 0 to Colors-1; -1 for all but participants
}

// CastOf returns the participants, the judges, and all others who have turns. Without a configuration, the participants are those of
// the result.
func CastOf(r *debate.Result, participants, judges []debate.Participant) []Speaker {
	c := casting{taken: map[string]bool{}}
	if len(participants) == 0 {
		for _, p := range r.Participants {
			participants = append(participants, debate.Participant{Name: p.Name})
		}
	}
	var sides []string
	for i, p := range participants {
		side := cmp.Or(p.Side, p.Name)
		if !slices.Contains(sides, side) {
			sides = append(sides, side)
		}
		about := cmp.Or(JoinWords(p.Side, p.Role), Shorten(p.Position, 40))
		place := []string{"left", "right"}[slices.Index(sides, side)%2]
		c.add(Speaker{Name: p.Name, About: about, Place: place, Color: i % Colors})
	}
	for _, p := range judges {
		c.add(Speaker{Name: p.Name, About: cmp.Or(r.Outcome.Office, "judge"), Place: "wide", Color: -1})
	}
	for i := range r.Turns {
		c.add(Speaker{Name: r.Turns[i].Actor, Place: "wide", Color: -1})
	}
	return c.list
}

// casting collects the speakers and their initials.
type casting struct {
	list  []Speaker
	taken map[string]bool // initials
}

// add adds a speaker, unless there is one of that name.
func (c *casting) add(s Speaker) {
	if slices.ContainsFunc(c.list, func(other Speaker) bool { return other.Name == s.Name }) {
		return
	}
	s.Initials = Initials(s.Name, c.taken)
	c.list = append(c.list, s)
}

// JoinWords joins words that are not empty with a middle dot.
func JoinWords(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " · ")
}

// Initials returns at most three characters that stand for a name, and adds them to those that are taken, which may be nil.
func Initials(name string, taken map[string]bool) string {
	var letters []rune // the first of each word
	words := strings.FieldsFunc(markup.Clean(name), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
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
		if taken != nil && !taken[s] {
			taken[s] = true
			return s
		}
	}
	return tries[0]
}
