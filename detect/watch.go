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
	// Threshold replaces the default threshold of the sign. 0 means the default.
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

	looks      []looks // by rule
	repetitive bool    // the round at hand is, by a rule
}

// looks are what a rule makes of a round: of its speeches, or of the judges' word; the other is nil.
type looks struct {
	spoken func(turns []transcript.Turn, said []Vector) Finding
	judged func(s Scores, relevance float64, converged []bool) Finding
}

// Spoken looks at the turns of a round, and at their vectors where an embedder made some.
func (w *Watch) Spoken(turns []transcript.Turn, said []Vector) (found []Finding) {
	w.begin()
	w.repetitive = false
	for i, r := range w.Rules {
		if look := w.looks[i].spoken; look != nil {
			f := look(turns, said)
			w.repetitive = w.repetitive || f.Sign == Repetitive && f.Found
			found = append(found, r.use(f))
		}
	}
	return found
}

// Judged looks at what the judges said of a round: the means of their scores, the mean relevance among them, and the flag
// of each that the participants have converged. Unknown scores are NaN.
func (w *Watch) Judged(s Scores, relevance float64, converged ...bool) (found []Finding) {
	w.begin()
	s.Repetitive = s.Repetitive || w.repetitive
	for i, r := range w.Rules {
		if look := w.looks[i].judged; look != nil {
			found = append(found, r.use(look(s, relevance, converged)))
		}
	}
	return found
}

// begin makes the detectors.
func (w *Watch) begin() {
	for i := len(w.looks); i < len(w.Rules); i++ {
		w.looks = append(w.looks, w.look(w.Rules[i]))
	}
}

// pair is a sign and what it is measured by.
type pair struct {
	sign Sign
	by   string
}

// look makes the detector of a rule.
func (w *Watch) look(r Rule) looks {
	t := r.Threshold
	switch (pair{r.Sign, r.Means()}) {
	case pair{Repetitive, words}:
		return hearing((&repetition{Overlap: t}).Round)
	case pair{Repetitive, vectors}:
		d := &echo{Cosine: t}
		return looks{spoken: func(turns []transcript.Turn, said []Vector) Finding {
			f := d.Round(said)
			f.Round = roundOf(turns)
			return f
		}}
	case pair{Disengaged, words}:
		return hearing((&engagement{Topic: w.Topic, Seats: w.Seats, Least: t}).Round)
	case pair{Unanimous, answers}:
		return hearing((&Unanimity{Answer: w.Answer}).Round)
	case pair{Drifting, words}:
		return hearing((&drift{Topic: w.Topic, Similarity: t}).Round)
	case pair{Converged, answers}:
		return hearing((&convergence{Answer: w.Answer, Share: t}).Round)
	case pair{Diminishing, marks}:
		d := &diminishingReturns{Rounds: int(math.Ceil(t))}
		return looks{judged: func(s Scores, _ float64, _ []bool) Finding { return d.Round(s) }}
	case pair{Drifting, marks}:
		d := &drift{Relevance: t}
		return looks{judged: func(s Scores, relevance float64, _ []bool) Finding { return d.Scored(s.Round, relevance) }}
	case pair{Converged, marks}:
		d := &convergence{}
		return looks{judged: func(s Scores, _ float64, converged []bool) Finding { return d.Judged(s.Round, converged...) }}
	}
	return looks{} // Check refuses it
}

// hearing is a detector that looks at speeches alone.
func hearing(round func([]transcript.Turn) Finding) looks {
	return looks{spoken: func(turns []transcript.Turn, _ []Vector) Finding { return round(turns) }}
}

// use marks a finding with what follows from it.
func (r Rule) use(f Finding) Finding {
	f.Use = cmp.Or(r.Use, Report)
	return f
}
