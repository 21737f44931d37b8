package detect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

// TestTheDefaultOfRepetitionIsTheMeasuredOne fails if the default threshold is not the lowest one with false alarms in at
// most 1 % of the recorded rounds.
func TestTheDefaultOfRepetitionIsTheMeasuredOne(t *testing.T) {
	var all planted
	for _, file := range []string{"speeches.jsonl", "panel-debates.jsonl"} {
		all.measure(recorded.Lines[debate](t, file))
	}
	chosen := 1.0
	for _, threshold := range thresholds {
		if alarms, _ := all.alarms(threshold); 100*alarms <= len(all.plain) {
			chosen = min(chosen, threshold)
		}
	}
	require.InDelta(t, chosen, detect.RepetitionThreshold, 1e-9)
	require.Greater(t, atLeast(all.found[half], chosen), len(all.found[half])*95/100, "the default finds rounds of which half is repeated")
}

var (
	thresholds = []float64{0.35, 0.40, 0.45, 0.50, 0.55}
	shares     = []struct {
		name string
		of   float64
	}{{"a third", 1. / 3}, {"two fifths", 2. / 5}, {"half", 1. / 2}, {"two thirds", 2. / 3}}
)

const half = 2 // in shares

// planted holds the values of recorded rounds after the first, as they were spoken and with planted repetitions.
type planted struct {
	plain []float64
	most  []float64                  // the highest value of each debate
	found [4] /* shares */ []float64 // with this share of each turn planted
}

func (p *planted) measure(debates []debate) {
	for _, d := range debates {
		rounds, most := d.rounds(), 0.0
		for n := 1; n < len(rounds); n++ {
			value := valueAfter(rounds[:n], rounds[n])
			p.plain, most = append(p.plain, value), max(most, value)
			for i, share := range shares {
				p.found[i] = append(p.found[i], valueAfter(rounds[:n], plant(rounds[:n], rounds[n], share.of)))
			}
		}
		p.most = append(p.most, most)
	}
}

// alarms counts the recorded rounds, and the debates with such a round, that reach a threshold without a plant.
func (p *planted) alarms(threshold float64) (rounds, debates int) {
	return atLeast(p.plain, threshold), atLeast(p.most, threshold)
}

// valueAfter returns the value of a round after earlier rounds.
func valueAfter(before [][]transcript.Turn, now []transcript.Turn) float64 {
	var d detect.Repetition
	for _, turns := range before {
		d.Round(turns)
	}
	return d.Round(now).Value
}

// plant returns a round in which the last words of each turn are replaced by as many words with which the speaker's
// earlier turns begin.
func plant(before [][]transcript.Turn, now []transcript.Turn, share float64) (turns []transcript.Turn) {
	for _, t := range now {
		var earlier []string
		for _, round := range before {
			for _, u := range round {
				if u.Actor == t.Actor {
					earlier = append(earlier, strings.Fields(u.Text)...)
				}
			}
		}
		words := strings.Fields(t.Text)
		n := min(int(share*float64(len(words))), len(earlier))
		t.Text = strings.Join(append(words[:len(words)-n:len(words)-n], earlier[:n]...), " ")
		turns = append(turns, t)
	}
	return turns
}

// plantedRepetitions writes the part of the page about planted repetitions.
func plantedRepetitions(b *strings.Builder, recordings []recording) {
	var all planted
	for _, r := range recordings {
		all.measure(r.debates)
	}
	fmt.Fprintf(b, "\nTo choose the default threshold, the test plants repetitions: in each of the %d rounds after the first, it replaces the last\n"+
		"words of each turn by as many words from the beginning of the speaker's earlier turns. The table shows how many of these\n"+
		"rounds the detector finds, by the share of the words that is replaced, and how many rounds it finds as they were spoken\n"+
		"(false alarms).\n\n"+
		"| threshold | false alarms: rounds | debates with one |", len(all.plain))
	for _, share := range shares {
		fmt.Fprintf(b, " found: %s |", share.name)
	}
	b.WriteString("\n|---|---|---|---|---|---|---|\n")
	for _, threshold := range thresholds {
		rounds, debates := all.alarms(threshold)
		fmt.Fprintf(b, "| %.2f | %d of %d | %d of %d |", threshold, rounds, len(all.plain), debates, len(all.most))
		for i := range shares {
			fmt.Fprintf(b, " %s |", percent(atLeast(all.found[i], threshold), len(all.found[i])))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\nThe default, %.2f, is the lowest of these thresholds with false alarms in at most 1 %% of the rounds. A false alarm is not\n"+
		"always wrong: the rounds with the highest values are closing statements that repeat the speaker's main points. Real\n"+
		"repetition uses other words more often than a plant does. Expect the detector to find less in your debates.\n", detect.RepetitionThreshold)
}
