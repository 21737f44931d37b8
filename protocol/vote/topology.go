package vote

import (
	"slices"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// visibleTurns returns, for each agent, the filter of turns that the agent sees in the current round. It depends on who
// spoke in earlier rounds and not on who is active, so that a participant who drops out during a round does not change
// what others see in it.
func (p Protocol) visibleTurns(r *protocol.Record) func(name string) func(*transcript.Turn) bool {
	before := r.Cursor.Round - 1
	first, last := speakers(r, 1), speakers(r, before)
	return func(name string) func(*transcript.Turn) bool {
		seen := map[string]bool{}
		for _, other := range last {
			seen[other] = other == name || p.sees(name, other, r.Cursor.Round, first, last)
		}
		return func(t *transcript.Turn) bool {
			return t.Kind == transcript.Remark || t.Kind == transcript.Speech && t.Round == before && seen[t.Actor]
		}
	}
}

// sees reports whether an agent sees another agent in a round. first lists the speakers of round 1, and last those of the
// previous round, both in order.
func (p Protocol) sees(name, other string, round int, first, last []string) bool {
	switch p.Topology {
	case Ring:
		n, me, it := len(last), slices.Index(last, name), slices.Index(last, other)
		return it == (me+1)%n || me == (it+1)%n
	case Star:
		return name == last[0] || other == last[0]
	case Groups:
		return round%2 == 1 || p.groupOf(name, first) == p.groupOf(other, first)
	case Graph:
		return slices.Contains(p.Graph[name], other)
	default:
		return true
	}
}

// groupOf returns the group of an agent, from 0. The agents are divided in order into groups of nearly equal size.
func (p Protocol) groupOf(name string, all []string) int {
	return slices.Index(all, name) * p.groupCount() / max(len(all), 1)
}

// groupCount returns the number of groups.
func (p Protocol) groupCount() int {
	if p.Groups == 0 {
		return 2
	}
	return p.Groups
}

// speakers returns the agents who spoke in a round, in order.
func speakers(r *protocol.Record, round int) (names []string) {
	for _, t := range r.TurnsFrom(round) {
		if t.Round == round && t.Kind == transcript.Speech {
			names = append(names, t.Actor)
		}
	}
	return names
}
