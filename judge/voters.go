package judge

import (
	"fmt"
	"math"
	"slices"
)

// voter is a judge with its words: one, or one in each order.
type voter[T any] struct {
	judge string
	words []*T
}

// seated are the voters behind opinions, in order of their first word. Those that failed count where there is no other.
func seated[T any](opinions []Opinion[T]) (voters []voter[T], failed bool) {
	failed = true
	for _, o := range opinions {
		failed = failed && o.Failed
	}
	at := map[string]int{}
	for i := range opinions {
		o := &opinions[i]
		if o.Failed && !failed {
			continue
		}
		if _, known := at[o.Judge]; !known {
			at[o.Judge] = len(voters)
			voters = append(voters, voter[T]{judge: o.Judge})
		}
		v := &voters[at[o.Judge]]
		v.words = append(v.words, &o.Value)
	}
	return voters, failed
}

// ballot is a vote on one point.
type ballot[T any, V comparable] struct {
	voters []voter[T]
	of     func(*T) V
	words  func(V) string // what a value means, for people
}

// vote is a voter's; false: its two words contradict each other, and it abstains.
func (b ballot[T, V]) vote(v voter[T]) (V, bool) {
	vote := b.of(v.words[0])
	for _, w := range v.words[1:] {
		if b.of(w) != vote {
			return vote, false
		}
	}
	return vote, true
}

// majority is what more than half of those vote who do not abstain; false: nothing has so many.
func (b ballot[T, V]) majority() (outcome V, ok bool) {
	count, all := map[V]int{}, 0
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok {
			count[vote]++
			all++
		}
	}
	for vote, n := range count {
		if 2*n > all {
			return vote, true
		}
	}
	return outcome, false
}

// siding is the first word of the first voter for an outcome; nil where there is none.
func (b ballot[T, V]) siding(outcome V) *T {
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok && vote == outcome {
			return v.words[0]
		}
	}
	return nil
}

// torn names the voters who contradict themselves.
func (b ballot[T, V]) torn() (list []string) {
	for _, v := range b.voters {
		if _, ok := b.vote(v); !ok {
			list = append(list, fmt.Sprintf("%s: %s in one order, and %s in the other", v.judge, b.words(b.of(v.words[0])), b.words(b.of(v.words[1]))))
		}
	}
	return list
}

// dissent names the voters against an outcome, with their reasons.
func (b ballot[T, V]) dissent(outcome V, reason func(*T) string) (list []string) {
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok && vote != outcome {
			line := v.judge + ": " + b.words(vote)
			if why := reason(v.words[0]); why != "" {
				line += ": " + why
			}
			list = append(list, line)
		}
	}
	return list
}

// figure is one number that judges give.
type figure[T any] struct {
	name string
	of   func(*T) *float64 // nil where a judge does not give it
	far  float64           // what differs by more is worth a word
}

var never = math.Inf(1)

// values are what a voter gives in each order.
func (f figure[T]) values(v voter[T]) (list []float64) {
	for _, w := range v.words {
		if x := f.of(w); x != nil {
			list = append(list, *x)
		}
	}
	return list
}

// byVoter is the mean of each voter's values.
func (f figure[T]) byVoter(voters []voter[T]) (list []float64) {
	for _, v := range voters {
		if values := f.values(v); len(values) > 0 {
			list = append(list, mean(values))
		}
	}
	return list
}

// spreads says where values are far apart: of one voter in both orders, and of the voters that lie furthest apart.
func (f figure[T]) spreads(voters []voter[T]) (list []string) {
	var low, high struct {
		judge string
		value float64
	}
	low.value, high.value = math.Inf(1), math.Inf(-1)
	for _, v := range voters {
		values := f.values(v)
		if len(values) == 0 {
			continue
		}
		if len(values) > 1 && math.Abs(values[0]-values[1]) > f.far {
			list = append(list, fmt.Sprintf("%s: %s is %s in one order, and %s in the other", v.judge, f.name, number(values[0]), number(values[1])))
		}
		average := mean(values)
		if average < low.value {
			low.judge, low.value = v.judge, average
		}
		if average > high.value {
			high.judge, high.value = v.judge, average
		}
	}
	if high.value-low.value > f.far {
		list = append(list, fmt.Sprintf("%s is %s by %s, and %s by %s", f.name, number(low.value), low.judge, number(high.value), high.judge))
	}
	return list
}

// mean is the mean of some values, rounded to hundredths; of one value it is that value.
func mean(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return hundredths(sum / float64(len(values)))
}

// median is the value in the middle, or the mean of the two in the middle, rounded to hundredths; of one value it is
// that value.
func median(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return hundredths((sorted[(n-1)/2] + sorted[n/2]) / 2)
}
