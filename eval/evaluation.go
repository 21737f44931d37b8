package eval

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/report/progress"
)

// Evaluation compares arms on tasks. Its runs are debates in a store, with the labels eval, arm, task and sample.
type Evaluation struct {
	// Name identifies the evaluation in its store. Use at most 128 bytes without control characters.
	Name  string
	Tasks []Task
	Arms  []Arm
	// Baseline is the name of the arm to which the others are compared. Defaults to the first arm.
	Baseline string
	// Against lists further arms to which all arms are compared, by name, as they are: without a baseline of equal budget.
	Against []string
	// Seed determines what is drawn of tasks: the wrong answers of arms with two answers, and their order.
	Seed string
	// Budget is what the baseline of equal budget gets for each question: as many tokens as the arm that is compared, or as
	// much money. It answers the question again and again while its budget lasts, and its most frequent answer counts, or of
	// equally frequent ones the first. Defaults to Tokens. A report shows it beside the cheap baseline.
	Budget Budget
	Scorer Scorer
	// Require lists what the evaluation is to show; Report.Unmet has what it does not. "vote > single": the interval of the
	// difference is above 0, and its adjusted p-value below 0.05. "vote >= single": the interval is not below 0. "vote > 0.8"
	// and "vote >= 0.8": the interval of the accuracy is above 0.8, or not below it. An arm can be a baseline of equal budget,
	// such as single@vote. One of two arms is the baseline, or one of Against.
	Require []string
	// MaxCost and MaxTokens limit the whole evaluation: what is stored under its name counts, so that limits hold across
	// restarts. At a limit no further run begins, and those in progress pause; calls in flight are completed. 0 means no
	// limit. MaxCost is in the currency of the configurations' prices, which must have a price for each model.
	MaxCost   float64
	MaxTokens int
	// Concurrency is the number of tasks that are answered at the same time. Defaults to 8.
	Concurrency int
	// Progress is called after each run. Calls do not overlap.
	Progress func(progress.Tasks)
	// Results receives a line of JSON for each [Run], in the order of tasks, arms and samples.
	Results io.Writer
	// Stop ends the evaluation when it is closed: no further run begins, and those in progress pause. Calls in flight are
	// completed and committed.
	Stop <-chan struct{}
}

// Budget says what two arms have in common.
type Budget string

// The budgets.
const (
	Tokens   Budget = "tokens" // of prompts and replies
	Cost     Budget = "cost"   // in the currency of the prices
	NoBudget Budget = "none"   // there is no baseline of equal budget, which costs about as much as the arms
)

// Labels of runs. A debate that scores a run has the labels eval and scores, which is the id of the run.
const (
	labelEval   = "eval"
	labelArm    = "arm"
	labelTask   = "task"
	labelSample = "sample"
	labelScores = "scores"
)

// runs returns what the runs of the evaluation have in common.
func (e *Evaluation) runs() runs.Config {
	return runs.Config{
		Label: labelEval, What: "evaluation", Name: e.Name, MaxCost: e.MaxCost, MaxTokens: e.MaxTokens, Concurrency: e.Concurrency, Progress: e.Progress, Stop: e.Stop,
	}
}

// check returns everything that is wrong with the evaluation.
func (e *Evaluation) check() error {
	var wrong []error
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !runs.IsName(e.Name) {
		add("name: %q, use 1 to %d bytes without control characters", e.Name, runs.MaxName)
	}
	if len(e.Tasks) == 0 {
		add("tasks: there are none")
	}
	seen := make(map[string]bool, len(e.Tasks))
	for i, t := range e.Tasks {
		if err := t.check(); err != nil {
			add("tasks[%d]: %w", i, err)
		}
		if seen[t.ID] {
			add("tasks[%d]: id: %q is the id of another task", i, t.ID)
		}
		seen[t.ID] = true
	}
	if len(e.Arms) == 0 {
		add("arms: there are none")
	}
	for i, a := range e.Arms {
		switch {
		case !armName.MatchString(a.Name):
			add("arms[%d]: name: %q, use at most 64 letters, digits, '.', '_' and '-', with a letter first", i, a.Name)
		case slices.ContainsFunc(e.Arms[:i], func(b Arm) bool { return b.Name == a.Name }):
			add("arms[%d]: name: another arm is called %q", i, a.Name)
		case a.Config == nil:
			add("arms[%d]: config: %s has none", i, a.Name)
		case a.Samples < 0 || a.Samples > maxSamples:
			add("arms[%d]: samples: %d, use 1 to %d", i, a.Samples, maxSamples)
		}
	}
	if e.Baseline != "" && e.arm(e.Baseline) == nil {
		add("baseline: no arm is called %q", e.Baseline)
	}
	for i, name := range e.Against {
		if e.arm(name) == nil {
			add("against[%d]: no arm is called %q", i, name)
		}
	}
	if !slices.Contains([]Budget{"", Tokens, Cost, NoBudget}, e.Budget) {
		add("budget: %q is unknown, use %q, %q or %q", e.Budget, Tokens, Cost, NoBudget)
	}
	if !slices.Contains([]Comparison{ByTask, Exact, Number, Choice}, e.Scorer.Compare) {
		add("scorer: comparison %q is unknown, use %q, %q or %q", e.Scorer.Compare, Exact, Number, Choice)
	}
	if e.Scorer.Judge != nil && e.Scorer.Func != nil {
		add("scorer: use a judge or a function, not both")
	}
	if e.MaxCost < 0 || e.MaxTokens < 0 || e.Concurrency < 0 {
		add("limits: a limit is negative")
	}
	return runs.Check("evaluation", wrong)
}

// maxSamples limits the runs of one arm for one task.
const maxSamples = 100

func (e *Evaluation) arm(name string) *Arm {
	if i := slices.IndexFunc(e.Arms, func(a Arm) bool { return a.Name == name }); i >= 0 {
		return &e.Arms[i]
	}
	return nil
}

// baseline returns the arm to which the others are compared, or nil if there are no others.
func (e *Evaluation) baseline() *Arm {
	switch {
	case len(e.Arms) < 2:
		return nil
	case e.Baseline == "":
		return &e.Arms[0]
	}
	return e.arm(e.Baseline)
}

// samples returns how often the arm answers each task.
func (a *Arm) samples() int { return max(a.Samples, 1) }

// config returns the configuration of a run. Its id derives from everything that determines it.
func (e *Evaluation) config(a *Arm, t Task, sample int) (debate.Config, error) {
	number := strconv.Itoa(sample)
	t.seed = e.Seed
	return e.runs().Labeled(a.Config(t), map[string]string{labelArm: a.Name, labelTask: t.ID, labelSample: number}, a.Name, t.ID, number)
}

// scoring returns the configuration of the debate that scores an answer of a run.
func (e *Evaluation) scoring(run string, t Task, answer string) (debate.Config, error) {
	return e.runs().Labeled(e.Scorer.Judge(t, answer), map[string]string{labelScores: run}, labelScores, run)
}
