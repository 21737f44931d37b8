package agreement

import (
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/internal/statistics"
)

// A Selection lets a jury decide only where its calibration permits it. Elsewhere the senior judge decides. There is none
// without gold labels: the calibration holds the evidence, and Check refuses one whose figures do not show its target.
type Selection struct {
	Calibration Calibration `json:"calibration"` // of the jury: all judges but the senior one
	Senior      string      `json:"senior"`      // the judge who decides elsewhere: a stronger model, or a person
}

// IsZero reports whether there is no selection.
func (s Selection) IsZero() bool {
	return s.Senior == "" && s.Calibration.Target == 0 && len(s.Calibration.Judges) == 0
}

// Jury returns the judges without the senior one.
func (s Selection) Jury(judges []string) []string {
	if s.Senior == "" {
		return judges
	}
	return slices.DeleteFunc(slices.Clone(judges), func(name string) bool { return name == s.Senior })
}

// Check returns what is wrong with the selection for judges who are asked a number of times each. The zero Selection is right.
func (s Selection) Check(judges []string, asked int) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	c, jury := s.Calibration, s.Jury(judges)
	if s.IsZero() {
		return nil
	}
	if !slices.Contains(judges, s.Senior) {
		add("senior: %q is not a judge, the judges are %q", s.Senior, judges)
	}
	if !slices.Equal(slices.Sorted(slices.Values(c.Judges)), slices.Sorted(slices.Values(jury))) {
		add("calibration.judges: it is of %q, and the jury is %q: calibrate this jury", c.Judges, jury)
	} else if want := asked * len(jury); c.Decisions != want {
		add("calibration.decisions: %d, and the jury makes %d: calibrate it with as many", c.Decisions, want)
	}
	switch {
	case !(c.Target > 0 && c.Target < 1):
		add("calibration.target: %v, want a number between 0 and 1", c.Target)
	case c.Margin < 1 || c.Margin > c.Decisions:
		add("calibration.margin: %d, want 1 to %d", c.Margin, c.Decisions)
	case c.Wrong < 0 || c.Wrong > c.Decided || c.Decided < 1 || c.Decided > c.Items:
		add("calibration: %d of %d decided items are wrong, of %d: these are no counts", c.Wrong, c.Decided, c.Items)
	case c.Bound > 1-c.Target || math.Abs(c.Bound-statistics.UpperBound(c.Wrong, c.Decided, .95)) > .001:
		add("calibration: %d wrong of %d decided items with a gold label do not show the target %v with the bound %v: make it with agreement.Calibrate", c.Wrong, c.Decided, c.Target, c.Bound)
	}
	return wrong
}

// Decide returns the decision of a jury about an item. It reports false if the senior judge is to decide.
func (s Selection) Decide(i Item) (Decision, bool) { return s.Calibration.Decide(i) }
