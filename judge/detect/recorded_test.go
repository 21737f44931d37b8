package detect_test

// This file measures the figures on detectors in docs/measured/detectors.md, on recorded debates outside the repository.

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/transcript"
)

func TestThePageSaysWhatIsMeasured(t *testing.T) {
	golden.Section(t, "../../docs/measured/detectors.md", "detectors", section(t))
}

type debate struct {
	Topic string
	Turns []struct{ Speaker, Text string }
}

// rounds groups the turns into rounds: round n holds the nth turn of each speaker.
func (d debate) rounds() (rounds [][]transcript.Turn) {
	spoken := map[string]int{}
	for _, t := range d.Turns {
		n := spoken[t.Speaker]
		spoken[t.Speaker]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], round(n+1, t.Speaker, t.Text)...)
	}
	return rounds
}

type recording struct {
	name    string
	debates []debate
}

func section(t *testing.T) string {
	recordings := []recording{
		{"two sides", recorded.Lines[debate](t, "speeches.jsonl")},
		{"three factions", recorded.Lines[debate](t, "panel-debates.jsonl")},
	}
	var b strings.Builder
	b.WriteString("## What the detectors find in recorded debates\n\n" +
		"`go test ./judge/detect -update` measures these figures and writes this section. The recordings are not part of the repository:\n" +
		"21 debates between two sides with six speeches each (DebateBench), and 30 debates between three factions with eleven turns\n" +
		"each, on three scenarios. The samples are small: the figures show what to expect, and prove little.\n")
	repetition(&b, recordings)
	drift(&b, recordings)
	unanimity(t, &b, recorded.Lines[vote](t, "vote-answers.jsonl"))
	b.WriteString("\n### What was not measured\n\n" +
		"The recordings contain no embedding vectors, no judge's scores for each round, and no texts that belong to the answers. So\n" +
		"repetition by vectors, diminishing returns, drift by scores, and convergence are tested but not measured. Their defaults\n" +
		"were given or chosen.\n")
	return b.String()
}

func repetition(b *strings.Builder, recordings []recording) {
	b.WriteString("\n### Repetition\n\n" +
		"The table shows how much a turn overlaps with earlier turns of the same speaker. The last column compares the turn with\n" +
		"another debate instead: with the earlier turns of the speaker of the same name. It shows the overlap that comes from\n" +
		"topic, style and format.\n\n" +
		"| debates | turn of the speaker | n | median | 90th percentile | median, other debate |\n|---|---|---|---|---|---|\n")
	for _, r := range recordings {
		own, elsewhere := map[int][]float64{}, map[int][]float64{}
		for i, d := range r.debates {
			other := r.debates[(i+1)%len(r.debates)].rounds()
			var single detect.Repetition
			for n, turns := range d.rounds() {
				for _, t := range turns {
					own[n] = append(own[n], single.Round([]transcript.Turn{t}).Value)
					elsewhere[n] = append(elsewhere[n], overlap(other[:n], t))
				}
			}
		}
		for n := 1; n < len(own); n++ {
			fmt.Fprintf(b, "| %s | %d | %d | %.2f | %.2f | %.2f |\n", r.name, n+1, len(own[n]),
				quantile(own[n], 0.5), quantile(own[n], 0.9), quantile(elsewhere[n], 0.5))
		}
	}
	plantedRepetitions(b, recordings)
}

func overlap(before [][]transcript.Turn, now transcript.Turn) float64 {
	var d detect.Repetition
	for _, turns := range before {
		d.Round(slices.DeleteFunc(slices.Clone(turns), func(t transcript.Turn) bool { return t.Actor != now.Actor }))
	}
	return d.Round([]transcript.Turn{now}).Value
}

func drift(b *strings.Builder, recordings []recording) {
	b.WriteString("\n### Drift\n\n" +
		"The value is the share of the topic's words that occur in a turn, averaged over the turns of a round. *On the topic* are\n" +
		"the rounds of the debates as they were held: each finding is a false alarm. *Spliced* are rounds from the next five\n" +
		"debates, if they have another topic. Brackets contain 95 % confidence intervals.\n\n" +
		"| debates | rounds | n | 10th percentile | median | 90th percentile | drifting at 0.25 | debates with a false alarm |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range recordings {
		own, spliced, alarms := r.drift()
		for _, row := range []struct {
			name   string
			values driftValues
			alarms string
		}{
			{"on the topic", own, fmt.Sprintf("%d of %d, %s", alarms, len(r.debates), accuracy(alarms, len(r.debates)))},
			{"spliced", spliced, ""},
		} {
			v := row.values.list
			fmt.Fprintf(b, "| %s | %s | %d | %.2f | %.2f | %.2f | %d, %s | %s |\n", r.name, row.name, len(v),
				quantile(v, 0.1), quantile(v, 0.5), quantile(v, 0.9), row.values.found, accuracy(row.values.found, len(v)), row.alarms)
		}
	}
	b.WriteString("\nThe default threshold was chosen on the debates between two sides, whose topics are short sentences that differ strongly.\n" +
		"Rounds of a debate depend on one another, so the intervals of rounds are too narrow. Real drift is slower than a splice.\n" +
		"Expect the detector to find less in your debates.\n")
}

// driftValues holds the values of rounds, and the number of rounds that drift.
type driftValues struct {
	list  []float64
	found int
}

// drift measures the rounds of the debates and of spliced ones, and counts the debates with a false alarm.
func (r recording) drift() (own, spliced driftValues, alarms int) {
	for i, d := range r.debates {
		detector := detect.Drift{Topic: d.Topic}
		before := own.found
		for j := range 6 {
			other, to := r.debates[(i+j)%len(r.debates)], &spliced
			if j == 0 {
				to = &own
			} else if d.Topic == other.Topic {
				continue
			}
			for _, turns := range other.rounds() {
				f := detector.Round(turns)
				to.list, to.found = append(to.list, f.Value), to.found+one(f.Found)
			}
		}
		alarms += one(own.found > before)
	}
	return own, spliced, alarms
}

// vote is a question with the answer of each agent in each round. Null means no answer.
type vote struct{ recorded.Votes }

func (v vote) round(n int) []transcript.Turn {
	var said []string
	for i, a := range v.Answers[n] {
		answer := ""
		if a != nil {
			answer = fmt.Sprint(a)
		}
		said = append(said, string(rune('a'+i)), answer)
	}
	return round(n+1, said...)
}

// right reports whether the most frequent answer of a round is right. If two are equally frequent, the first one counts.
func (v vote) right(n int) bool {
	votes, best := map[any]int{}, any(nil)
	for _, a := range v.Answers[n] {
		if a != nil {
			votes[a]++
		}
	}
	for _, a := range v.Answers[n] {
		if a != nil && votes[a] > votes[best] {
			best = a
		}
	}
	return best == v.Gold
}

// tally counts the results for the questions of one kind.
type tally struct {
	debates, agents, first, rightFirst, rightLast, rightStopped int // first counts right answers of single agents in round 1
	unanimous, wrong, unanimousLast, wrongLast                  int // in round 1 and in the last round
	calls, callsStopped, mended, spoilt                         int // mended counts questions with a wrong first vote and a right last one
}

func (s *tally) add(v vote) {
	detector := detect.Unanimity{Answer: text}
	last := len(v.Answers) - 1
	stopped := last
	for n := last; n >= 0; n-- {
		if detector.Round(v.round(n)).Found {
			stopped = n
		}
	}
	s.debates, s.agents = s.debates+1, s.agents+v.Agents
	for _, a := range v.Answers[0] {
		s.first += one(a == v.Gold)
	}
	first, final := v.right(0), v.right(last)
	s.rightFirst += one(first)
	s.rightLast += one(final)
	s.rightStopped += one(v.right(stopped))
	s.mended, s.spoilt = s.mended+one(!first && final), s.spoilt+one(first && !final)
	s.calls, s.callsStopped = s.calls+v.Agents*(last+1), s.callsStopped+v.Agents*(stopped+1)
	if detector.Round(v.round(0)).Found {
		s.unanimous, s.wrong = s.unanimous+1, s.wrong+one(!first)
	}
	if detector.Round(v.round(last)).Found {
		s.unanimousLast, s.wrongLast = s.unanimousLast+1, s.wrongLast+one(!final)
	}
}

func unanimity(t *testing.T, b *strings.Builder, votes []vote) {
	sets := []struct{ prefix, name string }{{"gsm", "GSM8K"}, {"mmlu", "MMLU"}, {"math", "arithmetic"}}
	b.WriteString("\n### Stopping on unanimity\n\n" +
		"Three agents answer, read each other's answers, and answer again (published runs of Du et al.'s protocol). A plain vote\n" +
		"uses only round 1, and so half the calls. Stopping on unanimity runs round 2 only if round 1 is not unanimous. A missing\n" +
		"answer agrees with no other answer. If two answers are equally frequent, the first one counts. Brackets contain 95 %\n" +
		"confidence intervals. *p* is the probability that chance alone makes the second round correct and spoil votes as\n" +
		"unevenly as it did, or more so (McNemar's exact test).\n\n" +
		"| questions | n | one agent | plain vote | debate | stopped on unanimity | calls saved |\n|---|---|---|---|---|---|---|\n")
	var rows []string
	for _, set := range sets {
		var s tally
		for _, v := range votes {
			if strings.HasPrefix(v.Set, set.prefix) && v.Agents == 3 {
				s.add(v)
			}
		}
		require.NotZero(t, s.debates)
		fmt.Fprintf(b, "| %s | %d | %.3f | %s | %s | %s | %s |\n", set.name, s.debates, float64(s.first)/float64(s.agents),
			accuracy(s.rightFirst, s.debates), accuracy(s.rightLast, s.debates), accuracy(s.rightStopped, s.debates), percent(s.calls-s.callsStopped, s.calls))
		rows = append(rows, fmt.Sprintf("| %s | %s | %d | %s | %d | %d | %d | %s |\n", set.name, percent(s.unanimous, s.debates), s.wrong,
			percent(s.unanimousLast, s.debates), s.wrongLast, s.mended, s.spoilt, chance(s.mended, s.spoilt)))
	}
	b.WriteString("\nThe second round changed the votes as follows:\n\n" +
		"| questions | unanimous in round 1 | of these wrong | in round 2 | of these wrong | corrected by round 2 | made wrong | p |\n|---|---|---|---|---|---|---|---|\n" +
		strings.Join(rows, "") +
		"\nWhere *p* is above 0.05, these recordings do not show that the plain vote and the debate differ: a plain vote of half the\n" +
		"calls may then do as well. Stopping on unanimity saves more than a quarter of the calls. Its accuracy differs from that of\n" +
		"the debate by less than the intervals can show. A unanimous answer can be wrong, in round 2 as in round 1. The six runs of\n" +
		"arithmetic ask similar questions, so its intervals are too narrow and its *p* is too small. The table omits the debates of\n" +
		"two agents, in all of which both agents were right from the start.\n")
}

// chance returns the probability of a split of a + b changes that is at least as uneven as this one, if each has the same
// chance to be of either kind.
func chance(a, b int) string {
	n, p := a+b, 0.0
	for i := range min(a, b) + 1 {
		ways, _ := math.Lgamma(float64(n + 1))
		first, _ := math.Lgamma(float64(i + 1))
		rest, _ := math.Lgamma(float64(n - i + 1))
		p += math.Exp(ways - first - rest - float64(n)*math.Ln2)
	}
	p = min(2*p, 1)
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.2f", p)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// accuracy formats a share with its Wilson interval.
func accuracy(right, n int) string {
	const z = 1.96
	p, m := float64(right)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m)) / (1 + z*z/m)
	return fmt.Sprintf("%.3f [%.2f, %.2f]", p, middle-half, middle+half)
}

func quantile(values []float64, q float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[int(q*float64(len(values)-1)+0.5)]
}

func atLeast(values []float64, least float64) (n int) {
	for _, v := range values {
		n += one(v >= least)
	}
	return n
}
