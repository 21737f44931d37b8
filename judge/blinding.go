package judge

import (
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// HideAll hides the names in each of texts, in place, and returns texts.
func (l *Pseudonyms) HideAll(texts []string) []string {
	for i := range texts {
		texts[i] = l.Hide(texts[i])
	}
	return texts
}

// HideValues returns a copy of a map with the names in its values hidden.
func (l *Pseudonyms) HideValues(values map[string]string) map[string]string {
	if len(l.names) == 0 || len(values) == 0 {
		return values
	}
	hidden := map[string]string{}
	for k, v := range values {
		hidden[k] = l.Hide(v)
	}
	return hidden
}

// Rubric returns a rubric with the names in all texts hidden.
func (l *Pseudonyms) Rubric(r Rubric) Rubric {
	r = slices.Clone(r)
	for i := range r {
		c := &r[i]
		for _, text := range []*string{&c.Name, &c.Description, &c.Zero, &c.Ten} {
			*text = l.Hide(*text)
		}
		c.Bands = l.HideAll(slices.Clone(c.Bands))
	}
	return r
}

// OwnProfile returns the profile of the reader itself, with the names in its texts hidden.
func (l *Pseudonyms) OwnProfile(s transcript.Profile) transcript.Profile {
	if len(l.names) > 0 {
		l.hideTexts(&s)
	}
	return s
}

// SortedPseudonyms returns the pseudonyms of participants in the order of [Pseudonyms.Names]. Names without a pseudonym
// are unchanged and come last.
func (l *Pseudonyms) SortedPseudonyms(names []string) []string {
	if len(l.names) == 0 {
		return names
	}
	list := slices.Clone(names)
	slices.SortStableFunc(list, func(a, b string) int { return l.rank(a) - l.rank(b) })
	for i, name := range list {
		list[i] = l.Of(name)
	}
	return list
}

// rank returns the index of a participant's pseudonym. Names without a pseudonym sort last.
func (l *Pseudonyms) rank(name string) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	return len(l.names)
}

// QuoteTokens returns approximately how many tokens Quote adds to a statement.
func (l *Pseudonyms) QuoteTokens() int { return 30 }

// Sort sorts the speeches of each parallel phase by pseudonym. No speech of such a phase was written with knowledge
// of another, so their order carries no meaning. The elements of shown are indexes into turns.
func (l *Pseudonyms) Sort(turns []transcript.Turn, shown []int) {
	if len(l.names) == 0 {
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

// Mentions reports whether a text contains a pseudonym.
func (l *Pseudonyms) Mentions(text string) bool {
	return l.Reveal(text) != text
}
