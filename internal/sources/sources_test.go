package sources

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// call returns a call that has found texts.
func call(texts ...string) tool.Record {
	c := tool.Record{Name: "search", Done: true}
	for _, text := range texts {
		c.Sources = append(c.Sources, tool.Source{Text: text})
	}
	return c
}

func numbersOf(calls []tool.Record) (list []int) {
	for _, c := range calls {
		for _, s := range c.Sources {
			list = append(list, s.Number)
		}
	}
	return list
}

func key(round int, phase, actor string) transcript.Key {
	return transcript.Key{Run: 1, Round: round, Phase: phase, Actor: actor}
}

// find numbers calls and adds them as the entry seq.
func (l *List) findIn(k transcript.Key, visible, seq int64, calls ...tool.Record) []int {
	l.Number(k, visible, calls)
	l.Add(k, seq, calls)
	return numbersOf(calls)
}

func TestNumbers(t *testing.T) {
	var l List
	l.SetDocuments([]evidence.Document{evidence.Shared("law", "The law."), evidence.Private("contract", "The rent.", "A")}, 1)
	require.Equal(t, 1, l.NumberOf("law"))
	require.Equal(t, 2, l.NumberOf("contract"))

	a, b := key(1, "speak", "A"), key(1, "speak", "B")
	require.Equal(t, []int{3, 4, 3}, l.findIn(a, 4, 5, call("x", "y"), call("x")), "a text has one number")
	require.Equal(t, []int{4, 5, 1}, l.findIn(b, 6, 7, call("y", "z", "The law.")), "also in later steps, and if it is a document")
	require.Equal(t, []int{6}, l.findIn(b, 6, 8, call("The rent.")), "but not if the document is private")

	// In a parallel phase, the steps take turns.
	p := key(2, "all", "A")
	q := key(2, "all", "B")
	r := key(2, "all", "C")
	l.Begin(p, []string{Lane(p), Lane(q), Lane(r)})
	require.Equal(t, []int{9}, l.findIn(r, 9, 10, call("new")))
	require.Equal(t, []int{7, 10}, l.findIn(p, 9, 11, call("new", "more")), "a step does not know what another one has just found")
	require.Equal(t, []int{12, 9, 3}, l.findIn(r, 9, 12, call("more", "new", "x")))
	l.Begin(p, []string{Lane(q), Lane(r)})
	require.Equal(t, []int{8}, l.findIn(q, 9, 13, call("new")), "a phase that begins again keeps its numbers")
	require.Equal(t, []int{13}, l.findIn(key(2, "all", "D"), 9, 14, call("d")), "a step that the phase did not have")
	require.Equal(t, []int{15, 18}, l.findIn(r, 9, 15, call("e", "f")))
	require.Equal(t, []int{16}, l.findIn(p, 9, 16, call("13 is taken")))

	next := key(3, "speak", "A")
	require.Equal(t, []int{7, 10, 19}, l.findIn(next, 20, 21, call("new", "more", "g")), "later, the lowest number stands for the text")

	// A document that is added gets a new number, and one that returns has its old one.
	l.SetDocuments([]evidence.Document{evidence.Shared("more", "More.")}, 22)
	require.Equal(t, []int{20, 0}, []int{l.NumberOf("more"), l.NumberOf("law")})
	l.SetDocuments([]evidence.Document{evidence.Shared("law", "The law.")}, 23)
	require.Equal(t, 1, l.NumberOf("law"))
	l.Reset()
	require.Equal(t, []int{21}, l.findIn(transcript.Key{Run: 2, Round: 1, Phase: "speak", Actor: "A"}, 25, 26, call("x")), "no number is used again")
}

// The result of a call is a source, and its text that of its only source.
func TestSourcesWithoutTexts(t *testing.T) {
	var l List
	k := key(1, "speak", "A")
	require.Equal(t, []int{1}, l.findIn(k, 1, 2, tool.Record{Text: "So it is.", Sources: []tool.Source{{Title: "search"}}}))
	require.Equal(t, []int{1}, l.findIn(k, 1, 3, call("So it is.")), "the same text")
	require.Equal(t, []int{2, 3, 2}, l.findIn(k, 1, 4, tool.Record{Text: "Both.", Sources: []tool.Source{{URI: "a"}, {URI: "b"}, {URI: "a"}}}), "several have none: their addresses tell")
	require.Equal(t, []int{1}, l.findIn(k, 1, 5, tool.Record{Text: "So it", Size: 9, SHA256: evidence.Hash("So it is."), Sources: []tool.Source{{}}}), "the text was cut")
	require.Equal(t, []int{1}, l.findIn(k, 1, 6, tool.Record{Text: "See.", Sources: []tool.Source{{Size: 9, SHA256: evidence.Hash("So it is.")}}}), "the journal had no room for the text")
}

func TestCheckNumbers(t *testing.T) {
	var l List
	k := key(1, "speak", "A")
	calls := []tool.Record{call("x"), call("y", "z")}
	l.Number(k, 1, calls)
	require.NoError(t, l.CheckNumbers(k, 1, calls))
	calls[1].Sources[1].Number = 7
	require.EqualError(t, l.CheckNumbers(k, 1, calls), "source 2 of call 2 has the number 7, want 3")
	require.NoError(t, Check(calls))
	calls[1].Sources[0].Number = -1
	require.EqualError(t, Check(calls), "a source of call 2 has the number -1, want 1 to 1000000000")
	calls[1].Sources[0].Number = maxNumber + 1
	require.Error(t, Check(calls))
}

// stepPlan is what a step of a simulated debate finds, round by round.
type stepPlan struct {
	key    transcript.Key
	rounds [][]tool.Record
	drops  bool // the step never ends
}

// drawDebate draws phases of steps, some of them parallel.
func drawDebate(t *rapid.T) (phases [][]stepPlan) {
	for round := range rapid.IntRange(1, 4).Draw(t, "phases") {
		var phase []stepPlan
		for actor := range rapid.IntRange(1, 4).Draw(t, "steps") {
			s := stepPlan{key: key(round, "p", fmt.Sprint(actor)), drops: rapid.IntRange(0, 4).Draw(t, "drops") == 0}
			for range rapid.IntRange(0, 3).Draw(t, "rounds") {
				var calls []tool.Record
				for range rapid.IntRange(1, 2).Draw(t, "calls") {
					calls = append(calls, call(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "law"}), 0, 4).Draw(t, "found")...))
				}
				s.rounds = append(s.rounds, calls)
			}
			phase = append(phase, s)
		}
		phases = append(phases, phase)
	}
	return phases
}

// entry is what a journal has of a simulated debate: the beginning of a phase, or a round.
type entry struct {
	begins  []string
	key     transcript.Key
	visible int64
	calls   []tool.Record
}

// rebuilt returns the list of a journal, as another process reads it.
func rebuilt(journal []entry) *List {
	l := &List{}
	l.SetDocuments([]evidence.Document{evidence.Shared("law", "law")}, 1)
	for i, e := range journal {
		if e.begins != nil {
			l.Begin(e.key, e.begins)
		} else {
			l.Add(e.key, int64(i)+2, e.calls)
		}
	}
	return l
}

// play holds a debate. chance decides the order of arrival in parallel phases, which steps are dropped before others end,
// and after which entries a process crashes, a person pauses the debate or somebody forks it: the list is read again from
// the journal then, and a phase begins again.
func play(phases [][]stepPlan, chance func(n int) int) (journal []entry, numbers map[string][]int) {
	l, numbers := rebuilt(nil), map[string][]int{}
	add := func(e entry) {
		journal = append(journal, e)
		if l.Add(e.key, int64(len(journal))+1, e.calls); chance(3) == 0 {
			l = rebuilt(journal)
		}
	}
	for i, phase := range phases {
		parallel := i%2 == 0
		begins, began := []string(nil), int64(len(journal))+2
		for _, s := range phase {
			begins = append(begins, Lane(s.key))
		}
		if parallel && len(phase) > 1 {
			journal = append(journal, entry{begins: begins, key: phase[0].key})
			l.Begin(phase[0].key, begins)
		}
		done, open := make([]int, len(phase)), make([]int, len(phase))
		for j := range open {
			open[j] = j
		}
		for len(open) > 0 {
			at := 0
			if parallel {
				at = chance(len(open))
			}
			j := open[at]
			s := &phase[j]
			if done[j] == len(s.rounds) {
				open = slices.Delete(open, at, at+1)
				if s.drops && parallel && len(phase) > 1 && chance(2) == 0 { // the phase begins again without the step
					left := slices.DeleteFunc(slices.Clone(begins), func(x string) bool { return x == Lane(s.key) })
					journal = append(journal, entry{begins: left, key: s.key})
					l.Begin(s.key, left)
				}
				continue
			}
			visible := int64(len(journal)) + 1
			if parallel {
				visible = began
			}
			calls := Clone(s.rounds[done[j]])
			l.Number(s.key, visible, calls)
			if err := l.CheckNumbers(s.key, visible, calls); err != nil {
				panic(err)
			}
			numbers[s.key.String()] = append(numbers[s.key.String()], numbersOf(calls)...)
			done[j]++
			add(entry{key: s.key, visible: visible, calls: calls})
		}
	}
	return journal, numbers
}

// The numbers of sources do not depend on the order of arrival, and stay the same after a crash, a pause, a drop and a fork.
// Different texts never have the same number.
func TestNumbersDependOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := drawDebate(t)
		first, want := play(phases, func(int) int { return 0 })
		seed := rapid.Int64().Draw(t, "order")
		state := uint64(seed)
		second, got := play(phases, func(n int) int {
			state = state*6364136223846793005 + 1442695040888963407
			return int(state>>33) % n
		})
		require.Equal(t, want, got)
		for _, journal := range [][]entry{first, second} {
			texts := map[int]string{1: "law"}
			for _, e := range journal {
				for _, c := range e.calls {
					for _, s := range c.Sources {
						require.Positive(t, s.Number)
						if was, again := texts[s.Number]; again {
							require.Equal(t, was, s.Text, "number %d", s.Number)
						}
						texts[s.Number] = s.Text
					}
				}
			}
		}
	})
}
