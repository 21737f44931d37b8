package judge

import (
	"fmt"
	"math"
	"slices"
)

// voter is a judge with its words: one, or one in each order.
type voter[T any] struct {
	judge  string
	values []*T
}

// votersOf are the voters behind opinions, in order of their first word. Those that failed count where there is no other.
func votersOf[T any](opinions []Opinion[T]) (voters []voter[T], failed bool) {
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
		v.values = append(v.values, &o.Value)
	}
	return voters, failed
}

// ballot is a vote on one point.
type ballot[T any, V comparable] struct {
	voters   []voter[T]
	field    func(*T) V
	describe func(V) string // what a value means, for people
}

// vote is a voter's; false: its two words contradict each other, and it abstains.
func (b ballot[T, V]) vote(v voter[T]) (V, bool) {
	vote := b.field(v.values[0])
	for _, w := range v.values[1:] {
		if b.field(w) != vote {
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

// firstFor is the first word of the first voter for an outcome; nil where there is none.
func (b ballot[T, V]) firstFor(outcome V) *T {
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok && vote == outcome {
			return v.values[0]
		}
	}
	return nil
}

// contradictions names the voters who contradict themselves.
func (b ballot[T, V]) contradictions() (list []string) {
	for _, v := range b.voters {
		if _, ok := b.vote(v); !ok {
			list = append(list, fmt.Sprintf("%s: %s in one order, and %s in the other", v.judge, b.describe(b.field(v.values[0])), b.describe(b.field(v.values[1]))))
		}
	}
	return list
}

// dissent names the voters against an outcome, with their reasons.
func (b ballot[T, V]) dissent(outcome V, reason func(*T) string) (list []string) {
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok && vote != outcome {
			line := v.judge + ": " + b.describe(vote)
			if why := reason(v.values[0]); why != "" {
				line += ": " + why
			}
			list = append(list, line)
		}
	}
	return list
}

// numberField is one number that judges give.
type numberField[T any] struct {
	name      string
	field     func(*T) *float64 // nil where a judge does not give it
	tolerance float64           // what differs by more is worth a word
}

var unlimited = math.Inf(1)

// values are what a voter gives in each order.
func (f numberField[T]) values(v voter[T]) (list []float64) {
	for _, w := range v.values {
		if x := f.field(w); x != nil {
			list = append(list, *x)
		}
	}
	return list
}

// meanByVoter is the mean of each voter's values.
func (f numberField[T]) meanByVoter(voters []voter[T]) (list []float64) {
	for _, v := range voters {
		if values := f.values(v); len(values) > 0 {
			list = append(list, mean(values))
		}
	}
	return list
}

// disagreements says where values are far apart: of one voter in both orders, and of the voters that lie furthest apart.
func (f numberField[T]) disagreements(voters []voter[T]) (list []string) {
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
		if len(values) > 1 && math.Abs(values[0]-values[1]) > f.tolerance {
			list = append(list, fmt.Sprintf("%s: %s is %s in one order, and %s in the other", v.judge, f.name, formatNumber(values[0]), formatNumber(values[1])))
		}
		average := mean(values)
		if average < low.value {
			low.judge, low.value = v.judge, average
		}
		if average > high.value {
			high.judge, high.value = v.judge, average
		}
	}
	if high.value-low.value > f.tolerance {
		list = append(list, fmt.Sprintf("%s is %s by %s, and %s by %s", f.name, formatNumber(low.value), low.judge, formatNumber(high.value), high.judge))
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
	return roundToHundredths(sum / float64(len(values)))
}

// median is the value in the middle, or the mean of the two in the middle, rounded to hundredths; of one value it is
// that value.
func median(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return roundToHundredths((sorted[(n-1)/2] + sorted[n/2]) / 2)
}
