package judge

import (
	"fmt"
	"math"
	"slices"
)

// voter is a judge with its replies: one, or one for each order of the participants.
type voter[T any] struct {
	judge  string
	values []*T
}

// votersOf returns the voters behind opinions, in order of their first opinion. It ignores failed opinions unless all
// failed, and reports whether all did.
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

// ballot is a vote of voters on one field.
type ballot[T any, V comparable] struct {
	voters   []voter[T]
	field    func(*T) V
	describe func(V) string // describes a value for people
}

// vote returns the vote of a voter. It returns false if the voter's two replies contradict each other, in which case
// the voter abstains.
func (b ballot[T, V]) vote(v voter[T]) (V, bool) {
	vote := b.field(v.values[0])
	for _, w := range v.values[1:] {
		if b.field(w) != vote {
			return vote, false
		}
	}
	return vote, true
}

// majority returns the value that more than half of the voters that do not abstain voted for. It returns false if
// there is none.
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

// firstFor returns the first reply of the first voter for an outcome, or nil if there is none.
func (b ballot[T, V]) firstFor(outcome V) *T {
	for _, v := range b.voters {
		if vote, ok := b.vote(v); ok && vote == outcome {
			return v.values[0]
		}
	}
	return nil
}

// contradictions describes the voters whose two replies contradict each other.
func (b ballot[T, V]) contradictions() (list []string) {
	for _, v := range b.voters {
		if _, ok := b.vote(v); !ok {
			list = append(list, fmt.Sprintf("%s: %s in one order and %s in the other", v.judge, b.describe(b.field(v.values[0])), b.describe(b.field(v.values[1]))))
		}
	}
	return list
}

// dissent describes the voters against an outcome, with their reasons.
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

// Poll is the result of a vote of judges on a choice.
type Poll[T any] struct {
	Choice string              // what more than half of the judges that do not abstain chose; empty if there is no majority
	First  *T                  // the reply of the first judge who made the choice, or of the first judge if there is none
	Votes  map[string][]string // the judges who made each choice, in order
	Failed bool                // no judge gave a valid reply
	// Dissent lists the judges who chose otherwise, with their reasons, and Disagreement those whose two replies differ.
	Dissent, Disagreement []string
}

// TakePoll lets judges vote on a choice, unless it is decided otherwise, such as by a calibrated margin; decided is empty if it is
// not. The rules of CombineAssessments apply: failed opinions are ignored unless all failed, and a judge whose two replies differ
// abstains. It needs at least one opinion.
func TakePoll[T any](decided string, opinions []Opinion[T], choice, reason func(*T) string) Poll[T] {
	voters, failed := votersOf(opinions)
	b := ballot[T, string]{voters, choice, func(c string) string {
		if c == "" {
			return "nothing"
		}
		return c
	}}
	p := Poll[T]{Failed: failed, Votes: map[string][]string{}, Disagreement: b.contradictions()}
	p.Choice = decided
	if decided == "" {
		p.Choice, _ = b.majority()
	}
	p.First = b.firstFor(p.Choice)
	if p.First == nil {
		p.First = voters[0].values[0]
	}
	for _, v := range voters {
		if vote, ok := b.vote(v); ok {
			p.Votes[vote] = append(p.Votes[vote], v.judge)
		}
	}
	if p.Choice != "" {
		p.Dissent = b.dissent(p.Choice, reason)
	}
	return p
}

// numberField is one numeric field of a reply.
type numberField[T any] struct {
	name      string
	field     func(*T) *float64 // returns nil if the reply does not have the field
	tolerance float64           // greater differences are reported
}

var unlimited = math.Inf(1)

// values returns the values of a voter, one for each order.
func (f numberField[T]) values(v voter[T]) (list []float64) {
	for _, w := range v.values {
		if x := f.field(w); x != nil {
			list = append(list, *x)
		}
	}
	return list
}

// meanByVoter returns the mean of each voter's values.
func (f numberField[T]) meanByVoter(voters []voter[T]) (list []float64) {
	for _, v := range voters {
		if values := f.values(v); len(values) > 0 {
			list = append(list, mean(values))
		}
	}
	return list
}

// disagreements describes differences beyond the tolerance: between the two orders of one voter, and between the
// voters with the lowest and the highest value.
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
			list = append(list, fmt.Sprintf("%s: %s is %s in one order and %s in the other", v.judge, f.name, formatNumber(values[0]), formatNumber(values[1])))
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
		list = append(list, fmt.Sprintf("%s: %s gives %s, %s gives %s", f.name, low.judge, formatNumber(low.value), high.judge, formatNumber(high.value)))
	}
	return list
}

// mean returns the mean of values, rounded to hundredths. It returns a single value unchanged.
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

// median returns the median of values, rounded to hundredths. It returns a single value unchanged.
func median(values []float64) float64 {
	if len(values) == 1 {
		return values[0]
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return roundToHundredths((sorted[(n-1)/2] + sorted[n/2]) / 2)
}
