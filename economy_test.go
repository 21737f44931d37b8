package debate_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// lists are what two models cost, in dollars for a million tokens, as their makers listed it in the first half of 2026.
// Where a cache has to be written, each token that is not read from it is taken to be: so with the cache is the most
// that it costs.
var lists = []struct {
	name                string
	uncached, withCache price.Price
}{
	{"gpt-4o-mini", price.Price{Input: 0.15, Output: 0.60}, price.Price{Input: 0.15, Cached: 0.075, Output: 0.60}},
	{"Claude Sonnet 4.6", price.Price{Input: 3, Output: 15}, price.Price{Input: 3.75, Cached: 0.30, Output: 15}},
}

// ways are the managers, and the builder that stands beside them.
var ways = []struct {
	name   string
	policy window.Policy
}{
	{"truncate", window.Policy{Manager: window.Truncate}},
	{"sliding", window.Policy{Manager: window.Sliding}},
	{"summarize", window.Policy{Manager: window.Summarize}},
	{"hybrid", window.Policy{}},
	{"hybrid with summaries", window.Policy{Manager: window.Hybrid, Summarize: true}},
}

// held are the protocols, so that nothing but the limit on rounds ends them.
var held = []struct {
	name  string
	grows bool // a prompt shows all rounds before
	rules func(rounds int) protocol.Protocol
}{
	{"panel", true, func(int) protocol.Protocol { return panel.Protocol{Format: panel.RoundLimited} }},
	{"proposer-skeptic", true, func(int) protocol.Protocol { return skeptic.Protocol{} }},
	{"critique-refine", false, func(int) protocol.Protocol { return refine.Protocol{} }},
	{"arbitration", true, disputes},
	{"pro-con", true, func(int) protocol.Protocol { return procon.Protocol{} }},
	{"vote", false, func(int) protocol.Protocol { return vote.Protocol{} }},
}

var lengths = []int{5, 20, 100} // of debates, in rounds

func disputes(rounds int) protocol.Protocol {
	p := arbitration.Protocol{Scores: map[string]float64{"plan": 5}}
	for i := range rounds {
		p.Topics = append(p.Topics, arbitration.Topic{
			Name: fmt.Sprintf("point %d", i+1), Question: fmt.Sprintf("Does point %d of the plan hold?", i+1), Category: "plan",
			Advocate: "It holds.", Challenger: "It does not hold.",
		})
	}
	return p
}

var debaters = []string{"A", "B"}

// replyCap is the cap of each reply in tokens.
const replyCap = 1000

// actor is a model that always has something to say, of a realistic length, the same whatever its prompts have room for.
// It keeps what it was asked.
type actor struct {
	t       testing.TB
	name    string
	skeptic bool

	mu    sync.Mutex
	asked []providers.Request
	wrote []int // tokens of each reply
}

func (a *actor) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.say(&r)
	u := transcript.Usage{Input: tokens(r.Messages) + window.Estimate(string(r.Schema)), Output: window.Estimate(text)}
	if n := len(a.asked); n > 0 {
		u.Cached = repeated(a.asked[n-1].Messages, r.Messages)
	}
	a.asked, a.wrote = append(a.asked, r), append(a.wrote, u.Output)
	return providers.Response{Text: text, Usage: u, Finish: providers.Stop}, nil
}

// say is the reply to a request.
func (a *actor) say(r *providers.Request) string {
	h := fnv.New64a()
	fmt.Fprintln(h, a.name, len(a.asked))
	w := words{rand.New(rand.NewPCG(h.Sum64(), 0))}
	other := map[string]string{"A": "B", "B": "A"}[a.name]
	var v any
	switch r.Reply {
	case "assessment/1":
		v = thorough("A", "B")
	case "verdict/1":
		v = judge.Verdict{Summary: w.of(200), Quality: 60}
	case "peer-critique/1":
		flaw := refine.Weakness{Issue: w.of(110), Severity: "major", Suggestion: w.of(60)}
		v = refine.Critique{Author: other, Overall: w.of(60), Weaknesses: []refine.Weakness{flaw}}
	case "refine-summary/1":
		v = refine.Summary{Summary: w.of(500)}
	case "solution/1":
		v = refine.Solution{
			Description: w.of(400), Implementation: []string{w.of(60)}, TradeOffs: []string{}, Recommendations: []string{}, Confidence: 70,
		}
	case "argument/1":
		v = arbitration.Case{Arguments: []arbitration.Argument{{Claim: w.of(30), Reasoning: w.of(120), Evidence: w.of(100)}}}
	case "ruling/1":
		v = arbitration.Ruling{Reasoning: w.of(120), KeyPoints: []string{w.of(30)}, Winner: arbitration.Draw, Confidence: 60}
	case "judgment/1":
		v = procon.Judgment{Summary: w.of(150), Participants: []procon.Score{{Name: "A", Score: 6}, {Name: "B", Score: 6}}}
	case "vote/1":
		v = vote.Ballot{Reasoning: w.of(220), Answer: "That of " + a.name, Confidence: 60}
	case "decision/1":
		v = vote.Ruling{Reasoning: w.of(150), Winner: "A"}
	default:
		return a.speak(r, w)
	}
	return encode(a.t, v)
}

// speak is a speech of 200 to 300 tokens, or a summary that takes most of the room that it is given. Who is a skeptic
// finds a critical issue each time.
func (a *actor) speak(r *providers.Request, w words) string {
	switch {
	case a.name == protocol.Summarizing:
		return w.of(r.MaxTokens * 8 / 10)
	case a.skeptic:
		return w.of(200) + fmt.Sprintf("\n\n{\"issues\": [{\"severity\": \"critical\", \"text\": %q}], \"ready\": false, \"score\": 5}", w.of(30))
	}
	return w.of(200 + w.IntN(101))
}

type words struct{ *rand.Rand }

// of is a text of about so many tokens.
func (w words) of(tokens int) string {
	var b strings.Builder
	for n := range tokens * 10 / 13 {
		switch {
		case n%12 == 11:
			b.WriteString(". ")
		case n > 0:
			b.WriteByte(' ')
		}
		for range 2 + w.IntN(7) {
			b.WriteByte(byte('a' + w.IntN(26)))
		}
	}
	return b.String() + "."
}

// tokens are those of messages.
func tokens(messages []providers.Message) (n int) {
	for _, m := range messages {
		n += weigh(m.Text)
	}
	return n
}

var weighed sync.Map // texts stand in many prompts

func weigh(text string) int {
	if n, ok := weighed.Load(text); ok {
		return n.(int)
	}
	n := window.Estimate(text)
	weighed.Store(text, n)
	return n
}

// repeated are the tokens with which a prompt begins as the one before: of equal messages, and of what is equal at the
// beginning of the first that differs.
func repeated(before, now []providers.Message) (n int) {
	for i := range min(len(before), len(now)) {
		if before[i] == now[i] {
			n += weigh(now[i].Text)
			continue
		}
		at := 0
		if a, b := before[i].Text, now[i].Text; before[i].Role == now[i].Role {
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
		}
		return n + window.Estimate(now[i].Text[:at])
	}
	return n
}

// debated is a debate that was held, by what its models were asked.
type debated struct {
	actors map[string]*actor
	rounds map[string][]int // of an actor's calls
	needs  map[string]needs
	result *debate.Result
}

// needs are the tokens of an actor's prompts at most.
type needs struct{ history, system, beside, turn int }

// hold has a debate held in windows of its own for each actor; 0: larger than any need.
func hold(t testing.TB, rules protocol.Protocol, rounds int, policy window.Policy, windows map[string]int) *debated {
	t.Helper()
	d := &debated{actors: map[string]*actor{}, rounds: map[string][]int{}, needs: map[string]needs{}}
	o := debate.Options{Providers: map[string]providers.Provider{}}
	member := func(name, position string) debate.Participant {
		_, critic := rules.(skeptic.Protocol)
		d.actors[name] = &actor{t: t, name: name, skeptic: critic && name == "B"}
		o.Providers[name] = d.actors[name]
		p := debate.Participant{Name: name, Position: position, Provider: name, Window: cmp.Or(windows[name], 1<<30)}
		if name == protocol.Summarizing {
			p.Name, p.Window, p.MaxTokens = "", 128_000, 4096
		}
		return p
	}
	c := debate.Config{
		ID: "economy", Topic: "Should the city close its centre to cars?", Protocol: rules, History: policy,
		Participants: []debate.Participant{member("A", "Yes, it should."), member("B", "No, it should not.")},
		Judges:       []debate.Participant{member("J", "")}, Summarizer: member(protocol.Summarizing, ""),
		Limits: debate.Limits{MinRounds: rounds, MaxRounds: rounds, OutputTokens: 1 << 30, StepTokens: replyCap, JudgeTokens: replyCap},
	}
	x, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	_, err = run(t, x)
	require.NoError(t, err)
	d.result = result(t, x)
	require.Equal(t, fsm.Completed, d.result.State)
	require.Equal(t, rounds, d.result.Ending.Round)
	turns := slices.SortedFunc(slices.Values(d.result.Turns), func(a, b transcript.Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, turn := range turns {
		require.Empty(t, turn.Flags, "%s: %s", turn.Key, turn.Attempts[0].Message)
		if a := d.actors[turn.Actor]; a != nil {
			d.rounds[turn.Actor] = append(d.rounds[turn.Actor], turn.Round)
		}
	}
	for name, a := range d.actors {
		require.Equal(t, len(d.rounds[name]), len(a.asked), "each call of %s gives a turn", name)
		d.needs[name] = a.needs()
	}
	return d
}

func (a *actor) needs() (n needs) {
	for _, r := range a.asked {
		last := len(r.Messages) - 1
		n.history = max(n.history, tokens(r.Messages[1:last]))
		n.system = max(n.system, tokens(r.Messages[:1]))
		n.beside = max(n.beside, tokens(r.Messages[:1])+tokens(r.Messages[last:])+window.Estimate(string(r.Schema)))
		for _, m := range r.Messages[1:last] {
			n.turn = max(n.turn, window.Estimate(m.Text))
		}
	}
	return n
}

// bill is what prompts and replies come to, in tokens.
type bill struct{ prompt, repeated, reply int }

func (b bill) share() float64 { return 100 * float64(b.repeated) / float64(b.prompt) }

func (b bill) cost(p price.Price) float64 {
	return p.Cost(transcript.Usage{Input: b.prompt, Cached: b.repeated, Output: b.reply})
}

// bill is that of some actors, or of all.
func (d *debated) bill(names ...string) (b bill) {
	for name, a := range d.actors {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		for i, r := range a.asked {
			b.prompt += tokens(r.Messages)
			if i > 0 {
				b.repeated += repeated(a.asked[i-1].Messages, r.Messages)
			}
			b.reply += a.wrote[i]
		}
	}
	return b
}

// naive is the same debate by a builder that has the number of the round in the system prompt, and leaves out no more of
// the oldest turns than it must.
func (d *debated) naive(rounds int, room int) *debated {
	other := &debated{actors: map[string]*actor{}}
	for name, a := range d.actors {
		b := &actor{name: name, wrote: a.wrote}
		for i, r := range a.asked {
			last := len(r.Messages) - 1
			system, history := r.Messages[0], r.Messages[1:last]
			system.Text += fmt.Sprintf("\n\nThis is round %d of %d.", d.rounds[name][i], rounds)
			for len(history) > 1 && room > 0 && tokens(history) > room {
				history = history[1:]
			}
			r.Messages = slices.Concat([]providers.Message{system}, history, r.Messages[last:])
			b.asked = append(b.asked, r)
		}
		other.actors[name] = b
	}
	return other
}

// quarter is a quarter of the longest history that a debater's prompt had, but not less than two turns.
func (d *debated) quarter() (room int) {
	for _, name := range debaters {
		room = max(room, d.needs[name].history/4, 2*d.needs[name].turn)
	}
	return room
}

// windows have this room for histories, and enough for what else there is in a prompt.
func (d *debated) windows(room int, policy window.Policy) map[string]int {
	windows := map[string]int{}
	for name, n := range d.needs {
		beside := (n.beside/512 + 1) * 512 // as the engine rounds it up
		if policy.Summarizes() {
			beside = max(beside, 2200, n.system+1600) // it keeps an allowance
		}
		windows[name] = replyCap + beside + room
	}
	return windows
}

// Most of what a panel's prompts hold stood in the one before, by any manager.
func TestDebatersPromptsRepeatWhatTheOneBeforeHad(t *testing.T) {
	rules := panel.Protocol{Format: panel.RoundLimited}
	for _, tt := range []struct {
		rounds          int
		within          float64 // per cent, where all fits
		least, summedUp float64 // in a window for a quarter of the debate; where a summarizer writes 80 % of what it may
	}{{20, 87, 55, 50}, {100, 97, 85, 85}} {
		full := hold(t, rules, tt.rounds, window.Policy{}, nil)
		require.GreaterOrEqual(t, full.bill(debaters...).share(), tt.within, "%d rounds, within the window", tt.rounds)
		room := full.quarter()
		for _, w := range ways {
			if tt.rounds > 20 && w.policy.Manager != "" && !w.policy.Summarize {
				continue // it takes long, and is published
			}
			t.Run(fmt.Sprintf("%d rounds, %s", tt.rounds, w.name), func(t *testing.T) {
				cut := hold(t, rules, tt.rounds, w.policy, full.windows(room, w.policy))
				least := tt.least
				if w.policy.Summarizes() {
					least = tt.summedUp
				}
				require.GreaterOrEqual(t, cut.bill(debaters...).share(), least)
				for _, price := range lists {
					naive := full.naive(tt.rounds, room).bill()
					require.Less(t, cut.bill().cost(price.withCache), naive.cost(price.withCache), price.name)
				}
			})
		}
	}
}

func TestWhereAllFitsTheManagerMakesNoDifference(t *testing.T) {
	for _, h := range held {
		full := hold(t, h.rules(5), 5, window.Policy{}, nil).bill()
		for _, w := range ways {
			require.Equal(t, full, hold(t, h.rules(5), 5, w.policy, nil).bill(), "%s, %s", h.name, w.name)
		}
	}
}

// What the providers report is what the debate adds up.
func TestADebateAddsUpWhatItsPromptsRepeat(t *testing.T) {
	d := hold(t, procon.Protocol{}, 5, window.Policy{}, nil)
	require.Equal(t, d.bill().repeated, d.result.Total.Usage.Cached)
	require.Equal(t, d.bill().reply, d.result.Total.Usage.Output)
}

// book is what one protocol came to.
type book struct {
	protocol   string
	grows      bool
	rounds     int
	full, bare *debated            // within the window, and by the naive builder
	cut        map[string]*debated // in a quarter of it, by the builder
}

func books(t testing.TB, most int) (list []book) {
	t.Helper()
	for _, h := range held {
		for _, rounds := range lengths {
			if rounds > most {
				continue
			}
			full := hold(t, h.rules(rounds), rounds, window.Policy{}, nil)
			b := book{h.name, h.grows, rounds, full, full.naive(rounds, 0), map[string]*debated{}}
			for _, w := range ways {
				if h.grows {
					b.cut[w.name] = hold(t, h.rules(rounds), rounds, w.policy, full.windows(full.quarter(), w.policy))
				}
			}
			b.cut["naive"] = full.naive(rounds, full.quarter())
			list = append(list, b)
		}
	}
	return list
}

const windowsPage, economyBegins, economyEnds = "docs/windows.md", "<!-- economy -->\n", "<!-- /economy -->\n"

// The long debates are held for -update alone: what changes them changes the short ones too.
func TestTheFiguresOfEconomyArePublished(t *testing.T) {
	if golden.Update() {
		golden.Section(t, windowsPage, "economy", economy(books(t, 100)))
		return
	}
	page, err := os.ReadFile(windowsPage)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), economyBegins)
	got, _, closed := strings.Cut(rest, economyEnds)
	require.True(t, found && closed, "%s has no section on economy: go test . -run Economy -update writes it", windowsPage)
	long := regexp.MustCompile(`(?m)^\| \S+ \| 100 \|.*\n`)
	require.Equal(t, economy(books(t, 20)), long.ReplaceAllString(got, ""), "%s is out of date: go test . -run Economy -update writes it anew", windowsPage)
}

// economy is the section on what prompts repeat.
func economy(list []book) string {
	var b strings.Builder
	b.WriteString(economyText)
	b.WriteString("\n### Where all fits\n\n" +
		"| protocol | rounds | prompts | debaters repeat | all repeat | naive debaters |")
	for _, l := range lists {
		fmt.Fprintf(&b, " %s | cached | naive, cached |", l.name)
	}
	b.WriteString("\n" + strings.Repeat("|---", 6+3*len(lists)) + "|\n")
	for _, x := range list {
		all := x.full.bill()
		fmt.Fprintf(&b, "| %s | %d | %s | %.1f %% | %.1f %% | %.1f %% |", x.protocol, x.rounds, thousands(all.prompt),
			x.full.bill(debaters...).share(), all.share(), x.bare.bill(debaters...).share())
		for _, l := range lists {
			fmt.Fprintf(&b, " %s | %s | %s |", dollars(all.cost(l.uncached)), dollars(all.cost(l.withCache)), dollars(x.bare.bill().cost(l.withCache)))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n### In a quarter of that\n\n" + quarterText)
	grid := func(title string, cell func(*debated) string) {
		fmt.Fprintf(&b, "\n%s:\n\n| protocol | rounds | naive |", title)
		for _, w := range ways {
			fmt.Fprintf(&b, " %s |", w.name)
		}
		b.WriteString("\n" + strings.Repeat("|---", 3+len(ways)) + "|\n")
		for _, x := range list {
			if !x.grows {
				continue
			}
			fmt.Fprintf(&b, "| %s | %d | %s |", x.protocol, x.rounds, cell(x.cut["naive"]))
			for _, w := range ways {
				fmt.Fprintf(&b, " %s |", cell(x.cut[w.name]))
			}
			b.WriteByte('\n')
		}
	}
	grid("The share that debaters' prompts repeat", func(d *debated) string { return fmt.Sprintf("%.1f %%", d.bill(debaters...).share()) })
	grid("Tokens of all prompts, the summarizer's too", func(d *debated) string { return thousands(d.bill().prompt) })
	for _, l := range lists {
		grid("Dollars by the prices of "+l.name+", without a cache and with one", func(d *debated) string {
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

Measured by ` + "`go test . -run Economy -update`" + `, which writes this section: the engine holds each debate with scripted
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
	for _, h := range held {
		for _, rounds := range lengths {
			full := hold(b, h.rules(rounds), rounds, window.Policy{}, nil)
			for _, w := range ways {
				for _, size := range []string{"whole", "quarter"} {
					b.Run(fmt.Sprintf("%s/%d/%s/%s", h.name, rounds, strings.ReplaceAll(w.name, " ", "-"), size), func(b *testing.B) {
						var windows map[string]int
						if size == "quarter" {
							windows = full.windows(full.quarter(), w.policy)
						}
						var d *debated
						for b.Loop() {
							d = hold(b, h.rules(rounds), rounds, w.policy, windows)
						}
						all := d.bill()
						b.ReportMetric(d.bill(debaters...).share(), "%repeated")
						b.ReportMetric(float64(all.prompt), "tokens")
						for _, l := range lists {
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
