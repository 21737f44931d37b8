package windowtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers/price"
)

// priceLists are what two models cost, in dollars for a million tokens, as their makers listed it in the first half of 2026.
// Where a cache has to be written, each token that is not read from it is taken to be: so with the cache is the most
// that it costs.
var priceLists = []struct {
	name                string
	uncached, withCache price.Price
}{
	{"gpt-4o-mini", price.Price{Input: 0.15, Output: 0.60}, price.Price{Input: 0.15, Cached: 0.075, Output: 0.60}},
	{"Claude Sonnet 4.6", price.Price{Input: 3, Output: 15}, price.Price{Input: 3.75, Cached: 0.30, Output: 15}},
}

var lengths = []int{5, 20, 100} // of debates, in rounds

// Most of what a panel's prompts hold stood in the one before, by any manager.
func TestDebatersPromptsRepeatWhatTheOneBeforeHad(t *testing.T) {
	rules := panel.Protocol{Format: panel.RoundLimited}
	for _, tt := range []struct {
		rounds          int
		within          float64 // per cent, where all fits
		least, summedUp float64 // in a window for a quarter of the debate; where a summarizer writes 80 % of what it may
	}{{20, 87, 55, 50}, {100, 97, 85, 85}} {
		full := runEconomyDebate(t, rules, tt.rounds, window.Policy{}, nil)
		require.GreaterOrEqual(t, full.bill(debaters...).share(), tt.within, "%d rounds, within the window", tt.rounds)
		room := full.quarter()
		for _, w := range historyPolicies {
			if tt.rounds > 20 && w.policy.Manager != "" && !w.policy.AllowSummaries {
				continue // it takes long, and is published
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
	for _, h := range heldProtocols {
		full := runEconomyDebate(t, h.rules(5), 5, window.Policy{}, nil).bill()
		for _, w := range historyPolicies {
			require.Equal(t, full, runEconomyDebate(t, h.rules(5), 5, w.policy, nil).bill(), "%s, %s", h.name, w.name)
		}
	}
}

// What the providers report is what the debate adds up.
func TestADebateAddsUpWhatItsPromptsRepeat(t *testing.T) {
	d := runEconomyDebate(t, procon.Protocol{}, 5, window.Policy{}, nil)
	require.Equal(t, d.bill().repeated, d.result.Total.Usage.Cached)
	require.Equal(t, d.bill().reply, d.result.Total.Usage.Output)
}

// protocolFigures is what one protocol came to.
type protocolFigures struct {
	protocol   string
	grows      bool
	rounds     int
	full, bare *heldDebate            // within the window, and by the naive builder
	cut        map[string]*heldDebate // in a quarter of it, by the builder
}

func measureProtocols(t testing.TB, most int) (list []protocolFigures) {
	t.Helper()
	for _, h := range heldProtocols {
		for _, rounds := range lengths {
			if rounds > most {
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

const windowsPage, economyBegins, economyEnds = "../../docs/windows.md", "<!-- economy -->\n", "<!-- /economy -->\n"

// The long debates are held for -update alone: what changes them changes the short ones too.
func TestTheFiguresOfEconomyArePublished(t *testing.T) {
	if golden.Update() {
		golden.Section(t, windowsPage, "economy", economy(measureProtocols(t, 100)))
		return
	}
	page, err := os.ReadFile(windowsPage)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), economyBegins)
	got, _, closed := strings.Cut(rest, economyEnds)
	require.True(t, found && closed, "%s has no section on economy: go test ./internal/windowtest -run Economy -update writes it", windowsPage)
	long := regexp.MustCompile(`(?m)^\| \S+ \| 100 \|.*\n`)
	require.Equal(t, economy(measureProtocols(t, 20)), long.ReplaceAllString(got, ""), "%s is out of date: go test ./internal/windowtest -run Economy -update writes it anew", windowsPage)
}

// economy is the section on what prompts repeat.
func economy(list []protocolFigures) string {
	var b strings.Builder
	b.WriteString(economyText)
	b.WriteString("\n### Where all fits\n\n" +
		"| protocol | rounds | prompts | debaters repeat | all repeat | naive debaters |")
	for _, l := range priceLists {
		fmt.Fprintf(&b, " %s | cached | naive, cached |", l.name)
	}
	b.WriteString("\n" + strings.Repeat("|---", 6+3*len(priceLists)) + "|\n")
	for _, x := range list {
		all := x.full.bill()
		fmt.Fprintf(&b, "| %s | %d | %s | %.1f %% | %.1f %% | %.1f %% |", x.protocol, x.rounds, thousands(all.prompt),
			x.full.bill(debaters...).share(), all.share(), x.bare.bill(debaters...).share())
		for _, l := range priceLists {
			fmt.Fprintf(&b, " %s | %s | %s |", dollars(all.cost(l.uncached)), dollars(all.cost(l.withCache)), dollars(x.bare.bill().cost(l.withCache)))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n### In a quarter of that\n\n" + quarterText)
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
	grid("The share that debaters' prompts repeat", func(d *heldDebate) string { return fmt.Sprintf("%.1f %%", d.bill(debaters...).share()) })
	grid("Tokens of all prompts, the summarizer's too", func(d *heldDebate) string { return thousands(d.bill().prompt) })
	for _, l := range priceLists {
		grid("Dollars by the prices of "+l.name+", without a cache and with one", func(d *heldDebate) string {
			return dollars(d.bill().cost(l.uncached)) + ", " + dollars(d.bill().cost(l.withCache))
		})
	}
	return b.String()
}

func thousands(tokens int) string { return fmt.Sprintf("%d k", (tokens+500)/1000) }

func dollars(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

const economyText = `## What prompts repeat, and what that saves

Measured by ` + "`go test ./internal/windowtest -update`" + `, which writes this section: the engine holds each debate with scripted
models, whose speeches have 200 to 300 tokens, and each request is compared with the one before of the same actor.

- *Repeat* is the share of prompt tokens with which the actor's prompt before began as well: of its first messages as long
  as they are equal, and of the first that differs up to the first byte that does. Tokens are those of
  ` + "`window.Estimate`" + `, of messages alone: no schemas, no roles.
- *Debaters* are A and B; *all* are the judge and the summarizer as well. An actor's first prompt repeats nothing.
- *Naive* is the same debate by a builder that has the number of the round at the end of the system prompt, and that leaves
  out no more of the oldest turns than it must.
- Money is that of prompts and replies together, in dollars by list prices of the first half of 2026: gpt-4o-mini at 0.15 a
  million tokens of prompts, 0.075 cached and 0.60 of replies; Claude Sonnet 4.6 at 3, 0.30 and 15, and 3.75 for what is
  written to its cache, which each token is taken to be that is not read from it. *Cached* takes each repeated token to be
  read: real caches forget after minutes, hold no prompt of less than about a thousand tokens, and go by blocks.
`

const quarterText = `The window of each model has room for a quarter of the longest history, or for two turns where that is more, beside its
system prompt, its task and its reply. The summarizer writes 80 % of what it may. The prompts of critique-refine and of vote
are not here: they show a part of the rounds before only, so they do not grow.
`

// BenchmarkEconomy holds the same debates, and reports what each comes to.
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
