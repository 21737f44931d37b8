package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// budgetConfigs returns debates of all presets, with what enlarges their prompts.
func budgetConfigs() map[string]debate.Config {
	list := PresetConfigs()
	list["panel by rounds"] = presetConfig(panel.Protocol{Format: panel.StructuredRounds}, 4, "A", "B", "C")
	rubric := presetConfig(panel.Protocol{Jury: judge.Jury{Swap: true}}, 3, "A", "B")
	rubric.Rubric = judge.Rubric{
		{Name: "cost", Weight: 30, Description: strings.Repeat("What it costs. ", 20), Zero: "Too much.", Ten: "Nothing."},
		{Name: "use", Weight: 70, Description: strings.Repeat("What it is good for. ", 18)},
	}
	list["panel with a rubric"] = rubric
	long := presetConfig(panel.Protocol{Mode: panel.Simultaneous}, 3, "A", "B")
	long.Background = strings.Repeat("It is known that it rains. ", 300)
	long.Participants[0].Instructions, long.Participants[1].Persona = strings.Repeat("Be brief. ", 100), strings.Repeat("A sailor. ", 100)
	list["panel with long texts"] = long
	assigned := presetConfig(panel.Protocol{Personas: panel.Binary}, 3, "A", "B", "C", "D")
	for i := range assigned.Participants {
		assigned.Participants[i].Position = ""
	}
	list["panel with assigned positions"] = assigned
	list["refine without a digest"] = withOneJudge(presetConfig(refine.Protocol{FinalSummaryPolicy: refine.SummaryPolicy{Disabled: true}}, 2, "A", "B"))
	list["refine with defaults"] = withOneJudge(presetConfig(refine.Protocol{}, 2, "A", "B", "C"))
	list["vote of 40 samples"] = withoutJudges(presetConfig(vote.Protocol{Samples: 40}, 1, "A"))
	short := list["oversight"]
	short.Protocol = oversight.Protocol{Mode: oversight.Interactive, A: "Ban them", B: "Let them drive", MinWords: 1e6, MaxWords: 1e6} // each speech is asked for twice
	list["oversight"] = short
	list["vote of three rounds"] = presetConfig(vote.Protocol{}, 3, "A", "B", "C")
	return list
}

// greedyModel replies at the limit and reports a prompt as long as the engine estimates it.
func greedyModel(cfg debate.Config) providers.Provider {
	count := new(atomic.Int64)
	return debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		u := transcript.Usage{Input: window.Estimate(string(r.Schema)), Output: r.MaxTokens}
		for _, m := range r.Messages {
			u.Input += window.Estimate(m.Text)
		}
		u.Written = u.Input
		calls := count.Add(1)
		reply := func(n int) string { return longReply(r, cfg, n, calls) }
		n := sort.Search(r.MaxTokens, func(n int) bool { return window.Estimate(reply(n)) > r.MaxTokens })
		return providers.Response{Text: reply(max(n-1, 0)), FinishReason: providers.Stop, Usage: u}, nil
	})
}

// longReply returns a valid reply with n words, or as many as the contract allows. Votes differ from call to call.
func longReply(r providers.Request, cfg debate.Config, n int, call int64) string {
	var names []string
	for _, p := range cfg.Participants {
		names = append(names, p.Name)
	}
	fill := func(most int) string { // the characters with the most tokens
		k := max(min(n, most), 1)
		n = max(n-k, 0)
		return strings.Repeat("\U0001F600", k)
	}
	var v any
	switch r.SchemaName {
	case protocol.PersonasContract.Name():
		p := protocol.Personas{}
		for _, x := range cfg.Participants {
			claim := x.Position
			if claim == "" {
				claim = fill(1000)
			}
			p.Personas = append(p.Personas, protocol.Persona{Name: x.Name, Position: claim, KeyArguments: []string{"A reason."}})
		}
		for i := range p.Personas {
			p.Personas[i].Persona = fill(1900)
		}
		for range 5 {
			p.Personas[0].KeyArguments = append(p.Personas[0].KeyArguments, fill(600))
		}
		v = p
	case skeptic.DocumentsContract.Name():
		d := skeptic.Document{Title: "What is known", Text: strings.Repeat("four ", 660)}
		v = skeptic.Documents{Documents: []skeptic.Document{d, d, d}}
	case vote.BallotContract.Name():
		v = vote.Ballot{Answer: fmt.Sprint(call%2) + fill(390), Reasoning: fill(1900)}
	case arbitration.ArgumentContract.Name():
		c := arbitration.Case{}
		for range 1 + n/3000 {
			c.Arguments = append(c.Arguments, arbitration.Argument{Claim: fill(600), Reasoning: fill(1900), Evidence: fill(1900)})
		}
		v = c
	case review.ClaimsContract.Name():
		c := review.Claims{}
		for range min(1+n/2800, 8) {
			c.Findings = append(c.Findings, review.Claim{
				Source: 1, File: reviewedName, Quote: "return s.db.Close()", Severity: review.Error, Title: "It panics", Text: fill(1900),
				Show: fill(900),
			})
		}
		v = c
	case "", refine.SummaryContract.Name():
		return Reply(r, names, strings.TrimSpace(strings.Repeat("four ", n+1)), 0)
	case judge.AssessmentContract.Name(), judge.VerdictContract.Name(), procon.JudgmentContract.Name():
		v = doubtful(r, Reply(r, names, strings.TrimSpace(strings.Repeat("four ", min(n+1, 239))), 0), names)
	default:
		return Reply(r, names, strings.TrimSpace(strings.Repeat("four ", min(n+1, 79))), 0)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// secondVerdicts returns what the second replies to verdicts would have used that were reserved but not needed, because the
// judge had given no scores.
func secondVerdicts(res *debate.Result, p price.Price) (all transcript.Usage) {
	for _, t := range res.Turns {
		if t.Contract == judge.VerdictContract.Name() && !slices.Contains(t.Flags, transcript.Reasked) {
			u := transcript.Usage{Input: t.Usage.Input + t.Usage.Output, Output: t.Usage.Output, Written: t.Usage.Input + t.Usage.Output}
			u.Cost = p.Cost(u)
			all = all.Add(u)
		}
	}
	return all
}

// doubtful returns a judge's reply in which the participant with the lowest scores wins, so that the judge is asked once more.
func doubtful(r providers.Request, reply string, names []string) map[string]any {
	if list := namesInRequest(r); list != nil {
		names = list
	}
	names = slices.Sorted(slices.Values(names))
	if r.SchemaName == procon.JudgmentContract.Name() && strings.Contains(r.Messages[1].Text, "begin: "+names[1]+",") {
		slices.Reverse(names) // the first speaker is the first, whatever each judge calls it
	}
	winner := names[0]
	if strings.HasPrefix(r.Messages[0].Text, "You are K,") { // so that a jury of J and K never decides without the senior judge
		winner = names[len(names)-1]
	}
	var v map[string]any
	_ = json.Unmarshal([]byte(reply), &v) // it was made by Reply
	if r.SchemaName != judge.AssessmentContract.Name() {
		v["winner"] = winner
	}
	list, _ := v["participants"].([]any)
	for _, entry := range list {
		who := entry.(map[string]any)
		score := 9
		if who["name"] == winner {
			score = 1
		}
		if criteria, ok := who["criteria"].([]any); ok {
			for _, c := range criteria {
				c.(map[string]any)["score"] = score
			}
		} else if _, ok := who["score"]; ok {
			who["score"] = score
		}
	}
	return v
}

// The smallest limit that a debate accepts is at least what its shortest debate uses in the worst case, and at most 1.2 times
// that. The debate has its conclusion.
func TestTheSmallestBudgetIsCloseToTheWorstCase(t *testing.T) {
	prices := map[string]price.Price{"": {}, "input": {Input: 1}, "output": {Output: 1}, "both": {Input: 0.4, Output: 1.6}, "written": {Input: 1, Written: 1.25, Output: 5}}
	for name, base := range budgetConfigs() {
		sample := NewSample(t, 8)
		for _, budget := range []string{"output_tokens", "tokens", "input", "output", "both", "written"} {
			for _, tokens := range []int{100, 1000, 4096} {
				if tokens > 1000 && base.History.UsesSummaries() {
					continue // the window is small, so that replies get a lower limit when the debate starts
				}
				if !sample.Tries(name) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, budget, tokens), func(t *testing.T) {
					cfg := base
					cfg.Limits.StepTokens, cfg.Limits.JudgeTokens = tokens, max(tokens, 300) // for short personas
					limit := func(n int) debate.Config {
						c := cfg
						c.ID = fmt.Sprint("d", n)
						switch budget {
						case "output_tokens":
							c.Limits.OutputTokens = n
						case "tokens":
							c.Limits.Tokens = n
						default:
							c.Limits.Cost, c.Prices = float64(n)/1e6, price.Prices{"": prices[budget], "m": prices[budget]}
						}
						return c
					}
					o := debate.Options{Providers: map[string]providers.Provider{"m": greedyModel(cfg)}}
					e := debatetest.Engine(t, o)
					least := 1 + sort.Search(1<<26, func(n int) bool {
						_, err := e.Create(t.Context(), limit(n+1))
						return err == nil
					})
					d := debatetest.New(t, limit(least), o)
					res := debatetest.RunResult(t, d)
					require.Equal(t, fsm.Completed, res.State)
					used := res.Total.Usage
					spoke := 0
					concluded := 0
					for _, turn := range res.Turns {
						require.Subset(t, []transcript.Flag{transcript.Reasked}, turn.Flags, "%s: %s", turn.Key, turn.Text)
						switch turn.Kind {
						case transcript.Speech:
							spoke++
						case transcript.Conclusion:
							concluded++
						default:
						}
					}
					require.NotZero(t, spoke, res.Ending.Evidence)
					if name != "arbitration" && len(cfg.Judges) > 0 {
						require.NotZero(t, concluded)
					}
					used = used.Add(secondVerdicts(res, prices[budget]))
					cost := used.Cost * 1e6
					is := map[string]float64{"output_tokens": float64(used.Output), "tokens": float64(used.Input + used.Output)}[budget]
					if is == 0 {
						is = cost
					}
					require.LessOrEqual(t, is, float64(least)+1e-6)
					require.LessOrEqual(t, float64(least), 1.2*is+1, "%d turns, %+v", len(res.Turns), used)
				})
			}
		}
	}
}
