package detect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// The effects of a finding.
const (
	Report string = "report" // observers see it
	Advise string = "advise" // observers and the judges see it
	Stop   string = "stop"   // observers and the judges see it, and the debate ends
)

// The methods by which signals are measured.
const (
	byWords   = "words"   // words of the speeches
	byVectors = "vectors" // embeddings of the speeches
	byScores  = "scores"  // the judges' scores and flags
	byAnswers = "answers" // answers in the speeches
)

// Rule tells a Detector to check for a signal. It is data.
type Rule struct {
	Signal Signal `json:"signal"`
	// Method is how the signal is measured: "words" or "vectors" for repetition, "scores" (the judges' scores and
	// flags) or "words" for drift, "scores" or "answers" for convergence. It defaults to the first of these. Other
	// signals have one method only.
	Method string `json:"method,omitempty"`
	Effect string `json:"effect,omitempty"` // Report, Advise or Stop; defaults to Report
	// Threshold replaces the default threshold of the signal. 0 means the default.
	Threshold float64 `json:"threshold,omitempty"`
}

// methods lists the methods for each signal, the default first.
var methods = map[Signal][]string{
	Repetitive: {byWords, byVectors}, Diminishing: {byScores}, Drifting: {byScores, byWords},
	Converged: {byScores, byAnswers}, Unanimous: {byAnswers},
}

var signals = []Signal{Repetitive, Diminishing, Drifting, Converged, Unanimous}

// EffectiveMethod returns Method, or its default if Method is empty.
func (r Rule) EffectiveMethod() string {
	if known := methods[r.Signal]; r.Method == "" && len(known) > 0 {
		return known[0]
	}
	return r.Method
}

// Check describes everything that is wrong with a rule.
func (r Rule) Check() (problems []string) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	known, ok := methods[r.Signal]
	switch most := r.maxThreshold(); {
	case !ok: // the other fields depend on the signal
		wrong("signal %q is unknown, use one of %q", r.Signal, signals)
	case !slices.Contains(known, r.EffectiveMethod()):
		wrong("method %q: %s is measured by one of %q", r.Method, r.Signal, known)
	case !(r.Threshold >= 0 && r.Threshold <= most):
		wrong("threshold %v: use 0 for the default, or up to %v", r.Threshold, most)
	}
	if !slices.Contains([]string{"", Report, Advise, Stop}, r.Effect) {
		wrong("effect %q is unknown, use one of %q", r.Effect, []string{Report, Advise, Stop})
	}
	return problems
}

// maxThreshold returns the greatest valid threshold.
func (r Rule) maxThreshold() float64 {
	switch {
	case r.Signal == Diminishing:
		return 100
	case r.Signal == Drifting && r.EffectiveMethod() == byScores:
		return 10
	}
	return 1
}

// Detector applies rules to the rounds of a debate. For each round, in order, call CheckSpeeches once and then, if
// the round was judged, CheckScores. The zero Detector finds nothing.
type Detector struct {
	Rules  []Rule
	Topic  string
	Answer func(transcript.Turn) string // returns the answer of a turn in canonical form, or ""; nil means no answers

	checks     []checks // by rule
	repetitive bool     // a rule found the current round repetitive
}

// checks holds the check of one rule, either for speeches or for scores. The other is nil.
type checks struct {
	speeches func(turns []transcript.Turn, said []Vector) Finding
	scores   func(s Scores, relevance float64, converged []bool) Finding
}

// CheckSpeeches checks the turns of a round. said holds their embeddings, if an embedder made any.
func (w *Detector) CheckSpeeches(turns []transcript.Turn, said []Vector) (found []Finding) {
	w.init()
	w.repetitive = false
	for i, r := range w.Rules {
		if look := w.checks[i].speeches; look != nil {
			f := look(turns, said)
			w.repetitive = w.repetitive || f.Signal == Repetitive && f.Found
			found = append(found, r.withAction(f))
		}
	}
	return found
}

// CheckScores checks what the judges said about a round: the means of their scores, the mean score for relevance, and
// each judge's flag for convergence. Unknown scores are NaN.
func (w *Detector) CheckScores(s Scores, relevance float64, converged ...bool) (found []Finding) {
	w.init()
	s.Repetitive = s.Repetitive || w.repetitive
	for i, r := range w.Rules {
		if look := w.checks[i].scores; look != nil {
			found = append(found, r.withAction(look(s, relevance, converged)))
		}
	}
	return found
}

// init makes the checks.
func (w *Detector) init() {
	for i := len(w.checks); i < len(w.Rules); i++ {
		w.checks = append(w.checks, w.newChecks(w.Rules[i]))
	}
}

// ruleKind is a signal with the method by which it is measured.
type ruleKind struct {
	sign   Signal
	method string
}

// newChecks makes the checks of a rule.
func (w *Detector) newChecks(r Rule) checks {
	t := r.Threshold
	switch (ruleKind{r.Signal, r.EffectiveMethod()}) {
	case ruleKind{Repetitive, byWords}:
		return speechCheck((&repetition{Overlap: t}).Round)
	case ruleKind{Repetitive, byVectors}:
		d := &semanticRepetition{Cosine: t}
		return checks{speeches: func(turns []transcript.Turn, said []Vector) Finding {
			f := d.Round(said)
			f.Round = roundOf(turns)
			return f
		}}
	case ruleKind{Unanimous, byAnswers}:
		return speechCheck((&Unanimity{Answer: w.Answer}).Round)
	case ruleKind{Drifting, byWords}:
		return speechCheck((&drift{Topic: w.Topic, Similarity: t}).Round)
	case ruleKind{Converged, byAnswers}:
		return speechCheck((&convergence{Answer: w.Answer, Share: t}).Round)
	case ruleKind{Diminishing, byScores}:
		d := &diminishingReturns{Rounds: int(math.Ceil(t))}
		return checks{scores: func(s Scores, _ float64, _ []bool) Finding { return d.Round(s) }}
	case ruleKind{Drifting, byScores}:
		d := &drift{Relevance: t}
		return checks{scores: func(s Scores, relevance float64, _ []bool) Finding { return d.ByScores(s.Round, relevance) }}
	case ruleKind{Converged, byScores}:
		d := &convergence{}
		return checks{scores: func(s Scores, _ float64, converged []bool) Finding { return d.ByFlags(s.Round, converged...) }}
	}
	return checks{} // Rule.Check rejects such a rule
}

// speechCheck returns the checks of a detector that reads only speeches.
func speechCheck(round func([]transcript.Turn) Finding) checks {
	return checks{speeches: func(turns []transcript.Turn, _ []Vector) Finding { return round(turns) }}
}

// withAction returns the finding with the effect of the rule.
func (r Rule) withAction(f Finding) Finding {
	f.Effect = cmp.Or(r.Effect, Report)
	return f
}
