package detect

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// Unanimity finds rounds in which all speakers give the same answer.
//
// The value is the share of the round's speakers who give the most frequent answer. The signal is found if the share
// is 1 among at least two speakers. If a speaker speaks several times, the last speech counts. An empty answer is no
// answer and agrees with nothing, so a speaker without an answer, or with a default in place of a speech, keeps the
// round from being unanimous.
//
// Agreement does not mean that the answer is right. In 100 published debates on school mathematics the number of
// unanimous debates rose from 61 to 94, and the number of unanimous wrong ones from 3 to 17. docs/measured/detectors.md shows
// what stopping on unanimity saves and costs. Answers are compared literally: 0.5 and 1/2 differ unless Answer makes
// them equal. A participant who did not speak in the round is ignored, unless MinSpeakers requires more speakers.
type Unanimity struct {
	Answer      func(transcript.Turn) string // the answer of a turn in canonical form, or ""; nil means no answers
	MinSpeakers int                          // minimum number of speakers with an answer; defaults to 2
}

// Round checks the turns of one round.
func (d *Unanimity) Round(turns []transcript.Turn) Finding {
	b := tallyAnswers(turns, d.Answer)
	return Finding{
		Signal: Unanimous, Round: roundOf(turns), Value: b.share(), Evidence: b.String(),
		Found: b.votes == b.speakers && b.speakers >= orDefault(d.MinSpeakers, 2),
	}
}

// convergence finds that participants agree on one answer and keep it, either by their answers (Round) or by the
// judges' flags (ByFlags).
//
// By answers, the signal is found if the most frequent answer is the same in the last 2 rounds, and at least three
// quarters of at least two speakers give it in each. The value is that share in the current round. Answers count as
// in [Unanimity]. If a round does not directly follow the round before, counting starts again.
//
// Word overlap is no evidence of agreement, so the detector does not use it. In published debates the words of final
// answers were hardly more alike where they agreed than where they did not (.67 against .60 in one set, .42 against
// .39 in another).
//
// Both defaults were chosen, not measured. The detector cannot tell a minority that was talked down from one that was
// persuaded, and speakers can converge on a wrong answer.
type convergence struct {
	Answer func(transcript.Turn) string // returns the answer of a turn in canonical form, or ""; nil means no answers
	Share  float64                      // minimum share of the speakers, 0 to 1; defaults to 0.75
	Rounds int                          // minimum number of consecutive rounds; defaults to 2

	answer string // the answer that reached the share in the last round
	run    int    // consecutive rounds with that answer
	round  int    // the last round
}

// Round checks the turns of one round. Pass all turns of a round in one call.
func (d *convergence) Round(turns []transcript.Turn) Finding {
	b := tallyAnswers(turns, d.Answer)
	share := orDefault(d.Share, 0.75)
	rounds := orDefault(d.Rounds, 2)
	round := roundOf(turns)
	switch {
	case b.speakers < 2 || b.votes == 0 || b.share() < share:
		d.run = 0
	case d.run > 0 && b.answer == d.answer && round == d.round+1:
		d.run++
	default:
		d.run = 1
	}
	d.answer, d.round = b.answer, round
	return Finding{
		Signal: Converged, Round: round, Found: d.run >= rounds, Value: b.share(),
		Evidence: fmt.Sprintf("%s; a share of at least %.2f for %d consecutive rounds (converged from %d)", b, share, d.run, rounds),
	}
}

// ByFlags checks the flags that the judges gave for one round, one for each judge. The value is the share of judges who
// say that the participants converged. The signal is found if it is more than half. It is only as reliable as the
// judges.
func (d *convergence) ByFlags(round int, flags ...bool) Finding {
	f := Finding{Signal: Converged, Round: round, Evidence: "no judge says whether the participants agree"}
	if len(flags) == 0 {
		return f
	}
	say := 0
	for _, flag := range flags {
		if flag {
			say++
		}
	}
	f.Value, f.Found = float64(say)/float64(len(flags)), 2*say > len(flags)
	f.Evidence = fmt.Sprintf("%d of %d judges say that the participants agree on the substance", say, len(flags))
	return f
}

// answerTally holds the most frequent answer of a round. If several are equally frequent, it holds the alphabetically
// first.
type answerTally struct {
	answer   string
	votes    int // speakers with that answer
	speakers int // with and without an answer
}

// tallyAnswers counts the answers in turns, one for each speaker.
func tallyAnswers(turns []transcript.Turn, answer func(transcript.Turn) string) answerTally {
	last := map[string]string{} // last answer by speaker
	for _, t := range turns {
		if t.Kind != transcript.Speech {
			continue
		}
		last[t.Actor] = ""
		if answer != nil && !slices.Contains(t.Flags, transcript.Defaulted) {
			last[t.Actor] = answer(t)
		}
	}
	b := answerTally{speakers: len(last)}
	votes := map[string]int{}
	for _, a := range last {
		if a == "" {
			continue
		}
		votes[a]++
		if n := votes[a]; n > b.votes || n == b.votes && a < b.answer {
			b.answer, b.votes = a, n
		}
	}
	return b
}

// share returns the share of the speakers who give the most frequent answer.
func (b answerTally) share() float64 {
	if b.speakers == 0 {
		return 0
	}
	return float64(b.votes) / float64(b.speakers)
}

// String describes the tally and quotes the answer, cut at 60 characters.
func (b answerTally) String() string {
	if b.votes == 0 {
		return fmt.Sprintf("none of %d speakers gives an answer", b.speakers)
	}
	answer := []rune(b.answer)
	if len(answer) > 60 {
		answer = append(answer[:59:59], '…')
	}
	return fmt.Sprintf("%d of %d speakers answer %q", b.votes, b.speakers, string(answer))
}
