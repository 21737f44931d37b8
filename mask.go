package debate

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// mask is how one judge sees the participants: under labels, and what they say between marks. Nil hides nothing.
type mask struct {
	labels *judge.Labels
	rank   map[string]int // of a participant's label
	said   []string       // by seq: a turn as the judge reads it, once it has
}

func (m *mask) text(s string) string {
	if m == nil {
		return s
	}
	return m.labels.Hide(s)
}

func (m *mask) list(texts []string) []string {
	for i := range texts {
		texts[i] = m.text(texts[i])
	}
	return texts
}

func (m *mask) vars(vars map[string]string) map[string]string {
	if m == nil || len(vars) == 0 {
		return vars
	}
	hidden := map[string]string{}
	for k, v := range vars {
		hidden[k] = m.labels.Hide(v)
	}
	return hidden
}

// name is a participant's label; any other name stays.
func (m *mask) name(s string) string {
	if m == nil {
		return s
	}
	return m.labels.Of(s)
}

// names are those by which the reader knows participants, in the order in which it sees them.
func (m *mask) names(list []string) []string {
	if m == nil {
		return list
	}
	labels := make([]string, len(list))
	for i, name := range list {
		labels[i] = m.labels.Of(name)
	}
	slices.SortFunc(labels, func(a, b string) int { return m.rank[a] - m.rank[b] })
	return labels
}

func (m *mask) seats(list []transcript.Seat) []transcript.Seat {
	if m == nil {
		return list
	}
	return m.labels.Seats(list)
}

// self is the reader's own seat, in which others may be named.
func (m *mask) self(s transcript.Seat) transcript.Seat {
	s.Role, s.Persona, s.Instructions = m.text(s.Role), m.text(s.Persona), m.text(s.Instructions)
	return s
}

func (m *mask) fence() string {
	if m == nil {
		return ""
	}
	return m.labels.Fence()
}

// marks are about the tokens that a statement's marks take.
const marks = 40

func (m *mask) cost() int {
	if m == nil {
		return 0
	}
	return marks
}

// order puts the turns of a parallel phase, none of which has seen another, in the order of the labels.
func (m *mask) order(turns []transcript.Turn, shown []int) {
	if m == nil {
		return
	}
	together := func(i, j int) bool {
		a, b := &turns[shown[i]], &turns[shown[j]]
		return a.Kind == transcript.Speech && a.Kind == b.Kind && a.Round == b.Round && a.Phase == b.Phase && a.Horizon == b.Horizon
	}
	for from := 0; from < len(shown); {
		to := from + 1
		for to < len(shown) && together(from, to) {
			to++
		}
		slices.SortStableFunc(shown[from:to], func(i, j int) int {
			return m.rank[m.labels.Of(turns[i].Actor)] - m.rank[m.labels.Of(turns[j].Actor)]
		})
		from = to
	}
}

// enclose is a text that was made of what the reader sees, as the reader sees it.
func (m *mask) enclose(what, text string) string {
	if m == nil {
		return what + ":\n\n" + text
	}
	return m.labels.Enclose(what, text)
}

// worn says whether a reply speaks of anybody by a label.
func (m *mask) worn(text string) bool {
	return m != nil && strings.Contains(strings.ToLower(text), "debater") && m.labels.Reveal(text) != text
}

// reveal puts the names back into what a judge wrote.
func (m *mask) reveal(text string) string {
	if m == nil {
		return text
	}
	return m.labels.Reveal(text)
}
