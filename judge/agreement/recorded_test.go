package agreement_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/judge/agreement"
)

// recordedItem is a pair of the recorded decisions.
type recordedItem struct{ recorded.Pair }

func load(t *testing.T, file string) (items []recordedItem) {
	return recorded.Lines[recordedItem](t, file)
}

var decisions = []agreement.Decision{agreement.Tie, agreement.A, agreement.B}

func (r recordedItem) item() agreement.Item {
	i := agreement.Item{ID: r.ID, Group: r.Question, Gold: decisions[r.Gold], Decisions: map[string][]agreement.Decision{}}
	for judge, pair := range r.Judges {
		for _, d := range pair {
			decision := agreement.None
			if d != nil {
				decision = decisions[*d]
			}
			i.Decisions[judge] = append(i.Decisions[judge], decision)
		}
	}
	return i
}

var sets = map[string][]string{
	"ordinary":     {"Natural"},
	"adversarial":  {"Neighbor", "GPTInst", "GPTOut", "Manual"},
	"case studies": {"Base_9", "Base_10", "Constraint", "Negation", "Normal"},
	"MT-Bench":     {"MT-Bench"}, "FairEval": {"FairEval"}, "LLMEval2": {"LLMEval2"},
}

// pick returns the items of the named sets, in the order of the file.
func pick(all []recordedItem, names ...string) (items []agreement.Item) {
	for _, r := range all {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(sets[name], r.Set) }) {
			items = append(items, r.item())
		}
	}
	return items
}

func judges(models ...string) (names []string) {
	for _, m := range models {
		names = append(names, m+"/Vanilla_NoRules")
	}
	return names
}

var (
	strongest = judges("GPT-4")
	weak      = judges("ChatGPT", "PaLM2", "LLaMA2")
	four      = judges("GPT-4", "ChatGPT", "PaLM2", "LLaMA2")
	six       = judges("GPT-4", "ChatGPT", "PaLM2", "LLaMA2", "ChatGPT-0301", "Falcon")
)

func TestRecordedJuries(t *testing.T) {
	all := load(t, "llmbar-decisions.jsonl")
	for set, want := range map[string]string{
		"ordinary":    ".9900 | .8900 | .9200 | 24 .4800 1.0000 | 24 .4800 1.0000 | .9900",
		"adversarial": ".6918 | .2987 | .4371 | 34 .2138 .1471 | 26 .1635 .1923 | .6478",
		"MT-Bench":    ".7879 | .7172 | .7677 | 33 .3333 .9697 | 33 .3333 .9697 | .7879",
		"FairEval":    ".6364 | .6061 | .6515 | 2 .0606 1.0000 | 2 .0606 1.0000 | .6364",
		"LLMEval2":    ".7600 | .7450 | .7700 | 36 .3600 .8056 | 36 .3600 .8056 | .7600",
	} {
		items := pick(all, set)
		n := float64(len(items))
		alone, escalated := 0.0, 0.0
		for _, i := range items {
			own := i.Score(strongest[0])
			alone += own
			if d, ok := i.Unanimous(weak...); ok {
				own = d.Credit(i.Gold)
			}
			escalated += own
		}
		s3, s4 := agreement.Summarize(items, weak...), agreement.Summarize(items, four...)
		u3, u4 := s3.Unanimous, s4.Unanimous
		recorded.Figures(t, set, want, alone/n, s3.Majority.Value, s4.Majority.Value,
			float64(u3.N), float64(u3.N)/n, u3.Value, float64(u4.N), float64(u4.N)/n, u4.Value, escalated/n)
	}
}

func TestRecordedAgreement(t *testing.T) {
	all := load(t, "llmbar-decisions.jsonl")
	for _, tt := range []struct {
		jury []string
		sets []string
		want string
	}{
		{weak, []string{"ordinary"}, "1.6940 | 1.3446 to 2.3846 | .3855 | .5624 | .8551"},
		{weak, []string{"adversarial"}, "1.7163 | 1.5512 to 1.9116 | .3740 | .2657 | .4177"},
		{weak, []string{"MT-Bench"}, "1.3931 | 1.2527 to 1.5834 | .5768 | .3765 | .9729"},
		{weak, []string{"FairEval"}, "1.6880 | 1.3943 to 2.1988 | .3886 | -.0013 | 1.0000"},
		{weak, []string{"LLMEval2"}, "1.5052 | 1.3445 to 1.7554 | .4965 | .4528 | .8468"},
		{weak, []string{"ordinary", "adversarial"}, "1.5391 | 1.4358 to 1.6666 | .4746 | .3363 | .5303"},
		{four, []string{"ordinary"}, "2.3728 | 1.9833 to 3.1599 | .2286 | .5990 | .8012"},
		{four, []string{"adversarial"}, "1.8474 | 1.6640 to 2.0446 | .3884 | .2364 | .2984"},
		{four, []string{"MT-Bench"}, "1.5032 | 1.3528 to 1.7090 | .5537 | .4290 | .8718"},
		{four, []string{"FairEval"}, "2.1134 | 1.6291 to 3.0519 | .2976 | .0564 | .6400"},
		{four, []string{"LLMEval2"}, "1.5201 | 1.3464 to 1.7570 | .5438 | .5173 | .8385"},
		{four, []string{"ordinary", "adversarial"}, "1.6808 | 1.5568 to 1.8163 | .4599 | .3229 | .4250"},
		{six, []string{"ordinary"}, "2.5538 | 2.0869 to 3.4726 | .2699 | .5397 | .8242"},
		{six, []string{"adversarial"}, "2.0866 | 1.8485 to 2.3361 | .3751 | .1972 | .3782"},
		{six, []string{"ordinary", "adversarial"}, "1.7882 | 1.6520 to 1.9552 | .4711 | .2798 | .5006"},
	} {
		s := agreement.Summarize(pick(all, tt.sets...), tt.jury...)
		recorded.Figures(t, fmt.Sprint(len(tt.jury), tt.sets), tt.want,
			s.Effective.Value, s.Effective.Low, s.Effective.High, s.Correlation.Value, s.AlphaDecisions.Value, s.AlphaVotes.Value)
	}
}

func TestRecordedCalibrations(t *testing.T) {
	all := load(t, "llmbar-decisions.jsonl")
	for _, tt := range []struct {
		sets []string
		n    float64
		want string
	}{
		{[]string{"ordinary"}, 50, ".1096 | .9635 | 43 | 0"},
		{[]string{"adversarial"}, 159, ".0000 | 0 | 0 | 0"},
		{[]string{"MT-Bench"}, 99, ".1655 | .9141 | 91 | 13"},
		{[]string{"FairEval"}, 33, ".0000 | 0 | 0 | 0"},
		{[]string{"LLMEval2"}, 100, ".0034 | .7353 | 1 | 1"},
		{[]string{"ordinary", "adversarial", "MT-Bench", "FairEval", "LLMEval2"}, 441, ".0000 | 0 | 0 | 0"},
	} {
		items := pick(all, tt.sets...)
		require.Len(t, items, int(tt.n))
		for i := range items {
			items[i].Group = "" // the reference takes all pairs of a question
		}
		share := 0.0
		right := 0.0
		deciding := 0
		below := 0
		for k := range 200 {
			c, err := agreement.Calibrate(split(items, k)[:len(items)/2], .8, weak...)
			if err != nil {
				require.ErrorIs(t, err, agreement.ErrRefused)
				continue
			}
			decided, correct := 0, 0
			rest := split(items, k)[len(items)/2:]
			for _, i := range rest {
				if d, ok := c.Decide(i); ok {
					decided++
					if d == i.Gold {
						correct++
					}
				}
			}
			if decided == 0 {
				continue
			}
			rate := float64(correct) / float64(decided)
			deciding++
			right += rate
			share += float64(decided) / float64(len(rest))
			if rate < .8 {
				below++
			}
		}
		recorded.Figures(t, fmt.Sprint(tt.sets), tt.want, share/200, right/float64(max(1, deciding)), float64(deciding), float64(below))
	}
}

// split returns the items in the order of split k: the first half calibrates.
func split(items []agreement.Item, k int) []agreement.Item {
	key := func(i agreement.Item) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", k, i.ID))
		return hex.EncodeToString(sum[:])
	}
	return slices.SortedFunc(slices.Values(items), func(a, b agreement.Item) int { return strings.Compare(key(a), key(b)) })
}

func TestRecordedRewardModels(t *testing.T) {
	var items []agreement.Item
	for _, r := range load(t, "judgebench-decisions.jsonl") {
		if strings.HasPrefix(r.Set, "gpt/") {
			items = append(items, r.item())
		}
	}
	for judge, want := range map[string]string{
		"GRM-Gemma-2B-rewardmodel-ft/reward_model": ".6286",
		"Skywork-Reward-Gemma-2-27B/reward_model":  ".6743",
		"Skywork-Reward-Llama-3.1-8B/reward_model": ".6629",
		"internlm2-20b-reward/reward_model":        ".6686",
		"internlm2-7b-reward/reward_model":         ".6514",
		"o1-mini-2024-09-12/arena_hard":            ".7200",
	} {
		won := 0.0
		for _, i := range items {
			won += i.Vote(judge).Credit(i.Gold) / float64(len(items))
		}
		recorded.Figures(t, judge, want, won)
	}
	all := []string{
		"GRM-Gemma-2B-rewardmodel-ft/reward_model", "Skywork-Reward-Gemma-2-27B/reward_model", "Skywork-Reward-Llama-3.1-8B/reward_model",
		"internlm2-20b-reward/reward_model", "internlm2-7b-reward/reward_model", "o1-mini-2024-09-12/arena_hard",
	}
	for _, tt := range []struct {
		jury []string
		want string
	}{
		{all, "175 | .7057 | 59 .3371 .8983 | 2.0812 1.8393 to 2.3892 | .3766 | .4736 | .4695"},
		{[]string{all[0], all[2], all[4]}, "175 | .6629 | 102 .5829 .7451 | 1.6731 1.5073 to 1.8737 | .3965 | .5549 | .4479"},
	} {
		s := agreement.Summarize(items, tt.jury...)
		n, u := float64(s.Items), s.Unanimous
		recorded.Figures(t, fmt.Sprint(len(tt.jury)), tt.want, n, s.Majority.Value, float64(u.N), float64(u.N)/n, u.Value,
			s.Effective.Value, s.Effective.Low, s.Effective.High, s.Correlation.Value, s.AlphaDecisions.Value, s.AlphaVotes.Value)
	}
}
