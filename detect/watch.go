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
	words   = "words"   // of the speeches
	vectors = "vectors" // embeddings of the speeches
	marks   = "marks"   // the judges' scores and flags
	answers = "answers" // that the speeches give
)

// Rule has a debate watched for a sign. It is data.
type Rule struct {
	Sign Sign `json:"sign"`
	// By is what the sign is measured by: "words" or "vectors" for repetition, "marks" (the judges' scores and flags) or
	// "words" for drift, "marks" or "answers" for convergence. Defaults to the first of them; other signs have one only.
	By  string `json:"by,omitempty"`
	Use string `json:"use,omitempty"` // Report, Advise or Stop; defaults to Report
	// Threshold replaces the first field of the detector's settings, such as Repetition.Overlap, DiminishingReturns.Rounds
	// or Convergence.Share. Defaults to the detector's own default.
	Threshold float64 `json:"threshold,omitempty"`
}

// means are what each sign can be measured by, the default first.
var means = map[Sign][]string{
	Repetitive: {words, vectors}, Diminishing: {marks}, Drifting: {marks, words}, Disengaged: {words},
	Converged: {marks, answers}, Unanimous: {answers},
}

var signs = []Sign{Repetitive, Diminishing, Drifting, Disengaged, Converged, Unanimous}

// Means is what the rule goes by: By, or its default.
func (r Rule) Means() string {
	if known := means[r.Sign]; r.By == "" && len(known) > 0 {
		return known[0]
	}
	return r.By
}

// Check says what is wrong with a rule, or nothing.
func (r Rule) Check() string {
	known, ok := means[r.Sign]
	switch most := r.greatest(); {
	case !ok:
		return fmt.Sprintf("sign %q is unknown, use one of %q", r.Sign, signs)
	case !slices.Contains(known, r.Means()):
		return fmt.Sprintf("by %q: %s goes by one of %q", r.By, r.Sign, known)
	case !slices.Contains([]string{"", Report, Advise, Stop}, r.Use):
		return fmt.Sprintf("use %q is unknown, use one of %q", r.Use, []string{Report, Advise, Stop})
	case !(r.Threshold >= 0 && r.Threshold <= most):
		return fmt.Sprintf("threshold %v: use 0 for the default, or up to %v", r.Threshold, most)
	}
	return ""
}

// greatest is the greatest threshold that means something.
func (r Rule) greatest() float64 {
	switch {
	case r.Sign == Diminishing:
		return 100
	case r.Sign == Drifting && r.Means() == marks:
		return 10
	}
	return 1
}

// Watch applies rules to the rounds of a debate. As its detectors, it is told of each round once, in order: of the
// speeches (Spoken), and then of the judges' word (Judged), where there is any. Its zero value finds nothing.
type Watch struct {
	Rules  []Rule
	Topic  string
	Seats  []transcript.Seat
	Answer func(transcript.Turn) string // what a turn answers, in a canonical form, or ""; nil: nothing

	detectors  []any // by rule
	repetitive bool  // the round at hand is, by a rule
}

// Spoken looks at the turns of a round, and at their vectors where an embedder made some.
func (w *Watch) Spoken(turns []transcript.Turn, said []Vector) (found []Finding) {
	w.begin()
	w.repetitive = false
	for i, r := range w.Rules {
		var f Finding
		switch d := w.detectors[i].(type) {
		case *Repetition:
			f = d.Round(turns)
		case *Echo:
			if f = d.Round(said); f.Round == 0 {
				f.Round = roundOf(turns)
			}
		case *Engagement:
			f = d.Round(turns)
		case *Unanimity:
			f = d.Round(turns)
		case *Drift:
			if r.Means() != words {
				continue
			}
			f = d.Round(turns)
		case *Convergence:
			if r.Means() != answers {
				continue
			}
			f = d.Round(turns)
		default:
			continue
		}
		w.repetitive = w.repetitive || f.Sign == Repetitive && f.Found
		found = append(found, r.use(f))
	}
	return found
}

// Judged looks at what the judges said of a round: the means of their scores, the mean relevance among them, and the flag
// of each that the participants have converged. Unknown scores are NaN.
func (w *Watch) Judged(s Scores, relevance float64, converged ...bool) (found []Finding) {
	w.begin()
	s.Repetitive = s.Repetitive || w.repetitive
	for i, r := range w.Rules {
		var f Finding
		switch d := w.detectors[i].(type) {
		case *DiminishingReturns:
			f = d.Round(s)
		case *Drift:
			if r.Means() != marks {
				continue
			}
			f = d.Scored(s.Round, relevance)
		case *Convergence:
			if r.Means() != marks {
				continue
			}
			f = d.Judged(s.Round, converged...)
		default:
			continue
		}
		found = append(found, r.use(f))
	}
	return found
}

// begin makes the detectors.
func (w *Watch) begin() {
	if w.detectors != nil || len(w.Rules) == 0 {
		return
	}
	for _, r := range w.Rules {
		w.detectors = append(w.detectors, w.detector(r))
	}
}

func (w *Watch) detector(r Rule) any {
	switch t := r.Threshold; r.Sign {
	case Repetitive:
		if r.Means() == vectors {
			return &Echo{Cosine: t}
		}
		return &Repetition{Overlap: t}
	case Diminishing:
		return &DiminishingReturns{Rounds: int(math.Ceil(t))}
	case Drifting:
		if r.Means() == marks {
			return &Drift{Topic: w.Topic, Relevance: t}
		}
		return &Drift{Topic: w.Topic, Similarity: t}
	case Disengaged:
		return &Engagement{Topic: w.Topic, Seats: w.Seats, Least: t}
	case Converged:
		return &Convergence{Answer: w.Answer, Share: t}
	case Unanimous:
		return &Unanimity{Answer: w.Answer}
	}
	return nil
}

// use marks a finding with what follows from it.
func (r Rule) use(f Finding) Finding {
	f.Use = cmp.Or(r.Use, Report)
	return f
}
