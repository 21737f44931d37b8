package vote_test

// This file measures the figures in docs/measured/voting.md, on recorded debates outside the repository.

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

const judging = "../../docs/measured/detectors.md"

// question is a question with its recorded answers.
type question struct{ recorded.Votes }

// extract returns the name of the extractor for the answers to a question.
func (q question) extract() string {
	if _, isLetter := q.Gold.(string); isLetter {
		return "letter"
	}
	return "number"
}

// right reports whether an answer in its canonical form is right.
func (q question) right(answer string) bool {
	return answer != "" && answer == vote.Extractors[q.extract()](recorded.Written(q.Gold))
}

// hold runs the protocol with the recorded answers to a question and the same confidence for all, until the protocol ends
// the debate.
func (q question) hold(t *testing.T, p vote.Protocol) *hall {
	p.Extract = q.extract()
	names := []string{"a", "b", "c"}[:q.Agents]
	h := convene(t, p, names...)
	h.MaxRounds = len(q.Answers)
	require.Empty(t, p.Check(&h.Record))
	for _, answers := range q.Answers {
		h.Cursor.Round++
		h.enter(transcript.Speech)
		for _, s := range h.Next() {
			h.Say(s, fmt.Sprintf(`{"reasoning":"","answer":%q,"confidence":50}`, recorded.Written(answers[slices.Index(names, s.Actor)])))
		}
		if p.End(&h.Record).Outcome != "" {
			break
		}
	}
	return h
}

// samples returns the tally of one agent whose samples are the answers of round 1.
func (q question) samples(t *testing.T) vote.Tally {
	h := convene(t, vote.Protocol{Extract: q.extract(), Samples: q.Agents}, "a")
	require.Empty(t, h.p.Check(&h.Record))
	h.Cursor.Round++
	h.enter(transcript.Speech)
	for i, s := range h.Next() {
		h.Say(s, fmt.Sprintf(`{"reasoning":"","answer":%q,"confidence":50}`, recorded.Written(q.Answers[0][i])))
	}
	return h.tally()
}

// read returns how many statements of others the agents' prompts of round 2 show.
func (q question) read(t *testing.T, p vote.Protocol) (n int) {
	one := q
	one.Answers = q.Answers[:1]
	h := one.hold(t, p)
	h.Cursor.Round++
	h.enter(transcript.Speech)
	for _, s := range h.Next() {
		n += len(strings.Fields(h.seen(s))) - 1
	}
	return n
}

// ending counts the results of the questions of one kind with one setting.
type ending struct {
	right, ties, calls int
	each               []float64 // of each question: 1 if it is right, or else 0
}

func (e *ending) add(q question, h *hall) {
	tally := h.tally()
	value := 0.0
	if q.right(tally.Answer) {
		e.right++
		value = 1
	}
	e.each = append(e.each, value)
	if tally.Tie {
		e.ties++
	}
	e.calls += len(h.Turns)
}

func (e ending) cell(n int) string {
	i := statistics.Wilson(e.right, n)
	return fmt.Sprintf("%.3f [%.2f, %.2f] | %d", i.Value, i.Low, i.High, e.ties)
}

// gain returns the cells of the paired difference to another setting: its interval, the questions that only one of them
// answers right, and the p-value of McNemar's exact test.
func (e ending) gain(other ending) string {
	var seen []statistics.Observation
	better, worse := 0, 0
	for i, value := range e.each {
		difference := value - other.each[i]
		seen = append(seen, statistics.Observation{Value: difference})
		switch {
		case difference > 0:
			better++
		case difference < 0:
			worse++
		}
	}
	i, p := statistics.Difference(seen), "< 0.001"
	if exact := statistics.McNemar(better, worse); exact >= 0.001 {
		p = fmt.Sprintf("%.3f", exact)
	}
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f] | %d | %d | %s", i.Value, i.Low, i.High, better, worse, p)
}

// kind has the totals of the questions of one kind.
type kind struct {
	name                             string
	n                                int
	first, whole, prevented, stopped ending
	conditional                      ending
	read, filtered, differing        int // statements of others in prompts of round 2: all, with the filter, and if agents with nothing new stay out
	unanimous, wrong, changed        int // unanimous: in round 1; wrong: of these
}

func (k *kind) add(t *testing.T, q question) {
	one := q
	one.Answers = q.Answers[:1]
	first, whole := one.hold(t, vote.Protocol{}), q.hold(t, vote.Protocol{})
	k.n++
	k.first.add(q, first)
	k.whole.add(q, whole)
	k.prevented.add(q, q.hold(t, vote.Protocol{Unanimity: vote.Prevent}))
	k.stopped.add(q, q.hold(t, vote.Protocol{Unanimity: vote.Stop}))
	k.conditional.add(q, q.hold(t, vote.Protocol{Conditional: true}))
	k.read += q.read(t, vote.Protocol{})
	k.filtered += q.read(t, vote.Protocol{Filter: new(0.0)})
	k.differing += q.read(t, vote.Protocol{Filter: new(0.0), Conditional: true})
	baseline, voted := q.samples(t), first.tally()
	require.Equal(t, []any{voted.Answer, voted.Tie}, []any{baseline.Answer, baseline.Tie}, "samples of one model are the vote of round 1")
	if tally := first.tally(); slices.Contains(tally.Unanimous, 1) {
		k.unanimous++
		if !q.right(tally.Answer) {
			k.wrong++
		}
	}
	for _, s := range whole.tally().Agents {
		if s.Changed {
			k.changed++
		}
	}
}

func measured(t *testing.T) []*kind {
	kinds := []*kind{{name: "GSM8K"}, {name: "MMLU"}, {name: "arithmetic"}, {name: "arithmetic, two agents"}}
	for _, q := range recorded.Lines[question](t, "vote-answers.jsonl") {
		at := slices.IndexFunc([]string{"gsm", "mmlu", "math"}, func(prefix string) bool { return strings.HasPrefix(q.Set, prefix) })
		require.GreaterOrEqual(t, at, 0, q.Set)
		if q.Agents == 2 {
			at = 3
		}
		kinds[at].add(t, q)
	}
	return kinds
}

func share(part, whole int) string { return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole)) }

func TestThePagesSayWhatIsMeasured(t *testing.T) {
	kinds := measured(t)
	t.Run("voting", func(t *testing.T) { sayWhatIsMeasured(t, kinds) })
	t.Run("judging, by the detector", func(t *testing.T) { agreeOnUnanimity(t, kinds) })
}

func sayWhatIsMeasured(t *testing.T, kinds []*kind) {
	var b strings.Builder
	b.WriteString("# Voting\n\n" +
		"For users of the vote protocol. This page reports how often its decisions are right on recorded answers, and how many\n" +
		"calls they cost.\n\n" +
		"`go test ./protocol/vote -update` applies the rules of `protocol/vote` to the answers of published runs of Du et al.'s\n" +
		"protocol, and writes this page. The recordings are not part of the repository. Three agents answer twice. In the last row,\n" +
		"two agents answer three times. All agents see each other's answers. Brackets contain 95 % confidence intervals.\n\n" +
		"A tie is undecided and counts as wrong. [Detectors](detectors.md) counts the first of equally frequent answers instead, and so\n" +
		"reports a few more right ones. The recordings contain no confidence that could break a tie. The six runs of arithmetic ask\n" +
		"similar questions, so their intervals are too narrow. `go test ./eval` replays the same answers in debates, and compares the\n" +
		"results with this page.\n\n" +
		"The option `Unanimity` ends a debate early: `prevent` after a unanimous round 1, `stop` after any unanimous round.\n\n" +
		"## Right answers\n\n" +
		"| questions | n | vote of round 1 | ties | after the last round | ties | `prevent` | ties | `stop` | ties |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		require.LessOrEqual(t, k.stopped.calls, k.prevented.calls, "stopping after any round takes no more calls than after the first")
		require.LessOrEqual(t, k.prevented.calls, k.whole.calls)
		require.LessOrEqual(t, k.wrong, k.unanimous)
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", k.name, k.n, k.first.cell(k.n), k.whole.cell(k.n), k.prevented.cell(k.n), k.stopped.cell(k.n))
	}
	b.WriteString("\n## Calls\n\n" +
		"| questions | unanimous in round 1 | of these wrong | calls, all rounds | calls, `prevent` | calls, `stop` | saved by `stop` | agents that changed their answer |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %s | %s |\n", k.name, share(k.unanimous, k.n), k.wrong, k.whole.calls, k.prevented.calls, k.stopped.calls,
			share(k.whole.calls-k.stopped.calls, k.whole.calls), share(k.changed, k.first.calls))
	}
	b.WriteString("\n## Differences\n\n" +
		"The settings share their questions, so each difference is taken within a question, which is more exact than to compare two\n" +
		"of the intervals above. Better and worse are the numbers of questions that only the first or only the second setting answers\n" +
		"right; p is that of McNemar's exact test. The intervals are resampled over the questions.\n\n" +
		"| questions | first | second | difference | better | worse | p |\n|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		fmt.Fprintf(&b, "| %s | last round | vote of round 1 | %s |\n", k.name, k.whole.gain(k.first))
		fmt.Fprintf(&b, "| %s | `stop` | last round | %s |\n", k.name, k.stopped.gain(k.whole))
	}
	b.WriteString("\nA debate only on disagreement saves more than a quarter of the calls, and changes few or no answers of the whole debate.\n" +
		"Where the interval of a difference contains 0, these recordings do not show that the debate is better or worse than the\n" +
		"vote of round 1, which takes half the calls. On arithmetic, it does not: there the debate is better, partly because it breaks\n" +
		"ties. The protocol's default is two rounds. The only recordings with more rounds are of two agents that agreed from the\n" +
		"start. [Evaluation](../evaluation.md) explains how to compare a debate with as many single answers as it costs.\n")
	b.WriteString("\n## Conditional participation and the filter\n\n" +
		"With `Conditional`, an agent revises only if it has no answer or sees another answer than its own. With `Filter` at 0, it\n" +
		"reads one statement for each answer other than its own. The right answers are those of the recorded revisions, in which\n" +
		"each agent read all others, so they do not show what the filter does to the answers.\n\n" +
		"| questions | `conditional` | ties | calls | saved | statements read in round 2 | with the filter | with both |\n|---|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		require.LessOrEqual(t, k.differing, k.filtered)
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %d | %d | %d |\n", k.name, k.conditional.cell(k.n), k.conditional.calls,
			share(k.whole.calls-k.conditional.calls, k.whole.calls), k.read, k.filtered, k.differing)
	}
	b.WriteString("\n## Self-consistency\n\n" +
		"All agents of a recording are the same model, and in round 1 they see nobody. So the vote of round 1 is also\n" +
		"self-consistency with as many `Samples` as there are agents, and the test checks that both tallies are equal. A debate of\n" +
		"three agents and two rounds takes as many calls as six samples. The recordings do not contain that many.\n")
	b.WriteString("\n## What was not measured\n\n" +
		"The recordings contain no confidences, no texts and no judges, and all agents saw each other. So there are no figures for\n" +
		"`confidence` and `judge`, for other topologies, for the intensity of agreement, and for the library's own prompts.\n")
	golden.Require(t, "../../docs/measured/voting.md", b.String())
}

// agreeOnUnanimity checks that the detector's figures in docs/measured/detectors.md agree with those of this protocol's rules.
func agreeOnUnanimity(t *testing.T, kinds []*kind) {
	text, err := os.ReadFile(judging)
	require.NoError(t, err)
	for _, k := range kinds[:3] {
		var saved, unanimous string
		for line := range strings.SplitSeq(string(text), "\n") {
			cells := strings.Split(line, " | ")
			switch {
			case !strings.HasPrefix(line, "| "+k.name+" |"):
			case len(cells) == 7 && strings.Contains(cells[6], "%"):
				saved = strings.TrimSuffix(cells[6], " |")
			case len(cells) == 8:
				unanimous = cells[1] + ", wrong " + cells[2]
			}
		}
		require.Equal(t, saved, share(k.whole.calls-k.stopped.calls, k.whole.calls), k.name)
		require.Equal(t, unanimous, share(k.unanimous, k.n)+", wrong "+strconv.Itoa(k.wrong), k.name)
	}
}
