package agreement

import "slices"

// A Decision says which of two answers is better.
type Decision string

// The decisions.
const (
	None Decision = ""    // the judge gave no decision that can be read
	A    Decision = "a"   // the first answer of the pair
	B    Decision = "b"   // the second answer of the pair
	Tie  Decision = "tie" // neither is better
)

// Credit returns what a decision is worth if gold is right: 1 for gold, ½ for a tie, and otherwise 0.
func (d Decision) Credit(gold Decision) float64 {
	switch {
	case d == Tie:
		return .5
	case d == gold && d != None:
		return 1
	}
	return 0
}

// decides returns 1 for A, -1 for B and otherwise 0.
func (d Decision) decides() int {
	switch d {
	case A:
		return 1
	case B:
		return -1
	case None, Tie:
	}
	return 0
}

// decisionOf returns the decision with the sign of a sum of decides: A, B, or none.
func decisionOf(sum int, none Decision) Decision {
	switch {
	case sum > 0:
		return A
	case sum < 0:
		return B
	}
	return none
}

// An Item is a pair of answers that judges have judged.
type Item struct {
	ID    string   `json:"id"`
	Group string   `json:"group,omitempty"` // the question; items of one group depend on one another. Empty: a group of its own
	Gold  Decision `json:"gold,omitempty"`  // the better answer, A or B, if known
	// Decisions has the decisions of each judge by its name: one for each time that it was asked, such as one for each
	// order in which it saw the answers. A and B always mean the answers of the pair, whichever was shown first.
	Decisions map[string][]Decision `json:"decisions"`
}

// Score returns the mean credit of a judge's decisions, from 0 to 1. It is 0 without decisions.
func (i Item) Score(judge string) float64 {
	sum := 0.0
	for _, d := range i.Decisions[judge] {
		sum += d.Credit(i.Gold)
	}
	return sum / float64(max(1, len(i.Decisions[judge])))
}

// Vote returns a judge's vote: the answer that more of its decisions are for, or None if there is none. A judge that prefers
// the answer shown first, whichever it is, so abstains.
func (i Item) Vote(judge string) Decision {
	sum := 0
	for _, d := range i.Decisions[judge] {
		sum += d.decides()
	}
	return decisionOf(sum, None)
}

// Majority returns the answer that more judges vote for, or Tie.
func (i Item) Majority(judges ...string) Decision {
	sum := 0
	for _, j := range judges {
		sum += i.Vote(j).decides()
	}
	return decisionOf(sum, Tie)
}

// Margin returns the answer that more of the jury's decisions are for, and by how many decisions. With a margin of 0 there is
// no such answer.
func (i Item) Margin(judges ...string) (Decision, int) {
	sum := 0
	for _, j := range judges {
		for _, d := range i.Decisions[j] {
			sum += d.decides()
		}
	}
	return decisionOf(sum, None), max(sum, -sum)
}

// Unanimous returns the answer that all decisions of the jury are for. It reports false if there is no such answer.
func (i Item) Unanimous(judges ...string) (Decision, bool) {
	d, margin := i.Margin(judges...)
	return d, margin > 0 && margin == i.asked(judges)
}

// asked returns how many decisions the jury was asked for.
func (i Item) asked(judges []string) (n int) {
	for _, j := range judges {
		n += len(i.Decisions[j])
	}
	return n
}

// gold returns the items with a gold label that all judges have judged.
func gold(items []Item, judges []string) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool {
		return i.Gold != A && i.Gold != B || slices.ContainsFunc(judges, func(j string) bool { return len(i.Decisions[j]) == 0 })
	})
}
