package vote

import "slices"

// sees reports whether an agent sees another agent in a round. first lists the speakers of round 1, and last those of the
// previous round, both in order.
func (p Protocol) sees(name, other string, round int, first, last []string) bool {
	switch p.Topology {
	case Ring:
		n := len(last)
		me := slices.Index(last, name)
		it := slices.Index(last, other)
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
