// Package detect measures, without a model, whether a debate repeats itself, brings less each round, drifts off its
// topic or reaches agreement.
//
//	d := detect.Detector{
//		Topic: "Should cities ban private cars?",
//		Rules: []detect.Rule{
//			{Signal: detect.Repetitive, Effect: detect.Stop},
//			{Signal: detect.Drifting, Method: "words"},
//		},
//	}
//	for _, f := range d.CheckSpeeches(turns, nil) { // the turns of one round
//		fmt.Println(f)
//	}
//
// A [Detector] runs one check for each of its [Rule]s. Pass it each round once, in order. It returns a [Finding] for
// each rule. A check keeps what it needs of earlier rounds in a compact form, so a round takes time in proportion to
// its own text, however long the debate is. The same rounds give the same findings, so you can rebuild a lost
// Detector by passing the same rounds to a new one. A Detector does no I/O and reads no clock. Use one for one run of
// one debate. It must not be copied after its first round and is not safe for concurrent use.
//
// Text detectors read only speeches. They skip turns with the flag [transcript.Defaulted], because no speaker said
// those words. A word is a run of letters, marks and digits in any script, in any case. In scripts that put no spaces
// between words, each letter is a word. Characters that are composed differently (é as one rune or as two) are
// different.
package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Signal names what a detector looks for.
type Signal string

// The signals. Stored findings contain these values.
const (
	// Repetitive means that speakers repeat themselves. By words, the overlap of a turn is the share of its distinct
	// sequences of three words that its speaker used before. By vectors, the similarity of a turn is the highest
	// cosine between its embedding and those of the speaker's last eight turns; what a cosine means depends on the
	// embedding model. The value is the mean over the round's turns. The threshold defaults to 0.45 by words and 0.85
	// by vectors.
	Repetitive Signal = "repetitive"
	// Diminishing means that quality and novelty fell in each step of the last 3 rounds, or that the last 2 rounds
	// were repetitive. The value is the greater of two shares: the share of the steps that fell, and the share of the
	// 2 rounds that were repetitive. The threshold is the number of rounds over which scores must fall; it defaults
	// to 3.
	Diminishing Signal = "diminishing_returns"
	// Drifting means that a round left the topic. By scores, the value is a tenth of the mean score for relevance.
	// The threshold is a score below which a round is drifting, and defaults to 5. By words, the value is the mean
	// share of the topic's words of at least four letters that occur in a turn. The threshold defaults to 0.25.
	Drifting Signal = "drifting"
	// Converged means that participants agree. By scores, the value is the share of judges who say so, and the signal
	// is found if it is more than half. By answers, the value is the share of speakers who give the most frequent
	// answer, which must be the same answer in 2 consecutive rounds. The threshold for answers defaults to 0.75.
	Converged Signal = "converged"
	// Unanimous means that all speakers of a round, at least two, give the same answer. See [Unanimity].
	Unanimous Signal = "unanimous"
)

// Finding is the result of one rule for one round. It is plain data. To report it, keep it. To advise a judge, put
// its Advice into the prompt. To stop the debate, return its Ending.
//
// The evidence names speakers. The evidence of agreement also quotes an answer, cut at 60 characters. If a judge must
// not learn who the participants are, or must be protected from instructions in their answers, treat the evidence
// like any other text of a participant.
type Finding struct {
	Signal   Signal  `json:"signal"`
	Round    int     `json:"round"`            // 0 if the detector received no turns
	Found    bool    `json:"found"`            // whether the value passes the threshold
	Value    float64 `json:"value"`            // the measured value, 0 to 1; each Signal defines its meaning
	Evidence string  `json:"evidence"`         // the measurement in words
	Effect   string  `json:"effect,omitempty"` // what the rule does about it; set by a Detector
}

// String returns one line, such as "round 3: repetitive: …" or "round 3: not repetitive: …".
func (f Finding) String() string {
	not := "not "
	if f.Found {
		not = ""
	}
	return fmt.Sprintf("round %d: %s%s: %s", f.Round, not, strings.ReplaceAll(string(f.Signal), "_", " "), f.Evidence)
}

// Advice returns String without quoted words of speakers, so that no speaker can instruct a judge through it.
func (f Finding) Advice() string {
	s := f.String()
	from, to := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"')
	if from < 0 || from == to {
		return s
	}
	return s[:from] + "the same" + s[to+1:]
}

// Ending returns the ending of a debate that stops on the finding, or the zero Ending if nothing was found. Signals
// without an outcome of their own give [transcript.EarlyStop].
func (f Finding) Ending() transcript.Ending {
	if !f.Found {
		return transcript.Ending{}
	}
	outcome := transcript.EarlyStop
	switch f.Signal {
	case Diminishing:
		outcome = transcript.DiminishingReturns
	case Converged:
		outcome = transcript.Converged
	case Unanimous:
		outcome = transcript.Unanimous
	default:
	}
	return transcript.Ending{Outcome: outcome, Round: f.Round, Evidence: f.String()}
}

// speeches returns the turns that a participant spoke.
func speeches(turns []transcript.Turn) []transcript.Turn {
	var said []transcript.Turn
	for _, t := range turns {
		if t.Kind == transcript.Speech && !slices.Contains(t.Flags, transcript.Defaulted) {
			said = append(said, t)
		}
	}
	return said
}

// roundOf returns the round of turns, which all belong to the same round. It returns 0 if there are none.
func roundOf(turns []transcript.Turn) int {
	if len(turns) == 0 {
		return 0
	}
	return turns[0].Round
}

// turnValue is the measured value of one turn.
type turnValue struct {
	actor string
	value float64
}

// mean returns the mean of the values. It sorts them first, so the order of parts does not change even the last bit.
func mean(parts []turnValue) float64 {
	if len(parts) == 0 {
		return 0
	}
	values := make([]float64, len(parts))
	for i, p := range parts {
		values[i] = p.value
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

const maxListed = 8 // entries of a list in evidence, to keep it short

// formatValues lists actors with their values.
func formatValues(parts []turnValue) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprintf("%s %.2f", p.actor, p.value)
	}
	return joinLimited(words)
}

// joinLimited joins the first maxListed words and counts the rest.
func joinLimited(words []string) string {
	if more := len(words) - maxListed; more > 0 {
		words = append(words[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// orDefault returns setting, or otherwise if setting is not positive.
func orDefault[T int | float64](setting, otherwise T) T {
	if setting > 0 {
		return setting
	}
	return otherwise
}
