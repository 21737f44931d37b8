package detect_test

// What docs/judging.md says of the detectors is measured here, on recorded debates that lie beside the checkout.

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/internal/recorded"
	"github.com/elenchus-go/debate/transcript"
)

func TestThePageSaysWhatIsMeasured(t *testing.T) {
	golden.Section(t, "../docs/judging.md", "detectors", section(t))
}

type debate struct {
	Topic string
	Turns []struct{ Speaker, Text string }
}

// rounds are the turns of which each is its speaker's first, second, and so on.
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
	calls   map[string][]string
}

func section(t *testing.T) string {
	recordings := []recording{
		{
			"two sides", recorded.Lines[debate](t, "speeches.jsonl"),
			map[string][]string{
				"pro": {"affirmative", "proponent", "proponents", "opponent", "opponents"},
				"con": {"negative", "opponent", "opponents"},
			},
		},
		{"three factions", recorded.Lines[debate](t, "panel-debates.jsonl"), nil},
	}
	var b strings.Builder
	b.WriteString("## What the detectors find in recorded debates\n\n" +
		"Measured by `go test ./detect -update`, which writes this section, on recordings that are no part of the repository:\n" +
		"21 debates of two sides, six speeches each (DebateBench), and 30 debates of three factions, eleven turns each, on three\n" +
		"scenarios. They are few, so these figures show what to expect, and prove little.\n")
	repetition(&b, recordings)
	drift(&b, recordings[0])
	engagement(&b, recordings)
	unanimity(t, &b, recorded.Lines[vote](t, "vote-answers.jsonl"))
	b.WriteString("\n### What was not measured\n\n" +
		"No recording at hand has embedding vectors, or a judge's scores round by round, or the texts to which answers belong. So\n" +
		"repetition by vectors, diminishing returns, drift by marks and convergence have tests, and no figures; their defaults are\n" +
		"given or chosen, not measured.\n")
	return b.String()
}

func repetition(b *strings.Builder, recordings []recording) {
	b.WriteString("\n### Repetition\n\n" +
		"Overlap of a turn with its speaker's earlier turns, by the speaker's turn. \"Elsewhere\" compares the same turns with what\n" +
		"the speaker of the same name said in the next debate of the file until then: what a topic, a style and a format share.\n\n" +
		"| debates | turn | n | median | nine in ten at most | 0.5 or more | median elsewhere |\n|---|---|---|---|---|---|---|\n")
	var found, all int
	for _, r := range recordings {
		own, elsewhere := map[int][]float64{}, map[int][]float64{}
		for i, d := range r.debates {
			other := r.debates[(i+1)%len(r.debates)].rounds()
			var whole, single detect.Repetition
			for n, turns := range d.rounds() {
				if f := whole.Round(turns); n > 0 {
					all++
					found += one(f.Found)
				}
				for _, t := range turns {
					own[n] = append(own[n], single.Round([]transcript.Turn{t}).Value)
					elsewhere[n] = append(elsewhere[n], overlap(other[:n], t))
				}
			}
		}
		for n := 1; n < len(own); n++ {
			fmt.Fprintf(b, "| %s | %d | %d | %.2f | %.2f | %d | %.2f |\n", r.name, n+1, len(own[n]),
				quantile(own[n], 0.5), quantile(own[n], 0.9), atLeast(own[n], 0.5), quantile(elsewhere[n], 0.5))
		}
	}
	fmt.Fprintf(b, "\nOf %d rounds after the first, %d are repetitive at the default of 0.5. The published debates\n"+
		"that the default is taken from (MAD) have a median of .72 in round 4, in sequences of five words; these repeat far less,\n"+
		"and are left alone.\n", all, found)
}

func overlap(before [][]transcript.Turn, now transcript.Turn) float64 {
	var d detect.Repetition
	for _, turns := range before {
		d.Round(slices.DeleteFunc(slices.Clone(turns), func(t transcript.Turn) bool { return t.Actor != now.Actor }))
	}
	return d.Round([]transcript.Turn{now}).Value
}

func drift(b *strings.Builder, r recording) {
	var own, spliced []float64
	astray := map[bool]int{}
	for i, d := range r.debates {
		detector := detect.Drift{Topic: d.Topic}
		for j := range 6 {
			other := r.debates[(i+j)%len(r.debates)]
			if j > 0 && d.Topic == other.Topic {
				continue
			}
			for _, turns := range other.rounds() {
				f := detector.Round(turns)
				if astray[j == 0] += one(f.Found); j == 0 {
					own = append(own, f.Value)
				} else {
					spliced = append(spliced, f.Value)
				}
			}
		}
	}
	b.WriteString("\n### Drift\n\n" +
		"Mean share of the topic's words in the turns of a round, by words alone: of each debate of two sides, and of the rounds\n" +
		"of the next five debates on other topics, spliced in.\n\n" +
		"| rounds | n | one in ten at most | median | nine in ten at most | astray at 0.25 |\n|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name   string
		values []float64
		astray int
	}{{"on the topic", own, astray[true]}, {"spliced", spliced, astray[false]}} {
		fmt.Fprintf(b, "| %s | %d | %.2f | %.2f | %.2f | %d (%s) |\n", row.name, len(row.values),
			quantile(row.values, 0.1), quantile(row.values, 0.5), quantile(row.values, 0.9), row.astray, percent(row.astray, len(row.values)))
	}
	b.WriteString("\nThe topics are short sentences, far from one another, and a real drift is slower than a splice: expect less elsewhere. The\n" +
		"default was chosen on these same debates.\n")
}

func engagement(b *strings.Builder, recordings []recording) {
	b.WriteString("\n### Engagement\n\n" +
		"Share of the turns from each speaker's second on that name an opponent (by name, or in the debates of two sides by one\n" +
		"of: affirmative, negative, proponent, opponent), and that quote one in eight words or more. Nobody can quote a debate of\n" +
		"which one is no part, so \"elsewhere\" is how often formulas pass for quotes: turns against the opponents' turns of the\n" +
		"next debate on the same topic, or else the next one. The first speech of a debate answers nobody; where it has a name all\n" +
		"the same, it greets or foresees an opponent.\n\n" +
		"| debates | turns | name | quote | either | quote elsewhere | first speeches with a name |\n|---|---|---|---|---|---|---|\n")
	for _, r := range recordings {
		var turns, names, quotes, either, elsewhere, openings int
		for i, d := range r.debates {
			rounds, other := d.rounds(), r.next(i).rounds()
			openings += one(engages(d, r.calls, mute(rounds[:1]), rounds[0][0]))
			quoting := detect.Engagement{Topic: d.Topic}
			for n := range rounds {
				for k, t := range rounds[n] {
					quoted := quoting.Round([]transcript.Turn{renamed(t)}).Value == 1 // each turn is told as a round, to be seen alone
					if n == 0 {
						continue
					}
					named := engages(d, r.calls, mute(until(rounds, n, k)), t)
					turns, names, quotes, either = turns+1, names+one(named), quotes+one(quoted), either+one(named || quoted)
					elsewhere += one(engages(d, nil, rename(until(other, n, k)), renamed(t)))
				}
			}
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %s | %s of %d |\n", r.name, turns,
			percent(names, turns), percent(quotes, turns), percent(either, turns), percent(elsewhere, turns), percent(openings, len(r.debates)), len(r.debates))
	}
	b.WriteString("\nNames carry the detector, and formulas of address look like engagement to it: that a round is engaged is weak evidence,\n" +
		"that one is not is worth a look. The length of a quote was chosen on these same debates.\n")
}

// next is the next debate on the same topic, or else the next one.
func (r recording) next(i int) debate {
	for j := 1; j < len(r.debates); j++ {
		if d := r.debates[(i+j)%len(r.debates)]; d.Topic == r.debates[i].Topic {
			return d
		}
	}
	return r.debates[(i+1)%len(r.debates)]
}

func engages(d debate, calls map[string][]string, before [][]transcript.Turn, now transcript.Turn) bool {
	detector := detect.Engagement{Topic: d.Topic, Aliases: calls}
	for _, turns := range before {
		detector.Round(turns)
	}
	return detector.Round([]transcript.Turn{now}).Value == 1
}

// until are the turns before the k-th of round n.
func until(rounds [][]transcript.Turn, n, k int) [][]transcript.Turn {
	return append(slices.Clone(rounds[:n]), rounds[n][:k])
}

// mute has nobody say what could be quoted.
func mute(rounds [][]transcript.Turn) (muted [][]transcript.Turn) {
	for _, turns := range rounds {
		turns = slices.Clone(turns)
		for i := range turns {
			turns[i].Text = "x"
		}
		muted = append(muted, turns)
	}
	return muted
}

// rename gives speakers names that nobody says.
func rename(rounds [][]transcript.Turn) (all [][]transcript.Turn) {
	for _, turns := range rounds {
		turns = slices.Clone(turns)
		for i := range turns {
			turns[i] = renamed(turns[i])
		}
		all = append(all, turns)
	}
	return all
}

func renamed(t transcript.Turn) transcript.Turn {
	t.Actor += "0000"
	return t
}

// vote is a question with what each agent answered in each round; null is no answer.
type vote struct {
	Set     string
	Gold    any
	Agents  int
	Answers [][]any
}

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

// right says whether the most frequent answer of a round is right. Of equally frequent ones the first counts.
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

// tally adds up what became of the questions of one kind.
type tally struct {
	debates, agents, first, rightFirst, rightLast, rightStopped int // first: right answers of single agents in round 1
	unanimous, wrong, unanimousLast, wrongLast                  int // in round 1 and in the last one
	calls, callsStopped, mended, spoilt                         int // mended: wrong by the first vote, right at the end
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
	s.rightFirst, s.rightLast, s.rightStopped = s.rightFirst+one(first), s.rightLast+one(final), s.rightStopped+one(v.right(stopped))
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
		"Three agents answer, see each other's answers, and answer again (published runs of Du et al.'s protocol). A plain vote\n" +
		"takes round 1 alone, and so half the calls; stopping takes round 2 only where round 1 is not unanimous. No answer found\n" +
		"agrees with nothing; of equally frequent answers the first counts. In brackets the 95 % interval.\n\n" +
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
		rows = append(rows, fmt.Sprintf("| %s | %s | %d | %s | %d | %d | %d |\n", set.name, percent(s.unanimous, s.debates), s.wrong,
			percent(s.unanimousLast, s.debates), s.wrongLast, s.mended, s.spoilt))
	}
	b.WriteString("\nWhat the second round did to the votes:\n\n" +
		"| questions | unanimous in round 1 | of them wrong | in round 2 | of them wrong | mended by round 2 | spoilt |\n|---|---|---|---|---|---|---|\n" +
		strings.Join(rows, "") +
		"\nStopping keeps nearly all that the debate would have reached, for three quarters of its calls. Whether the debate is worth its calls\n" +
		"is another question: on GSM8K and MMLU the plain vote does better with fewer, on arithmetic the debate does. Unanimity is\n" +
		"not truth, and less so after the agents have heard one another. Six runs of arithmetic ask much the same questions, so\n" +
		"its interval is too narrow. A further 50 debates of two agents are left out: all are unanimous and right from the start.\n")
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

// accuracy is a share with its Wilson interval.
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
