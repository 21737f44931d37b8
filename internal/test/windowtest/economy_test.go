package windowtest

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers/price"
)

// priceLists are the prices of two models in dollars for a million tokens, from the lists of the first half of 2026. If a
// cache has to be written, every token that is not read from it counts as written, so withCache is an upper bound.
var priceLists = []struct {
	name                string
	uncached, withCache price.Price
}{
	{"gpt-4o-mini", price.Price{Input: 0.15, Output: 0.60}, price.Price{Input: 0.15, Cached: 0.075, Output: 0.60}},
	{"Claude Sonnet 4.6", price.Price{Input: 3, Output: 15}, price.Price{Input: 3.75, Cached: 0.30, Output: 15}},
}

var lengths = []int{5, 20, 100} // lengths of debates in rounds

// Most tokens of a panel's prompts repeat the previous prompt, with every manager.
func TestDebatersPromptsRepeatWhatTheOneBeforeHad(t *testing.T) {
	rules := panel.Protocol{Format: panel.RoundLimited}
	for _, tt := range []struct {
		rounds          int
		within          float64 // per cent, if the history fits
		least, summedUp float64 // in a window for a quarter of the debate; summedUp if a summarizer writes 80 % of its limit
	}{{20, 87, 55, 50}, {100, 97, 85, 85}} {
		full := runEconomyDebate(t, rules, tt.rounds, window.Policy{}, nil)
		require.GreaterOrEqual(t, full.bill(debaters...).share(), tt.within, "%d rounds, within the window", tt.rounds)
		room := full.quarter()
		for _, w := range historyPolicies {
			if tt.rounds > 20 && w.policy.Manager != "" && !w.policy.AllowSummaries {
				continue // it takes long, and -update measures it
			}
			t.Run(fmt.Sprintf("%d rounds, %s", tt.rounds, w.name), func(t *testing.T) {
				cut := runEconomyDebate(t, rules, tt.rounds, w.policy, full.windows(room, w.policy))
				least := tt.least
				if w.policy.UsesSummaries() {
					least = tt.summedUp
				}
				require.GreaterOrEqual(t, cut.bill(debaters...).share(), least)
				for _, price := range priceLists {
					naive := full.naive(tt.rounds, room).bill()
					require.Less(t, cut.bill().cost(price.withCache), naive.cost(price.withCache), price.name)
				}
			})
		}
	}
}

func TestWhereAllFitsTheManagerMakesNoDifference(t *testing.T) {
	sample := enginetest.NewSample(t, 8)
	for _, h := range heldProtocols {
		full := runEconomyDebate(t, h.rules(5), 5, window.Policy{}, nil).bill()
		for _, w := range historyPolicies {
			if !triesPair(sample, h.name, w.name) {
				continue
			}
			require.Equal(t, full, runEconomyDebate(t, h.rules(5), 5, w.policy, nil).bill(), "%s, %s", h.name, w.name)
		}
	}
}

// The debate's totals are the sums of what the providers report.
func TestADebateAddsUpWhatItsPromptsRepeat(t *testing.T) {
	d := runEconomyDebate(t, procon.Protocol{}, 5, window.Policy{}, nil)
	require.Equal(t, d.bill().repeated, d.result.Total.Usage.Cached)
	require.Equal(t, d.bill().reply, d.result.Total.Usage.Output)
}

// protocolFigures are the measurements of one protocol.
type protocolFigures struct {
	protocol   string
	grows      bool
	rounds     int
	full, bare *heldDebate            // with a history that fits: by the engine, and by the naive builder
	cut        map[string]*heldDebate // in a window for a quarter of the history, by history policy
}

// measureProtocols measures the debates of each protocol that a test tries.
func measureProtocols(t testing.TB, tries func(protocol string, rounds int) bool) (list []protocolFigures) {
	t.Helper()
	for _, h := range heldProtocols {
		for _, rounds := range lengths {
			if !tries(h.name, rounds) {
				continue
			}
			full := runEconomyDebate(t, h.rules(rounds), rounds, window.Policy{}, nil)
			b := protocolFigures{h.name, h.grows, rounds, full, full.naive(rounds, 0), map[string]*heldDebate{}}
			for _, w := range historyPolicies {
				if h.grows {
					b.cut[w.name] = runEconomyDebate(t, h.rules(rounds), rounds, w.policy, full.windows(full.quarter(), w.policy))
				}
			}
			b.cut["naive"] = full.naive(rounds, full.quarter())
			list = append(list, b)
		}
	}
	return list
}

const windowsPage, economyBegins, economyEnds = "../../../docs/measured/windows.md", "<!-- economy -->\n", "<!-- /economy -->\n"

// The debates of 100 rounds run only with -update, and of those of 20 rounds a sample. A change that affects them affects the shorter
// ones too.
func TestTheFiguresOfEconomyArePublished(t *testing.T) {
	if golden.Update() {
		all := measureProtocols(t, func(string, int) bool { return true })
		golden.Section(t, windowsPage, "economy", economy(callsTable(t), all))
		return
	}
	page, err := os.ReadFile(windowsPage)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), economyBegins)
	published, _, closed := strings.Cut(rest, economyEnds)
	require.True(t, found && closed, "%s has no section on economy: run go test ./internal/test/windowtest -run Economy -update",
		windowsPage)

	sample := enginetest.NewSample(t, 4)
	skipped := []string{"100"}
	measured := measureProtocols(t, func(protocol string, rounds int) bool {
		if rounds == 100 {
			return false
		}
		tried := sample.Tries(protocol)
		if !tried {
			skipped = append(skipped, fmt.Sprintf("%s \\| %d", protocol, rounds))
		}
		return tried
	})
	rows := regexp.MustCompile(`(?m)^\| (?:\S+ \| )?(?:` + strings.Join(skipped, "|") + `) \|.*\n`)
	require.Equal(t, economy(callsTable(t), measured), rows.ReplaceAllString(published, ""),
		"%s is out of date: run go test ./internal/test/windowtest -run Economy -update, and read the difference", windowsPage)
}

// economy returns the section on what prompts repeat, with a table of calls.
func economy(calls string, list []protocolFigures) string {
	var b strings.Builder
	b.WriteString(economyText)
	b.WriteString("\n### Histories that fit\n\n" +
		"| protocol | rounds | input tokens | debaters repeat | all repeat | last prompt only | naive debaters repeat |")
	for _, l := range priceLists {
		fmt.Fprintf(&b, " %s | cached | naive, cached |", l.name)
	}
	b.WriteString("\n" + strings.Repeat("|---", 7+3*len(priceLists)) + "|\n")
	for _, x := range list {
		all := x.full.bill()
		fmt.Fprintf(&b, "| %s | %d | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |", x.protocol, x.rounds, thousands(all.prompt),
			x.full.bill(debaters...).share(), all.share(), x.full.afterAnyPrompt().share(), x.bare.bill(debaters...).share())
		for _, l := range priceLists {
			fmt.Fprintf(&b, " %s | %s | %s |", dollars(all.cost(l.uncached)), dollars(all.cost(l.withCache)), dollars(x.bare.bill().cost(l.withCache)))
		}
		b.WriteByte('\n')
	}
	b.WriteString(calls)
	b.WriteString("\n### Windows for a quarter of the history\n\n" + quarterText)
	grid := func(title string, cell func(*heldDebate) string) {
		fmt.Fprintf(&b, "\n%s:\n\n| protocol | rounds | naive |", title)
		for _, w := range historyPolicies {
			fmt.Fprintf(&b, " %s |", w.name)
		}
		b.WriteString("\n" + strings.Repeat("|---", 3+len(historyPolicies)) + "|\n")
		for _, x := range list {
			if !x.grows {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d | %s |", x.protocol, x.rounds, cell(x.cut["naive"]))
			for _, w := range historyPolicies {
				fmt.Fprintf(&b, " %s |", cell(x.cut[w.name]))
			}
			b.WriteByte('\n')
		}
	}
	grid("Share of the debaters' prompts that repeats", func(d *heldDebate) string { return fmt.Sprintf("%.1f %%", d.bill(debaters...).share()) })
	grid("Input tokens of all prompts, including the summarizer's", func(d *heldDebate) string { return thousands(d.bill().prompt) })
	for _, l := range priceLists {
		grid("Cost with "+l.name+" in dollars, without and with a cache", func(d *heldDebate) string {
			return dollars(d.bill().cost(l.uncached)) + ", " + dollars(d.bill().cost(l.withCache))
		})
	}
	return b.String()
}

// ruled is a protocol with the parameters that set it apart.
type ruled struct {
	parameters string
	rules      protocol.Protocol
	rounds     int // 0 for the protocol's default
}

// callsTable returns the number of calls of a debate of each protocol with its default parameters, and with the options
// that change the number.
func callsTable(t testing.TB) string {
	var b strings.Builder
	b.WriteString(callsText)
	list := []ruled{}
	for _, h := range heldProtocols {
		list = append(list, ruled{rules: h.rules(3)})
	}
	list = append(list, ruled{rules: council.Protocol{}},
		ruled{parameters: ", `oxford`", rules: panel.Protocol{Format: panel.Oxford}},
		ruled{parameters: ", `rotate_judges`, two judges", rules: panel.Protocol{Format: panel.RoundLimited, RotateJudges: true}},
		ruled{parameters: ", `devils_advocate`", rules: panel.Protocol{Format: panel.RoundLimited, DevilsAdvocate: true}},
		ruled{parameters: ", 5 `samples`", rules: vote.Protocol{Samples: 5}},
		ruled{parameters: ", ReConcile", rules: vote.Protocol{Decision: vote.Confidence, Rescale: true, Grouped: true, Unanimity: vote.Stop}, rounds: 3},
		ruled{parameters: ", S²-MAD", rules: vote.Protocol{Topology: vote.Groups, Filter: new(0.0), Conditional: true}},
	)
	for _, x := range list {
		p := x.rules
		d := runEconomyDebate(t, p, cmp.Or(x.rounds, defaultRounds(p)), window.Policy{}, nil)
		calls := 0
		members := membersOf(p)
		all := d.bill()
		for _, a := range d.actors {
			calls += len(a.requests)
		}
		fmt.Fprintf(&b, "| `%s`%s | %d | %d | %d | %s | %.1f %% | %.1f %% |\n", p.Name(), x.parameters, len(members), d.result.Round, calls,
			thousands(all.prompt), d.bill(members...).share(), all.share())
	}
	return b.String()
}

const callsText = `
### Calls of a debate

These debates have the parameters that the table names, the default rounds of their protocols, and one judge; samples have
no judge, and ReConcile has the 3 rounds of its source. No debate ends early. In the votes no two agents agree, so the judge
decides, and S²-MAD leaves out nothing and nobody. The devil's advocate speaks in each round from the second on. All samples
of an agent have the same prompt.

Escalation is not in the table, because it consists of several debates. [` + "`examples/escalation`" + `](../../examples/escalation) with
four models takes 2 replies if the pair agrees at once, 4 if it agrees in round 2, 6 if it agrees in round 3, and 10 to 15 if
more models vote.

| protocol | participants | rounds | calls | input tokens | participants repeat | all repeat |
|---|---|---|---|---|---|---|
`

func thousands(tokens int) string { return fmt.Sprintf("%d k", (tokens+500)/1000) }

func dollars(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

const economyText = `## Repetition in prompts, and what it saves

` + "`go test ./internal/test/windowtest -update`" + ` measures these figures and writes this section. The engine runs each debate with
scripted models, whose speeches have 200 to 300 tokens. Each prompt is compared with the previous prompt of the same actor.

- *Repeat* is the share of prompt tokens that also began the actor's previous prompt: all equal messages at the beginning,
  and the equal beginning of the first message that differs. ` + "`window.Estimate`" + ` counts the tokens of the messages; schemas
  and roles are not counted. An actor's first prompt repeats nothing.
- *Debaters* are A and B. *All* includes the judge and the summarizer.
- *Naive* is the same debate with a simple prompt builder. It puts the number of the round at the end of the system prompt,
  and omits only as many of the oldest turns as it must.
- Costs are for prompts and replies together, in dollars, at list prices of the first half of 2026 for a million tokens. For
  gpt-4o-mini these are 0.15 for input, 0.075 for cached input and 0.60 for output. For Claude Sonnet 4.6 these are 3, 0.30
  and 15, and 3.75 for input that is written to the cache.
- *Cached* assumes that every repeated token is read from the cache. For Claude, every other input token is assumed to be
  written to it. Real caches save less: they expire after minutes, do not cache prompts of less than about a thousand
  tokens, and work in blocks.
- Each prompt is compared with the same actor's previous one. So the shares assume a cache for each actor, or a cache that
  restores the best earlier prefix, as hosted services and current versions of llama.cpp have. A server that keeps only the
  last prompt has another actor's prompt in its cache in most steps: *last prompt only* is what all prompts then repeat.
`

const quarterText = `Each model's window has room for a quarter of the longest history, and for two turns at least, in addition to the system
prompt, the task and the reply. The summarizer uses 80 % of the tokens that it may use. The tables omit refine and
vote, because their prompts show only some of the earlier rounds and so do not grow.
`

// BenchmarkEconomy runs the same debates and reports the tokens and costs of each.
func BenchmarkEconomy(b *testing.B) {
	for _, h := range heldProtocols {
		for _, rounds := range lengths {
			full := runEconomyDebate(b, h.rules(rounds), rounds, window.Policy{}, nil)
			for _, w := range historyPolicies {
				for _, size := range []string{"whole", "quarter"} {
					b.Run(fmt.Sprintf("%s/%d/%s/%s", h.name, rounds, strings.ReplaceAll(w.name, " ", "-"), size), func(b *testing.B) {
						var windows map[string]int
						if size == "quarter" {
							windows = full.windows(full.quarter(), w.policy)
						}
						var d *heldDebate
						for b.Loop() {
							d = runEconomyDebate(b, h.rules(rounds), rounds, w.policy, windows)
						}
						all := d.bill()
						b.ReportMetric(d.bill(debaters...).share(), "%repeated")
						b.ReportMetric(float64(all.prompt), "tokens")
						for _, l := range priceLists {
							name := strings.ReplaceAll(l.name, " ", "-")
							b.ReportMetric(all.cost(l.uncached), name+"-$")
							b.ReportMetric(all.cost(l.withCache), name+"-cached-$")
						}
					})
				}
			}
		}
	}
}
