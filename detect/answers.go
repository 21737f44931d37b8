package detect

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

// Unanimity finds rounds in which all give the same answer.
//
// The value is the share of the round's speakers who give the most frequent answer; found is a share of 1 among at least
// two speakers. Of a speaker's several speeches the last one counts. An empty answer is none, and no answer agrees with
// nothing: a speaker without one, or for whom a fallback stands in, keeps the round from being unanimous.
//
// To agree is not to be right. In 100 published debates on school mathematics the unanimous ones went from 61 to 94, and
// the unanimous wrong ones among them from 3 to 17; docs/judging.md has what stopping on it saves and costs. Answers are
// compared as they are: 0.5 and 1/2 differ unless Answer makes them equal. Who did not speak in the round is not missed,
// unless Least says so.
type Unanimity struct {
	Answer      func(transcript.Turn) string // what a turn answers, in a canonical form, or ""; nil: nothing
	MinSpeakers int                          // speakers with an answer; defaults to 2
}

// Round looks at the turns of one round.
func (d *Unanimity) Round(turns []transcript.Turn) Finding {
	b := tallyAnswers(turns, d.Answer)
	return Finding{
		Signal: Unanimous, Round: roundOf(turns), Value: b.share(), Evidence: b.String(),
		Found: b.votes == b.speakers && b.speakers >= orDefault(d.MinSpeakers, 2),
	}
}

// convergence finds that participants have come to one answer and stay with it, by their answers (Round) or by the
// judge's word (Judged).
//
// By answers, it is found where the most frequent answer is the same in the last 2 rounds, each time with at least three
// quarters of at least two speakers behind it. The value is that share in the round at hand. Answers count as in
// [Unanimity]. A round that is not the successor of the one before begins the look-back anew.
//
// Word overlap is no evidence, so nothing here looks at it: in published debates the words of final answers were hardly
// more alike where they agreed than where they did not (.67 against .60 in one set, .42 against .39 in another).
//
// Both defaults are chosen, not measured. A minority that was talked down is not told from one that was persuaded, and
// speakers can converge on what is wrong.
type convergence struct {
	Answer func(transcript.Turn) string // what a turn answers, in a canonical form, or ""; nil: nothing
	Share  float64                      // of the speakers, 0 to 1; defaults to 0.75
	Rounds int                          // without a break; defaults to 2

	answer string // with enough behind it in the last round
	run    int    // of rounds with that answer
	round  int    // the last one
}

// Round looks at the turns of one round, all of them at once.
func (d *convergence) Round(turns []transcript.Turn) Finding {
	b, share, rounds := tallyAnswers(turns, d.Answer), orDefault(d.Share, 0.75), orDefault(d.Rounds, 2)
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
		Evidence: fmt.Sprintf("%s, at least %.2f of them for %d rounds without a break, %d are enough", b, share, d.run, rounds),
	}
}

// ByFlags looks at the flags that the judges gave one round. The value is the share of judges who say that the
// participants have converged; found is more than half. It is as good as the judges.
func (d *convergence) ByFlags(round int, flags ...bool) Finding {
	f := Finding{Signal: Converged, Round: round, Evidence: "no judge's word"}
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

// answerTally is the most frequent answer of a round, of equally frequent ones the first by the alphabet.
type answerTally struct {
	answer   string
	votes    int // for that answer
	speakers int // with and without an answer
}

func tallyAnswers(turns []transcript.Turn, answer func(transcript.Turn) string) answerTally {
	last := map[string]string{} // by speaker
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

func (b answerTally) share() float64 {
	if b.speakers == 0 {
		return 0
	}
	return float64(b.votes) / float64(b.speakers)
}

// String quotes the answer, cut at 60 characters.
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
