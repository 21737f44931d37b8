package audit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol/pairwise"
)

var labels = []agreement.Decision{agreement.Tie, agreement.A, agreement.B}

// decidedBy returns what a recorded judge has decided about the pairs of sets.
func decidedBy(all []recorded.Pair, judge string, isIn func(set string) bool) (list []observed) {
	for _, r := range all {
		pair, judged := r.Judges[judge]
		if !judged || !isIn(r.Set) {
			continue
		}
		p := Pair{ID: r.ID, Question: "?", A: strings.Repeat("a", r.Chars[0]), B: strings.Repeat("b", r.Chars[1]), Gold: labels[r.Gold], Group: r.Question}
		x := observed{pair: p, judged: true}
		for i, d := range pair {
			if d != nil {
				x.decisions[i] = labels[*d]
			}
		}
		list = append(list, x)
	}
	return list
}

// Accuracy, position agreement, and the share of decisions for the answer shown first.
func TestRecordedJudges(t *testing.T) {
	all := recorded.Lines[recorded.Pair](t, "llmbar-decisions.jsonl")
	for set, want := range map[string][4]string{ // of GPT-4, ChatGPT, PaLM2 and LLaMA2
		"ordinary":    {".9900 .9800 .5100", ".8300 .7400 .6300", ".8400 .8400 .5000", ".7300 .7400 .5700"},
		"adversarial": {".6918 .8868 .5126", ".2579 .5849 .7013", ".5755 .7547 .5377", ".2642 .8050 .5566"},
		"MT-Bench":    {".7879 .8384 .5000", ".6919 .5051 .7273", ".6768 .6465 .5657", ".6818 .5859 .6162"},
		"FairEval":    {".6364 .5758 .6818", ".5909 .1818 .9091", ".6061 .3333 .8333", ".5303 .3030 .8485"},
		"LLMEval2":    {".7600 .8300 .4550", ".6950 .6600 .6300", ".6250 .7000 .4100", ".6850 .6400 .4800"},
	} {
		sets := map[string][]string{"ordinary": {"Natural"}, "adversarial": {"Neighbor", "GPTInst", "GPTOut", "Manual"}}[set]
		for i, model := range []string{"GPT-4", "ChatGPT", "PaLM2", "LLaMA2"} {
			list := decidedBy(all, model+"/Vanilla_NoRules", func(s string) bool { return s == set || slices.Contains(sets, s) })
			f := measure(list, "")
			recorded.Figures(t, set+", "+model, want[i], f.accuracy.Value, f.agreement.Value, f.first.Value)
		}
	}
}

// On FairEval, all judges prefer the answer shown first. On LLMBar's adversarial pairs, weak judges prefer the longer answer.
func TestRecordedBiases(t *testing.T) {
	all := recorded.Lines[recorded.Pair](t, "llmbar-decisions.jsonl")
	for _, model := range []string{"ChatGPT", "PaLM2", "LLaMA2"} {
		f := measure(decidedBy(all, model+"/Vanilla_NoRules", func(s string) bool { return s == "FairEval" }), "")
		b := biasOf(t, f.biases, "position")
		require.True(t, b.Shown() && b.Interval.Value > 0, "%s: %v", model, b)
	}
	llmbar := []string{"Natural", "Neighbor", "GPTInst", "GPTOut", "Manual"}
	for _, model := range []string{"ChatGPT", "LLaMA2"} {
		f := measure(decidedBy(all, model+"/Vanilla_NoRules", func(s string) bool { return slices.Contains(llmbar, s) }), "")
		b := biasOf(t, f.biases, "length")
		require.True(t, b.Shown() && b.Interval.Value > 0, "%s: %v of %d", model, b, b.Interval.N)
	}
}

func TestRecordedRewardModels(t *testing.T) {
	all := recorded.Lines[recorded.Pair](t, "judgebench-decisions.jsonl")
	for judge, want := range map[string]string{ // accuracy and position agreement
		"GRM-Gemma-2B-rewardmodel-ft/reward_model": ".6286 1.0000",
		"Skywork-Reward-Gemma-2-27B/reward_model":  ".6800 .9886",
		"Skywork-Reward-Llama-3.1-8B/reward_model": ".6657 .9943",
		"internlm2-20b-reward/reward_model":        ".6686 1.0000",
		"internlm2-7b-reward/reward_model":         ".6514 1.0000",
		"o1-mini-2024-09-12/arena_hard":            ".8029 .6971",
	} {
		f := measure(decidedBy(all, judge, func(set string) bool { return strings.HasPrefix(set, "gpt/") }), "")
		require.Equal(t, 175, f.accuracy.N)
		recorded.Figures(t, judge, want, f.accuracy.Value, f.agreement.Value)
	}
}

// Of the recorded replies of judges, which are prose, refusals or single scores, none is read wrongly. The contract asks for all
// of them again, because none has a margin. ReadVerdict reads those that say who is better in the sentence that was asked for. A
// reader that takes the last such sentence wherever it stands, as below, reads four times as many, and some of them wrongly.
func TestRecordedReplies(t *testing.T) {
	type recordedReply struct {
		Reply string `json:"reply"`
		Says  *int   `json:"says"`
		Sure  bool   `json:"sure"`
	}
	says := func(r recordedReply) int { // 0 for neither or nothing
		if r.Says == nil {
			return 0
		}
		return *r.Says
	}
	var inJSON, strict, loose struct{ read, asked, wrong int }
	sentence := regexp.MustCompile(`Output \(([ab])\) is (?:the )?better`)
	for _, r := range recorded.Lines[recordedReply](t, "llmbar-replies.jsonl") {
		winner, ok := pairwise.ReadVerdict(r.Reply, "Output (a)", "Output (b)")
		said := map[string]int{pairwise.First: 1, pairwise.Second: 2}[winner]
		if !r.Sure {
			require.True(t, !ok || said == says(r), "people differ about %q", r.Reply)
			continue
		}
		switch {
		case !ok:
			strict.asked++
		case said == says(r):
			strict.read++
		default:
			strict.wrong++
		}
		if _, err := pairwise.Contract.Parse(r.Reply, nil); err != nil {
			inJSON.asked++
		} else {
			inJSON.read++
		}
		found := sentence.FindAllStringSubmatch(r.Reply, -1)
		switch {
		case len(found) == 0:
			loose.asked++
		case map[string]int{"a": 1, "b": 2}[found[len(found)-1][1]] == says(r):
			loose.read++
		default:
			loose.wrong++
		}
	}
	require.Equal(t, [3]int{0, 957, 0}, [3]int{inJSON.read, inJSON.asked, inJSON.wrong})
	require.Equal(t, [3]int{208, 749, 0}, [3]int{strict.read, strict.asked, strict.wrong})
	require.Positive(t, loose.wrong)
	t.Logf("the last sentence wherever it stands: %d read, %d wrongly", loose.read, loose.wrong)
}
