package influence

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
)

// arm names a kind of samples: with something left out, or of the whole debate.
type arm struct {
	name    string
	number  int64 // other than those of the other arms of the analysis
	omit    debate.Omission
	from    int64 // number of entries with which a debate goes on
	samples []sample
}

// sample holds what the judges say once.
type sample struct {
	order   int // 0 or 1: that in which they saw the participants
	ended   bool
	won     bool // the winner is that of the debate
	score   float64
	scored  bool
	remains bool // prompts hold words of what was left out
}

// comparison holds the samples with and without an item, or without two of them.
type comparison struct {
	items          []int // indexes
	whole, without arm
}

// measurement plans samples and measures them. It reads no store and calls no model.
type measurement struct {
	outcome outcome // of the debate
	of      string  // whose scores count
	items   []Item
	plan    Plan
	seats   bool

	confidence float64 // of each interval, so that all hold together
	enough     int     // the least number of samples that can show a turn of the winner

	done     [][]Effect // of each stage
	seen     map[string]*sample
	missing  int
	waits    string // why a sample waits for a person; empty if none does
	failures []string
}

// newMeasurement returns a measurement of the items. The scores of one participant count, or of one option or answer.
func newMeasurement(o outcome, of string, items []Item, plan Plan, seats bool) *measurement {
	m := &measurement{outcome: o, of: of, items: items, plan: plan, seats: seats, seen: map[string]*sample{}}
	m.confidence = 1 - .05/float64(max(m.intervals(), 1))
	m.enough = statistics.EnoughForShares(m.confidence)
	return m
}

// next returns what the next stage compares.
func (m *measurement) next() (list []comparison) {
	stage := m.plan.Stages[len(m.done)]
	var chosen [][]int
	if len(m.done) == 0 {
		for i := range m.items {
			chosen = append(chosen, []int{i})
		}
	} else {
		order, singles := m.bySize(), stage.Items
		if m.plan.pair {
			singles--
			chosen = append(chosen, order[:2])
		}
		for _, i := range order[:singles] {
			chosen = append(chosen, []int{i})
		}
	}
	for _, which := range chosen {
		c := comparison{items: which, whole: arm{name: "whole debate", number: int64(1000 * len(m.done))}}
		for n, i := range which {
			c.without.omit.Turns = append(c.without.omit.Turns, m.items[i].Keys...)
			if n > 0 {
				c.without.name += " and "
			}
			c.without.name += m.nameOf(i)
			c.without.number = 1000*c.without.number + int64(i) + 1
		}
		if m.seats {
			c.without.omit.Turns = nil
			for _, i := range which {
				c.without.omit.Seats = append(c.without.omit.Seats, m.items[i].Speaker)
			}
		}
		c.without.number += c.whole.number
		if m.plan.Continued {
			m.goOn(&c)
		}
		list = append(list, c)
	}
	return list
}

// goOn makes the arms of a comparison debates that go on from where the first item was said: without the items, and with it.
func (m *measurement) goOn(c *comparison) {
	first := m.items[slices.Min(c.items)] // in the order of the debate
	c.whole.from, c.without.from = first.Seq, first.Seq
	if m.seats { // the seat speaks again, or is silent
		c.whole.from, c.without.from = first.Seq-1, first.Seq-1
	}
	c.whole.name, c.whole.number = "debate with "+c.without.name, 2*c.without.number+1
	c.without.number *= 2
}

// nameOf returns the name of an item.
func (m *measurement) nameOf(i int) string {
	if m.seats {
		return m.items[i].Speaker
	}
	return fmt.Sprintf("turn %d", m.items[i].Seq)
}

// add measures the samples of a stage.
func (m *measurement) add(list []comparison) {
	var effects []Effect
	for _, c := range list {
		effects = append(effects, m.effect(c))
	}
	m.done = append(m.done, effects)
}

// bySize returns the items of the first stage by the size of their changes, the largest first.
func (m *measurement) bySize() []int {
	order := make([]int, len(m.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareSizes(m.done[0][b], m.done[0][a]) })
	return order
}

// share returns the change of the winner's share, with its interval if the samples can show a change.
func (m *measurement) share(c comparison) estimate.Interval {
	won := func(list []sample) (k int) {
		for _, s := range list {
			if s.won {
				k++
			}
		}
		return k
	}
	n := len(c.without.samples)
	n0 := len(c.whole.samples)
	k := won(c.without.samples)
	k0 := won(c.whole.samples)
	if shows := !m.plan.first || len(m.done) > 0; shows && min(n, n0) >= m.enough {
		return statistics.ShareChange(k, n, k0, n0, m.confidence)
	}
	i := estimate.Interval{N: n + n0, Groups: n + n0, Method: statistics.TooFew}
	if n > 0 && n0 > 0 {
		i.Value = float64(k)/float64(n) - float64(k0)/float64(n0)
	}
	return i
}

// score returns the change of the scores.
func (m *measurement) score(c comparison) estimate.Interval {
	by := func(list []sample) statistics.Sample {
		orders := make(statistics.Sample, m.plan.orders())
		for _, s := range list {
			if s.scored {
				orders[s.order] = append(orders[s.order], s.score)
			}
		}
		return orders
	}
	x := m.outcome.scale
	return statistics.MeanChange(by(c.without.samples), by(c.whole.samples), x.least, x.most, m.confidence)
}

// intervals returns the number of intervals of a report: those of the scores in each stage, and those of the winner's share
// unless the stage is only to find the largest items.
func (m *measurement) intervals() (n int) {
	for i, s := range m.plan.Stages {
		if len(m.outcome.scores) > 0 {
			n += s.Items
		}
		if m.outcome.wins && (!m.plan.first || i > 0) {
			n += s.Items
		}
	}
	return n
}

// effect measures what changes without the items of a comparison.
func (m *measurement) effect(c comparison) Effect {
	e := Effect{Name: c.without.name, Samples: len(c.without.samples), Whole: len(c.whole.samples), Fresh: len(m.done) > 0}
	if len(m.outcome.scores) > 0 {
		e.Score = new(m.score(c))
	}
	if m.outcome.wins {
		e.Share = new(m.share(c))
	}
	for _, s := range c.without.samples {
		if s.remains {
			e.Remains++
		}
	}
	for _, i := range c.items {
		e.Items = append(e.Items, m.items[i])
	}
	return e
}

// effects returns what was measured last of each item, and of two items together.
func (m *measurement) effects() (list []Effect, pair *Effect) {
	for i := range m.items {
		list = append(list, m.done[0][i])
	}
	for _, e := range slices.Concat(m.done[1:]...) {
		at := slices.IndexFunc(list, func(x Effect) bool { return x.Name == e.Name })
		if len(e.Items) > 1 {
			pair = &e
		} else if e.Samples > 0 {
			list[at] = e
		}
	}
	return list, pair
}

// report returns the report of the samples.
func (m *measurement) report() *Report {
	p := &Report{Format: formatVersion, Seats: m.seats, Continued: m.plan.Continued, Plan: m.plan, Winner: m.outcome.winner, Intervals: m.intervals()}
	if m.outcome.wins {
		p.Enough = m.enough
	}
	if len(m.outcome.scores) > 0 {
		p.Score, p.Of = m.outcome.scale.name, m.of
	}
	p.Effects, p.Pair = m.effects()
	p.Failures = slices.Clone(m.failures[:min(len(m.failures), 10)])
	p.Summary = p.sentences()
	return p
}
