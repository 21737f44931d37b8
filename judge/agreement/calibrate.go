package agreement

import (
	"errors"
	"fmt"
	"math"

	"github.com/elenchus-go/debate/internal/statistics"
)

// ErrRefused reports that no margin makes a jury right as often as its target. Let a stronger judge or a person decide.
var ErrRefused = errors.New("the jury must not decide alone")

// A Calibration says at which margin a jury may decide alone. It holds for the judges, with their models and prompts, and for
// questions that are like those it was made with.
type Calibration struct {
	Judges    []string `json:"judges"`    // the names of the jury
	Target    float64  `json:"target"`    // the share of right decisions that was asked for
	Decisions int      `json:"decisions"` // how many decisions the jury makes about an item
	Margin    int      `json:"margin"`    // the least margin at which the jury decides
	Items     int      `json:"items"`     // the items with gold that were used, one for each group
	Decided   int      `json:"decided"`   // those at this margin or above
	Wrong     int      `json:"wrong"`     // those that were decided wrongly
	// Bound is the exact upper bound of the share of wrong decisions, with a confidence of 95 %. It is at most 1 - Target.
	Bound float64 `json:"bound"`
}

// Decide returns the jury's decision about an item. It reports false if the jury must not decide it.
func (c Calibration) Decide(i Item) (Decision, bool) {
	d, margin := i.Margin(c.Judges...)
	return d, c.Margin > 0 && margin >= c.Margin && i.asked(c.Judges) == c.Decisions
}

// Calibrate returns the least margin at which the decisions of a jury are right with at least the probability target, which
// is between 0 and 1, or an error that wraps ErrRefused. It uses the items with a gold label that all judges have judged, and
// of each group only the first one, because the test needs items that are independent.
//
// From the greatest margin down, it tests whether the share of wrong decisions at this margin or above is at most 1 - target:
// whether its exact binomial upper bound of 95 % is. It stops at the first margin that fails. This fixed sequence keeps the
// probability that any margin is accepted wrongly at 5 %.
func Calibrate(items []Item, target float64, judges ...string) (Calibration, error) {
	if !(target > 0 && target < 1) {
		return Calibration{}, fmt.Errorf("calibrate jury: target is %v, want a number between 0 and 1", target)
	}
	if len(judges) == 0 {
		return Calibration{}, errors.New("calibrate jury: there are no judges")
	}
	single := firstOfGroups(gold(items, judges))
	c := Calibration{Judges: judges, Target: target, Items: len(single)}
	for _, i := range single {
		c.Decisions = max(c.Decisions, i.asked(judges))
	}
	for margin := c.Decisions; margin > 0; margin-- {
		tried := c.at(margin, single)
		if tried.Decided == 0 || tried.Bound > 1-target {
			if c.Margin == 0 {
				return Calibration{}, tried.refuse()
			}
			break
		}
		c = tried
	}
	if c.Margin == 0 {
		return Calibration{}, fmt.Errorf("calibrate jury: %w: there are no items with a gold label that all judges have judged", ErrRefused)
	}
	return c, nil
}

// at returns the calibration with another margin.
func (c Calibration) at(margin int, items []Item) Calibration {
	c.Margin = margin
	c.Decided = 0
	c.Wrong = 0
	for _, i := range items {
		if d, m := i.Margin(c.Judges...); m >= margin {
			c.Decided++
			if d != i.Gold {
				c.Wrong++
			}
		}
	}
	c.Bound = statistics.UpperBound(c.Wrong, c.Decided, .95)
	return c
}

// refuse returns the reason why not even the greatest margin is enough.
func (c Calibration) refuse() error {
	return fmt.Errorf("calibrate jury: %w: of %d items it decides %d unanimously, %d of them wrongly, so up to %.0f %% of such decisions may be wrong, and the target allows %.0f %%; it takes at least %d such decisions, all right, to show the target",
		ErrRefused, c.Items, c.Decided, c.Wrong, 100*c.Bound, 100*(1-c.Target), leastEvidence(c.Target))
}

// leastEvidence returns how many right decisions, without a wrong one, show a target.
func leastEvidence(target float64) int { return int(math.Ceil(math.Log(.05) / math.Log(target))) }

// firstOfGroups returns the first item of each group.
func firstOfGroups(items []Item) (first []Item) {
	for _, indexes := range statistics.Groups(len(items), func(i int) string { return items[i].Group }) {
		first = append(first, items[indexes[0]])
	}
	return first
}
