package eval

import (
	"time"

	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/estimate"
)

// formatVersion names the version of the report's JSON that this package writes.
const formatVersion = 1

// Report says what an evaluation has shown. It is plain data: encode it as JSON, or render it with [Report.Markdown] or
// [Report.HTML].
type Report struct {
	Format int    `json:"format"` // version of the report format, 1
	Eval   string `json:"eval"`
	Tasks  int    `json:"tasks"`
	// Incomplete says why runs are missing, such as a limit. It is empty if there is a result or a failure for each run.
	Incomplete string `json:"incomplete,omitempty"`
	Baseline   string `json:"baseline,omitempty"` // empty with one arm
	Budget     Budget `json:"budget,omitempty"`   // what baselines of equal budget got; empty if there are none
	// Summary has a sentence for each comparison: what is shown and what not.
	Summary     []string     `json:"summary"`
	Arms        []ArmResult  `json:"arms"` // as given, then the baselines of equal budget
	Differences []Difference `json:"differences,omitempty"`
	Unmet       []string     `json:"unmet,omitempty"` // which of Evaluation.Require are not shown to hold, and why
	Tokens      int          `json:"tokens"`          // of everything that is stored under the evaluation's name
	Cost        float64      `json:"cost"`            // the same, in the currency of the prices; 0 without prices
}

// ArmResult says how an arm answered the tasks. Means are those of runs that did not fail, but tokens and cost are those of all runs.
type ArmResult struct {
	Name string `json:"name"`
	// EqualTo is the arm whose budget the baseline got for each question; empty for the arms themselves. The name is then
	// that of the baseline, '@' and that of the arm. The result of several samples is their most frequent answer; their usage
	// is added up, and the latency is that of the slowest one, because samples can run at the same time.
	EqualTo  string   `json:"equal_to,omitempty"`
	Runs     int      `json:"runs"`                // runs that have a result
	Right    int      `json:"right"`               // of these
	NoAnswer int      `json:"no_answer,omitempty"` // of these; they count as wrong, but see Accuracy
	Ties     int      `json:"ties,omitempty"`      // of those without an answer
	Failed   int      `json:"failed,omitempty"`    // runs without a result because something failed; they are neither right nor wrong
	Missing  int      `json:"missing,omitempty"`   // runs that were not begun, or are not over
	Failures []string `json:"failures,omitempty"`  // causes of the first ones
	// Accuracy is the mean of 1 for a right answer, ½ for a debate of package oversight whose judges hold both answers equally
	// probable, and otherwise 0.
	Accuracy estimate.Interval `json:"accuracy"`

	Tokens  float64       `json:"tokens"`  // for each question
	Cost    float64       `json:"cost"`    // for each question
	Calls   float64       `json:"calls"`   // for each question
	Latency time.Duration `json:"latency"` // mean, in nanoseconds
	// TokensPerRight and CostPerRight are all tokens and all money by the number of right answers; 0 without any.
	TokensPerRight float64 `json:"tokens_per_right"`
	CostPerRight   float64 `json:"cost_per_right"`
	Samples        float64 `json:"samples,omitempty"` // mean number of samples of a baseline of equal budget
	// Unbeaten reports that no other arm is at least as accurate for at most as much.
	Unbeaten bool    `json:"unbeaten,omitempty"`
	Rounds   []Round `json:"rounds,omitempty"` // by round, from 1; added up over the runs
	// Agreement says how far the judges of the arm's debates agree; nil if no debate was concluded by two or more.
	Agreement *Agreement `json:"agreement,omitempty"`

	// Probability is the mean of the probabilities that the judges give to the right answers, in debates of package oversight, and Brier
	// the mean of (p - y)², where p is the probability of answer A, and y is 1 if A is right and 0 if not. Less is better: .25 is what
	// a judge has who always says one half. CalibrationError is the expected calibration error of p in ten bins of equal width, from 0. All are nil
	// without probabilities.
	Probability      *estimate.Interval `json:"probability,omitempty"`
	Brier            *estimate.Interval `json:"brier,omitempty"`
	CalibrationError *float64           `json:"calibration_error,omitempty"`
}

// Round counts the answers that participants gave in a round.
type Round struct {
	Answers int `json:"answers"`
	Right   int `json:"right"`
	// TurnedRight and TurnedWrong count the participants whose answer was wrong in their previous round and is right now,
	// and the reverse.
	TurnedRight int `json:"turned_right"`
	TurnedWrong int `json:"turned_wrong"`
}

func (r *Round) add(other Round) {
	r.Answers += other.Answers
	r.Right += other.Right
	r.TurnedRight += other.TurnedRight
	r.TurnedWrong += other.TurnedWrong
}

// Difference compares an arm with a baseline on the questions that both have answered.
type Difference struct {
	Arm      string            `json:"arm"`
	Baseline string            `json:"baseline"`
	Interval estimate.Interval `json:"interval"` // accuracy of the arm minus that of the baseline
	Better   int               `json:"better"`   // questions that only the arm answered right, or more often
	Worse    int               `json:"worse"`    // the reverse
	// P is the two-sided p-value: that of McNemar's exact test if each question stands for itself and was answered once,
	// or else the one that belongs to the interval. Adjusted is corrected by Holm's method for the number of comparisons.
	// Both are 1 if the interval is unknown.
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"`
	// Detectable is the smallest difference that as many questions would show four times out of five. Needed is how many
	// questions would show the difference that was found; 0 if none was found. Both are 0 if the interval is unknown.
	Detectable float64 `json:"detectable"`
	Needed     int     `json:"needed,omitempty"`
	// Brier is the difference of the Brier scores; below 0, the arm is better. It is nil if an arm has none. Its interval is not
	// corrected for the number of comparisons.
	Brier *estimate.Interval `json:"brier,omitempty"`
}

// Shown reports whether the difference is not zero, as far as its interval and the adjusted p-value say.
func (d Difference) Shown() bool {
	return (d.Interval.Above(0) || d.Interval.Below(0)) && d.Adjusted < 0.05
}

// contenders returns the arms with what they achieve and take.
func (p *Report) contenders() (list runs.Contenders) {
	for _, a := range p.Arms {
		list = append(list, runs.Contender{Name: a.Name, Runs: a.Runs, Achieved: a.Accuracy, Cost: a.Cost, Tokens: a.Tokens})
	}
	return list
}

// markUnbeaten marks the arms that no other arm beats.
func (p *Report) markUnbeaten() {
	for i := range p.Arms {
		p.Arms[i].Unbeaten = p.contenders().Unbeaten(i)
	}
}

// Agreement says how far the judges of an arm's debates agree when they conclude them: on the winner, or on one of several options.
// Senior judges of a selection do not count.
type Agreement struct {
	Judges  []string `json:"judges"`
	Debates int      `json:"debates"`
	// Raw is the share of pairs of decisions that are equal. AlphaDecisions is Krippendorff's alpha of all decisions, and AlphaVotes
	// that of the judges' votes: a judge whose decisions in the two orders differ has none, so read both.
	Raw            estimate.Interval `json:"raw"`
	AlphaDecisions estimate.Interval `json:"alpha_decisions"`
	AlphaVotes     estimate.Interval `json:"alpha_votes"`
	// Gold is the number of debates of which it is known whether each judge is right: those that decide between options, if
	// answers are compared with gold. Effective is the number of judges with independent errors who are worth as much (Kish).
	Gold      int               `json:"gold"`
	Effective estimate.Interval `json:"effective"`
}
