package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/measured"
)

// decisions are those of a judge about a pair, with A shown first and then with B shown first. Both are about the pair's own
// answers.
type decisions [2]agreement.Decision

// firstShown holds the answer that was shown first, in each order.
var firstShown = decisions{agreement.A, agreement.B}

// mean returns the mean of a value of the decisions, each with the answer that was shown first.
func (d decisions) mean(of func(d, first agreement.Decision) float64) float64 {
	return (of(d[0], firstShown[0]) + of(d[1], firstShown[1])) / 2
}

// credit returns the mean credit of the decisions if an answer is right.
func (d decisions) credit(gold agreement.Decision) float64 {
	return d.mean(func(d, _ agreement.Decision) float64 { return d.Credit(gold) })
}

// observed is what a judge has decided about a pair.
type observed struct {
	pair       Pair
	decisions  decisions
	judged     bool                // there are decisions
	repeats    []decisions         // each time that it was asked again
	planted    map[Plant]decisions // about the pair with a plant
	challenged decisions           // after the challenge; None if there was none
}

// figures are what was measured about a judge.
type figures struct {
	accuracy, agreement, first       statistics.Interval
	consistency                      statistics.Interval
	turned, turnedWrong, turnedRight statistics.Interval
	biases                           []measured.Bias
}

// values returns an observation for each pair for which of has a value.
func values(list []observed, of func(observed) (float64, bool)) (all []statistics.Observation) {
	for _, x := range list {
		if v, ok := of(x); ok {
			all = append(all, statistics.Observation{Value: v, Group: x.pair.Group})
		}
	}
	return all
}

// measure returns the figures of a judge of a family, which may be empty.
func measure(list []observed, family string) (f figures) {
	share := func(of func(observed) (float64, bool)) statistics.Interval { return statistics.Share(values(list, of)) }
	f.accuracy = share(func(x observed) (float64, bool) { return x.decisions.credit(x.pair.Gold), true })
	f.agreement = share(func(x observed) (float64, bool) {
		return indicator(x.decisions[0] == x.decisions[1] && decided(x.decisions[0])), true
	})
	f.first = share(func(x observed) (float64, bool) {
		return x.decisions.mean(func(d, first agreement.Decision) float64 { return indicator(d == first) }), true
	})
	f.consistency = share(func(x observed) (float64, bool) {
		equal := 0.0
		for _, again := range x.repeats {
			equal += (indicator(again[0] == x.decisions[0]) + indicator(again[1] == x.decisions[1])) / 2
		}
		return equal / float64(len(x.repeats)), len(x.repeats) > 0
	})
	f.turned = share(turned(func(Pair, agreement.Decision) bool { return true }))
	f.turnedWrong = share(turned(func(p Pair, d agreement.Decision) bool { return d == p.Gold }))
	f.turnedRight = share(turned(func(p Pair, d agreement.Decision) bool { return d != p.Gold }))
	f.biases = biases(list, family)
	return f
}

// turned returns the share of a pair's challenged decisions that changed, of those that count.
func turned(counts func(Pair, agreement.Decision) bool) func(observed) (float64, bool) {
	return func(x observed) (float64, bool) {
		n, changed := 0, 0.0
		for i, after := range x.challenged {
			if before := x.decisions[i]; after != agreement.None && decided(before) && counts(x.pair, before) {
				n++
				changed += indicator(after != before)
			}
		}
		return changed / float64(n), n > 0
	}
}

// biases returns the biases that can be measured on the pairs, with corrected p-values.
func biases(list []observed, family string) (found []measured.Bias) {
	add := func(name string, i statistics.Interval) {
		if i.N > 0 {
			found = append(found, measured.Bias{Name: name, Interval: i})
		}
	}
	add("position", statistics.Difference(values(list, func(x observed) (float64, bool) {
		return x.decisions.mean(func(d, first agreement.Decision) float64 {
			return indicator(d == first) - indicator(decided(d) && d != first)
		}), true
	})))
	add("length", lengthBias(list))
	add("family", familyBias(list, family))
	for _, p := range Plants {
		add(string(p), statistics.Difference(values(list, func(x observed) (float64, bool) {
			with, asked := x.planted[p]
			in := p.plantedIn(x.pair)
			return with.credit(in) - x.decisions.credit(in), asked
		})))
	}
	p := make([]float64, len(found))
	for i, b := range found {
		p[i] = b.Interval.P()
	}
	for i, corrected := range statistics.Holm(p) {
		found[i].P = corrected
	}
	return found
}

// caliper is the greatest difference between the logarithms of the ratios of lengths of matched pairs.
const caliper = .25

// lengthBias compares pairs whose better answer is the longer one with pairs whose better answer is the shorter one, matched by
// the ratio of lengths.
func lengthBias(list []observed) statistics.Interval {
	var longer, shorter []observed
	for _, x := range list {
		switch x.pair.longer() {
		case agreement.None:
		case x.pair.Gold:
			longer = append(longer, x)
		default:
			shorter = append(shorter, x)
		}
	}
	byRatio := func(a, b observed) int { return cmp.Compare(a.ratio(), b.ratio()) }
	slices.SortStableFunc(longer, byRatio)
	slices.SortStableFunc(shorter, byRatio)
	var matched [][2]observed
	for i, j := 0, 0; i < len(longer) && j < len(shorter); {
		switch d := longer[i].ratio() - shorter[j].ratio(); {
		case d > caliper:
			j++
		case d < -caliper:
			i++
		default:
			matched = append(matched, [2]observed{longer[i], shorter[j]})
			i, j = i+1, j+1
		}
	}
	groups := joined(matched)
	differences := make([]statistics.Observation, len(matched))
	for i, m := range matched {
		differences[i] = statistics.Observation{Value: m[0].decisions.credit(m[0].pair.Gold) - m[1].decisions.credit(m[1].pair.Gold), Group: groups(m[0].pair)}
	}
	return statistics.Difference(differences)
}

// ratio returns how much longer the longer answer is, as the logarithm of the ratio.
func (x observed) ratio() float64 {
	a, b := x.pair.lengths()
	return math.Abs(math.Log(float64(a) / float64(b)))
}

// joined returns the group of a pair after the groups of matched pairs were joined: matches with a common group depend on one
// another.
func joined(matched [][2]observed) func(Pair) string {
	parent := map[string]string{}
	var find func(string) string
	find = func(g string) string {
		if up, ok := parent[g]; ok && up != g {
			parent[g] = find(up)
			return parent[g]
		}
		return g
	}
	of := func(p Pair) string {
		if p.Group == "" {
			return find("pair " + p.ID)
		}
		return find("group " + p.Group)
	}
	for _, m := range matched {
		parent[of(m[0].pair)] = of(m[1].pair)
	}
	return of
}

// familyBias compares pairs whose better answer is by the family with pairs whose worse answer is.
func familyBias(list []observed, family string) statistics.Interval {
	type entry struct {
		credit float64
		own    bool // the better answer is the family's own
	}
	var kept []observed
	var entries []entry
	for _, x := range list {
		a, b := Family(x.pair.AuthorA) == family, Family(x.pair.AuthorB) == family
		if family == "" || x.pair.AuthorA == "" || x.pair.AuthorB == "" || a == b {
			continue
		}
		kept = append(kept, x)
		entries = append(entries, entry{x.decisions.credit(x.pair.Gold), a == (x.pair.Gold == agreement.A)})
	}
	groups := statistics.Groups(len(kept), func(i int) string { return kept[i].pair.Group })
	difference := func(draw []int) float64 {
		var sum, n [2]float64
		for _, g := range draw {
			for _, i := range groups[g] {
				at := int(indicator(entries[i].own))
				sum[at], n[at] = sum[at]+entries[i].credit, n[at]+1
			}
		}
		return sum[1]/n[1] - sum[0]/n[0] // not a number if there are none of one kind
	}
	all := make([]int, len(groups))
	for g := range all {
		all[g] = g
	}
	value := difference(all)
	if math.IsNaN(value) {
		return statistics.Interval{Method: statistics.Undefined}
	}
	return statistics.Percentile(value, len(kept), len(groups), difference)
}

func decided(d agreement.Decision) bool { return d == agreement.A || d == agreement.B }

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
