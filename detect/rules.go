package detect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// What follows from a finding.
const (
	Report string = "report" // it is told to whoever watches
	Advise string = "advise" // the judges are told as well
	Stop   string = "stop"   // the judges are told, and the debate ends
)

// What a sign is measured by.
const (
	byWords   = "words"   // of the speeches
	byVectors = "vectors" // embeddings of the speeches
	byScores  = "scores"  // the judges' scores and flags
	byAnswers = "answers" // that the speeches give
)

// Rule has a debate watched for a sign. It is data.
type Rule struct {
	Signal Signal `json:"signal"`
	// Method is what the sign is measured by: "words" or "vectors" for repetition, "scores" (the judges' scores and flags) or
	// "words" for drift, "scores" or "answers" for convergence. Defaults to the first of them; other signs have one only.
	Method string `json:"method,omitempty"`
	Effect string `json:"effect,omitempty"` // Report, Advise or Stop; defaults to Report
	// Threshold replaces the default threshold of the sign. 0 means the default.
	Threshold float64 `json:"threshold,omitempty"`
}

// methods are what each sign can be measured by, the default first.
var methods = map[Signal][]string{
	Repetitive: {byWords, byVectors}, Diminishing: {byScores}, Drifting: {byScores, byWords}, Disengaged: {byWords},
	Converged: {byScores, byAnswers}, Unanimous: {byAnswers},
}

var signals = []Signal{Repetitive, Diminishing, Drifting, Disengaged, Converged, Unanimous}

// EffectiveMethod is what the rule goes by: By, or its default.
func (r Rule) EffectiveMethod() string {
	if known := methods[r.Signal]; r.Method == "" && len(known) > 0 {
		return known[0]
	}
	return r.Method
}

// Check says what is wrong with a rule, or nothing.
func (r Rule) Check() string {
	known, ok := methods[r.Signal]
	switch most := r.maxThreshold(); {
	case !ok:
		return fmt.Sprintf("signal %q is unknown, use one of %q", r.Signal, signals)
	case !slices.Contains(known, r.EffectiveMethod()):
		return fmt.Sprintf("method %q: %s is measured by one of %q", r.Method, r.Signal, known)
	case !slices.Contains([]string{"", Report, Advise, Stop}, r.Effect):
		return fmt.Sprintf("effect %q is unknown, use one of %q", r.Effect, []string{Report, Advise, Stop})
	case !(r.Threshold >= 0 && r.Threshold <= most):
		return fmt.Sprintf("threshold %v: use 0 for the default, or up to %v", r.Threshold, most)
	}
	return ""
}

// maxThreshold is the maxThreshold threshold that means something.
func (r Rule) maxThreshold() float64 {
	switch {
	case r.Signal == Diminishing:
		return 100
	case r.Signal == Drifting && r.EffectiveMethod() == byScores:
		return 10
	}
	return 1
}

// Detector applies rules to the rounds of a debate. As its detectors, it is told of each round once, in order: of the
// speeches (Spoken), and then of the judges' word (Judged), where there is any. Its zero value finds nothing.
type Detector struct {
	Rules  []Rule
	Topic  string
	Seats  []transcript.Profile
	Answer func(transcript.Turn) string // what a turn answers, in a canonical form, or ""; nil: nothing

	checks     []checks // by rule
	repetitive bool     // the round at hand is, by a rule
}

// checks are what a rule makes of a round: of its speeches, or of the judges' word; the other is nil.
type checks struct {
	speeches func(turns []transcript.Turn, said []Vector) Finding
	scores   func(s Scores, relevance float64, converged []bool) Finding
}

// CheckSpeeches looks at the turns of a round, and at their vectors where an embedder made some.
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

// CheckScores looks at what the judges said of a round: the means of their scores, the mean relevance among them, and the flag
// of each that the participants have converged. Unknown scores are NaN.
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

// init makes the detectors.
func (w *Detector) init() {
	for i := len(w.checks); i < len(w.Rules); i++ {
		w.checks = append(w.checks, w.newChecks(w.Rules[i]))
	}
}

// ruleKind is a sign and what it is measured by.
type ruleKind struct {
	sign   Signal
	method string
}

// newChecks makes the detector of a rule.
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
	case ruleKind{Disengaged, byWords}:
		return speechCheck((&engagement{Topic: w.Topic, Seats: w.Seats, MinShare: t}).Round)
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
	return checks{} // Check refuses it
}

// speechCheck is a detector that looks at speeches alone.
func speechCheck(round func([]transcript.Turn) Finding) checks {
	return checks{speeches: func(turns []transcript.Turn, _ []Vector) Finding { return round(turns) }}
}

// withAction marks a finding with what follows from it.
func (r Rule) withAction(f Finding) Finding {
	f.Effect = cmp.Or(r.Effect, Report)
	return f
}
