// Package detect finds, without a model, what can be measured about a debate: that speakers repeat themselves, that
// rounds bring less and less, that the topic was left, that nobody answers anybody, that answers agree.
//
// A [Watch] has a detector for each of its [Rule]s. It is told of each round once, in order, and returns a [Finding] for
// each rule. A detector keeps what it needs of the rounds before in a form of its own, so that a round costs time in
// proportion to its own text, however long the debate is. The same rounds give the same findings: a Watch that is lost is
// made anew by telling another one of the same rounds. It does no I/O and reads no clock. One is for one run of one
// debate, must not be copied after its first round, and is not safe for concurrent use.
//
// Text detectors look at speeches alone, and pass over turns with the flag [transcript.Defaulted], whose words nobody
// said. They see words: runs of letters, marks and digits in any script, whatever their case. Where a script puts no
// spaces between words, each letter counts as one. Characters that are composed differently (é as one rune or as two)
// count as different.
package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/transcript"
)

// Signal names what a detector looks for.
type Signal string

// The signs. Stored findings have these words.
const (
	// Repetitive says that speakers repeat themselves. By words, a turn's overlap is the share of its distinct sequences of
	// three words that its speaker has used before. By vectors, a turn's similarity is the highest cosine of its vector and
	// those of its speaker's last eight turns; what a cosine means depends on the embedding model. The value is the mean
	// over the round's turns. The default threshold is 0.5 by words and 0.85 by vectors.
	Repetitive Signal = "repetitive"
	// Diminishing says that quality and novelty have fallen in each step of the last 3 rounds, or that the last 2 rounds were
	// repetitive. The value is the greater of two shares: of the steps that fell, and of the 2 rounds that were repetitive.
	// The threshold is the number of rounds in which scores must fall, 3 by default.
	Diminishing Signal = "diminishing_returns"
	// Drifting says that a round has left the topic. By marks, the value is a tenth of the mean score for relevance, and the
	// threshold is a score, 5 by default. By words, the value is the mean share of the topic's words of at least four letters
	// that stand in a turn, and the threshold is 0.25 by default.
	Drifting Signal = "drifting"
	// Disengaged says that speakers do not answer one another. The value is the share of turns that name an opponent or repeat
	// eight words of one, among the turns whose speaker had an opponent to answer. The threshold is 0.5 by default.
	Disengaged Signal = "disengaged"
	// Converged says that participants have come to agree. By marks, the value is the share of judges who say so, and more
	// than half are enough. By answers, the value is the share of speakers who give the most frequent answer, and it must be
	// the same answer in 2 rounds. The threshold for answers is 0.75 by default.
	Converged Signal = "converged"
	// Unanimous says that all speakers of a round, two at least, give the same answer. See [Unanimity].
	Unanimous Signal = "unanimous"
)

// Finding is what a detector says of one round. It is plain data: to report it, keep it as it is; to advise a judge,
// put its Advice into the prompt; to stop the debate, return its Ending.
//
// The evidence names speakers, and that of agreement quotes an answer, cut at 60 characters: where a
// judge must not know who is who, or must not be spoken to, treat it as any text of a participant.
type Finding struct {
	Signal   Signal  `json:"signal"`
	Round    int     `json:"round"`            // 0 where the detector was shown nothing
	Found    bool    `json:"found"`            // whether the value is past the threshold
	Value    float64 `json:"value"`            // what was measured, 0 to 1; what it means stands at the sign
	Evidence string  `json:"evidence"`         // what was measured, in words
	Effect   string  `json:"effect,omitempty"` // what follows from it, where a Watch found it
}

// String is one line, such as "round 3: repetitive: …" or "round 3: not repetitive: …".
func (f Finding) String() string {
	not := "not "
	if f.Found {
		not = ""
	}
	return fmt.Sprintf("round %d: %s%s: %s", f.Round, not, strings.ReplaceAll(string(f.Signal), "_", " "), f.Evidence)
}

// Advice is String without the words of speakers, which are nobody's advice.
func (f Finding) Advice() string {
	s := f.String()
	from, to := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"')
	if from < 0 || from == to {
		return s
	}
	return s[:from] + "the same" + s[to+1:]
}

// Ending is the ending of a debate that stops on the finding, and the zero Ending where nothing was found. Signs
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

// speeches are the turns that a participant spoke.
func speeches(turns []transcript.Turn) []transcript.Turn {
	var said []transcript.Turn
	for _, t := range turns {
		if t.Kind == transcript.Speech && !slices.Contains(t.Flags, transcript.Defaulted) {
			said = append(said, t)
		}
	}
	return said
}

// roundOf is the round of turns that are all of one.
func roundOf(turns []transcript.Turn) int {
	if len(turns) == 0 {
		return 0
	}
	return turns[0].Round
}

// A turnValue is what was measured of one turn.
type turnValue struct {
	actor string
	value float64
}

// mean does not depend on the order of the parts, not even in its last bit.
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

const maxListed = 8 // entries of a list in evidence, so that evidence is short

// formatValues lists the parts in words.
func formatValues(parts []turnValue) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprintf("%s %.2f", p.actor, p.value)
	}
	return joinLimited(words)
}

func joinLimited(words []string) string {
	if more := len(words) - maxListed; more > 0 {
		words = append(words[:maxListed:maxListed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// orDefault is the setting, orDefault the default where the setting is not positive.
func orDefault[T int | float64](setting, otherwise T) T {
	if setting > 0 {
		return setting
	}
	return otherwise
}
