package judge

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// HideAll hides the names in texts, in place, and returns them.
func (l *Pseudonyms) HideAll(texts []string) []string {
	for i := range texts {
		texts[i] = l.Hide(texts[i])
	}
	return texts
}

// HideValues returns a map with the names in its values hidden.
func (l *Pseudonyms) HideValues(values map[string]string) map[string]string {
	if l == nil || len(values) == 0 {
		return values
	}
	hidden := map[string]string{}
	for k, v := range values {
		hidden[k] = l.Hide(v)
	}
	return hidden
}

// OwnProfile returns the reader's own seat, with the names in its texts hidden.
func (l *Pseudonyms) OwnProfile(s transcript.Profile) transcript.Profile {
	s.Role, s.Persona, s.Instructions = l.Hide(s.Role), l.Hide(s.Persona), l.Hide(s.Instructions)
	return s
}

// SortedPseudonyms returns the labels of participants, in the order of the labels.
func (l *Pseudonyms) SortedPseudonyms(names []string) []string {
	if l == nil {
		return names
	}
	list := slices.Clone(names)
	slices.SortStableFunc(list, func(a, b string) int { return l.rank(a) - l.rank(b) })
	for i, name := range list {
		list[i] = l.Of(name)
	}
	return list
}

// rank returns the place of a participant's label. Whoever has none comes last.
func (l *Pseudonyms) rank(name string) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	return len(l.names)
}

// quoteTokens is about how many tokens the delimiters of Quote take.
const quoteTokens = 40

// QuoteTokens returns about how many tokens Quote adds to a statement.
func (l *Pseudonyms) QuoteTokens() int {
	if l == nil {
		return 0
	}
	return quoteTokens
}

// Sort orders the turns of each parallel phase, none of which has seen another, by their labels. Shown are indexes of turns.
func (l *Pseudonyms) Sort(turns []transcript.Turn, shown []int) {
	if l == nil {
		return
	}
	together := func(i, j int) bool {
		a, b := &turns[shown[i]], &turns[shown[j]]
		return a.Kind == transcript.Speech && a.Kind == b.Kind && a.Round == b.Round && a.Phase == b.Phase && a.VisibleSeq == b.VisibleSeq
	}
	for from := 0; from < len(shown); {
		to := from + 1
		for to < len(shown) && together(from, to) {
			to++
		}
		slices.SortStableFunc(shown[from:to], func(i, j int) int { return l.rank(turns[i].Actor) - l.rank(turns[j].Actor) })
		from = to
	}
}

// Mentions reports whether a text speaks of anybody by a label.
func (l *Pseudonyms) Mentions(text string) bool {
	return l != nil && strings.Contains(strings.ToLower(text), "debater") && l.Reveal(text) != text
}
