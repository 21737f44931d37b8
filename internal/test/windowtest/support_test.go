package windowtest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// historyPolicies are the history managers that the measurements compare with the naive builder.
var historyPolicies = []struct {
	name   string
	policy window.Policy
}{
	{"truncate", window.Policy{Manager: window.Truncate}},
	{"sliding", window.Policy{Manager: window.Sliding}},
	{"summarize", window.Policy{Manager: window.Summarize}},
	{"hybrid", window.Policy{}},
	{"hybrid with summaries", window.Policy{Manager: window.Hybrid, AllowSummaries: true}},
}

// triesPair reports whether a test tries a protocol with a policy: each protocol and each policy at least once.
func triesPair(s *enginetest.Sample, protocol, policy string) bool {
	first, second := s.Tries(protocol), s.Tries(policy)
	return first || second
}

// heldProtocols are the protocols, configured so that only the round limit ends a debate.
var heldProtocols = []struct {
	name  string
	grows bool // prompts show all previous rounds
	rules func(rounds int) protocol.Protocol
}{
	{"panel", true, func(int) protocol.Protocol { return panel.Protocol{Format: panel.RoundLimited} }},
	{"skeptic", true, func(int) protocol.Protocol { return skeptic.Protocol{} }},
	{"refine", false, func(int) protocol.Protocol { return refine.Protocol{} }},
	{"arbitration", true, arbitrationOf},
	{"procon", true, func(int) protocol.Protocol { return procon.Protocol{} }},
	{"mad", true, func(int) protocol.Protocol { return mad.Protocol{} }},
	{"oversight", true, func(int) protocol.Protocol {
		return oversight.Protocol{A: "Yes.", B: "No.", MinWords: 1, MaxWords: 1e6}
	}},
	{"vote", false, func(int) protocol.Protocol { return vote.Protocol{} }},
}

// membersOf returns the participants of a debate: four for a council, an Oxford-style debate and a vote with groups, one
// for samples, and otherwise two.
func membersOf(rules protocol.Protocol) []string {
	four := []string{"A", "B", "C", "D"}
	switch p := rules.(type) {
	case council.Protocol:
		return four
	case panel.Protocol:
		if p.Format == panel.Oxford {
			return four
		}
	case vote.Protocol:
		if p.Grouped || p.Topology == vote.Groups {
			return four
		}
		if p.Samples > 0 {
			return []string{"A"}
		}
	}
	return debaters
}

// judgesOf returns the judges of a debate: two if they rotate, none for samples, and otherwise one.
func judgesOf(rules protocol.Protocol) []string {
	if p, ok := rules.(panel.Protocol); ok && p.RotateJudges {
		return []string{"J", "K"}
	}
	if p, ok := rules.(vote.Protocol); ok && p.Samples > 0 {
		return nil
	}
	return []string{"J"}
}

// defaultRounds returns the number of rounds of a debate whose configuration sets none.
func defaultRounds(rules protocol.Protocol) int {
	if d, ok := rules.(protocol.Defaulter); ok && d.Defaults().MaxRounds > 0 {
		return d.Defaults().MaxRounds
	}
	return 5
}

func arbitrationOf(rounds int) protocol.Protocol {
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

// replyCap is the largest number of tokens of a reply.
const replyCap = 1000

// recordingModel is a model that gives replies of realistic length, whatever its prompts have room for. It records its
// requests.
type recordingModel struct {
	t       testing.TB
	name    string
	skeptic bool

	mu          sync.Mutex
	requests    []providers.Request
	replyTokens []int // tokens of each reply
}

func (a *recordingModel) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.say(&r)
	u := transcript.Usage{Input: tokens(r.Messages) + window.Estimate(string(r.Schema)), Output: window.Estimate(text)}
	if n := len(a.requests); n > 0 {
		u.Cached = repeated(a.requests[n-1].Messages, r.Messages)
	}
	a.requests, a.replyTokens = append(a.requests, r), append(a.replyTokens, u.Output)
	return providers.Response{Text: text, Usage: u, FinishReason: providers.Stop}, nil
}

// say returns the reply to a request.
func (a *recordingModel) say(r *providers.Request) string {
	h := fnv.New64a()
	fmt.Fprintln(h, a.name, len(a.requests))
	w := textGenerator{rand.New(rand.NewPCG(h.Sum64(), 0))}
	other := map[string]string{"A": "B", "B": "A"}[a.name]
	var v any
	switch r.SchemaName {
	case "assessment/1":
		assessment := debatetest.LongAssessment("A", "B")
		assessment.Converged = strings.Contains(r.Messages[0].Text, "devil's advocate")
		v = assessment
	case "verdict/1":
		v = judge.Verdict{Summary: w.text(200), Quality: 60}
	case "peer-critique/1":
		flaw := refine.Weakness{Issue: w.text(110), Severity: "major", Suggestion: w.text(60)}
		v = refine.Critique{Author: other, Overall: w.text(60), Weaknesses: []refine.Weakness{flaw}}
	case "refine-summary/1":
		v = refine.Summary{Summary: w.text(500)}
	case "solution/1":
		v = refine.Solution{
			Description: w.text(400), Implementation: []string{w.text(60)}, TradeOffs: []string{}, Recommendations: []string{}, Confidence: 70,
		}
	case "argument/1":
		v = arbitration.Case{Arguments: []arbitration.Argument{{Claim: w.text(30), Reasoning: w.text(120), Evidence: w.text(100)}}}
	case "ruling/1":
		v = arbitration.Ruling{Reasoning: w.text(120), KeyPoints: []string{w.text(30)}, Winner: arbitration.Draw, Confidence: 60}
	case "judgment/1":
		v = procon.Judgment{Summary: w.text(150), Participants: []procon.ParticipantScore{{Name: "A", Score: 6}, {Name: "B", Score: 6}}}
	case "vote/1":
		v = vote.Ballot{Reasoning: w.text(220), Answer: "That of " + a.name, Confidence: 60}
	case "audience/1":
		v = panel.AudienceVote{Reasoning: w.text(60), Vote: "undecided"}
	case "ranking/1":
		k := council.Ranking{Comparison: w.text(200)}
		for _, name := range regexp.MustCompile(`Debater [A-Z]`).FindAllString(r.Messages[len(r.Messages)-1].Text, -1) {
			k.Ranking = append(k.Ranking, council.Ranked{Name: name, Reason: w.text(20)})
		}
		v = k
	case "council-answer/1":
		v = council.ChairAnswer{Answer: w.text(300), Disagreements: []string{w.text(30)}}
	case "moderation/1":
		v = mad.Moderation{Reasoning: w.text(120)}
	case "candidates/1":
		v = mad.Candidates{Candidates: []string{w.text(20), w.text(20)}}
	case "mad-decision/1":
		v = mad.Decision{Reasoning: w.text(120), Answer: w.text(20)}
	case "credence/1":
		v = oversight.Credence{Reason: w.text(120), First: .5, Second: .5}
	case "decision/1":
		v = vote.Ruling{Reasoning: w.text(150), Winner: "A"}
	default:
		return a.speak(r, w)
	}
	return debatetest.Encode(a.t, v)
}

// speak returns a speech of 200 to 300 tokens, or a summary that uses most of its allowance. A skeptic finds a critical
// issue each time.
func (a *recordingModel) speak(r *providers.Request, w textGenerator) string {
	switch {
	case a.name == protocol.Summarizer:
		return w.text(r.MaxTokens * 8 / 10)
	case a.skeptic:
		return w.text(200) + fmt.Sprintf("\n\n{\"issues\": [{\"severity\": \"critical\", \"text\": %q}], \"ready\": false, \"score\": 5}", w.text(30))
	}
	return w.text(200 + w.IntN(101))
}

type textGenerator struct{ *rand.Rand }

// text returns a text of about the given number of tokens.
func (w textGenerator) text(tokens int) string {
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

// tokens returns the number of tokens of the messages.
func tokens(messages []providers.Message) (n int) {
	for _, m := range messages {
		n += countTokens(m.Text)
	}
	return n
}

var tokenCounts sync.Map // caches counts, because the same texts occur in many prompts

func countTokens(text string) int {
	if n, ok := tokenCounts.Load(text); ok {
		return n.(int)
	}
	n := window.Estimate(text)
	tokenCounts.Store(text, n)
	return n
}

// repeated returns the number of tokens at the beginning of now that are the same as in before: those of equal
// messages, and of the common prefix of the first messages that differ.
func repeated(before, now []providers.Message) (n int) {
	for i := range min(len(before), len(now)) {
		if before[i].Role == now[i].Role && before[i].Text == now[i].Text {
			n += countTokens(now[i].Text)
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

// heldDebate is a completed debate with the requests that its models received.
type heldDebate struct {
	actors map[string]*recordingModel
	rounds map[string][]int // rounds of an actor's calls
	needs  map[string]promptNeeds
	result *debate.Result
}

// promptNeeds are the largest numbers of tokens in an actor's prompts.
type promptNeeds struct{ history, system, beside, turn int }

// runEconomyDebate runs a debate with the given window for each actor. A window of 0 is larger than any need.
func runEconomyDebate(t testing.TB, rules protocol.Protocol, rounds int, policy window.Policy, windows map[string]int) *heldDebate {
	t.Helper()
	d := &heldDebate{actors: map[string]*recordingModel{}, rounds: map[string][]int{}, needs: map[string]promptNeeds{}}
	o := debate.Options{Providers: map[string]providers.Provider{}}
	member := func(name, position string) debate.Participant {
		_, critic := rules.(skeptic.Protocol)
		d.actors[name] = &recordingModel{t: t, name: name, skeptic: critic && name == "B"}
		o.Providers[name] = d.actors[name]
		p := debate.Participant{Name: name, Position: position, Provider: name, Window: cmp.Or(windows[name], 1<<30)}
		if name == protocol.Summarizer {
			p.Name = ""
			p.Window = 128_000
			p.MaxTokens = 4096
		}
		return p
	}
	c := debate.Config{
		ID: "economy", Topic: "Should the city close its centre to cars?", Protocol: rules, History: policy,
		Summarizer: member(protocol.Summarizer, ""),
		Limits:     debate.Limits{MinRounds: rounds, MaxRounds: rounds, OutputTokens: 1 << 30, StepTokens: replyCap, JudgeTokens: replyCap},
	}
	for _, name := range judgesOf(rules) {
		c.Judges = append(c.Judges, member(name, ""))
	}
	for i, name := range membersOf(rules) {
		c.Participants = append(c.Participants, member(name, []string{"Yes, it should.", "No, it should not."}[i%2]))
		if p, ok := rules.(panel.Protocol); ok && p.Format == panel.Oxford {
			c.Participants[i].Side = []string{"for", "against"}[i%2]
		}
	}
	x := debatetest.New(t, c, o)
	debatetest.Finish(t, x)
	d.result = debatetest.Result(t, x)
	require.Equal(t, fsm.Completed, d.result.State)
	require.Equal(t, rounds, d.result.Ending.Round)
	turns := slices.SortedFunc(slices.Values(d.result.Turns), func(a, b transcript.Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, turn := range turns {
		require.Empty(t, turn.Flags, "%s: %s", turn.Key, turn.Attempts[0].ErrorMessage)
		if a := d.actors[turn.Actor]; a != nil {
			d.rounds[turn.Actor] = append(d.rounds[turn.Actor], turn.Round)
		}
	}
	for name, a := range d.actors {
		require.Equal(t, len(d.rounds[name]), len(a.requests), "each call of %s must produce a turn", name)
		d.needs[name] = a.needs()
	}
	return d
}

func (a *recordingModel) needs() (n promptNeeds) {
	for _, r := range a.requests {
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

// tokenBill is the number of tokens of prompts, of repeated parts of prompts, and of replies.
type tokenBill struct{ prompt, repeated, reply int }

func (b tokenBill) share() float64 { return 100 * float64(b.repeated) / float64(b.prompt) }

func (b tokenBill) cost(p price.Price) float64 {
	return p.Cost(transcript.Usage{Input: b.prompt, Cached: b.repeated, Output: b.reply})
}

// bill returns the tokens of the named actors, or of all actors if there are no names.
func (d *heldDebate) bill(names ...string) (b tokenBill) {
	for name, a := range d.actors {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		for i, r := range a.requests {
			b.prompt += tokens(r.Messages)
			if i > 0 {
				b.repeated += repeated(a.requests[i-1].Messages, r.Messages)
			}
			b.reply += a.replyTokens[i]
		}
	}
	return b
}

// afterAnyPrompt returns the prompts of all actors, each compared with the previous prompt of any actor.
func (d *heldDebate) afterAnyPrompt() (b tokenBill) {
	var before []providers.Message
	next := map[string]int{}
	for _, turn := range d.result.Turns { // the order in a phase does not depend on which reply comes first
		if a := d.actors[turn.Actor]; a != nil {
			now := a.requests[next[turn.Actor]].Messages
			b.prompt, b.repeated = b.prompt+tokens(now), b.repeated+repeated(before, now)
			before = now
			next[turn.Actor]++
		}
	}
	return b
}

// naive returns the same debate with prompts of a naive builder. It puts the number of the round into the system
// prompt, and drops only as many of the oldest turns as necessary.
func (d *heldDebate) naive(rounds int, room int) *heldDebate {
	other := &heldDebate{actors: map[string]*recordingModel{}}
	for name, a := range d.actors {
		b := &recordingModel{name: name, replyTokens: a.replyTokens}
		for i, r := range a.requests {
			last := len(r.Messages) - 1
			system, history := r.Messages[0], r.Messages[1:last]
			system.Text += fmt.Sprintf("\n\nThis is round %d of %d.", d.rounds[name][i], rounds)
			for len(history) > 1 && room > 0 && tokens(history) > room {
				history = history[1:]
			}
			r.Messages = slices.Concat([]providers.Message{system}, history, r.Messages[last:])
			b.requests = append(b.requests, r)
		}
		other.actors[name] = b
	}
	return other
}

// quarter returns a quarter of the longest history in a debater's prompts, but at least the size of two turns.
func (d *heldDebate) quarter() (room int) {
	for _, name := range debaters {
		room = max(room, d.needs[name].history/4, 2*d.needs[name].turn)
	}
	return room
}

// windows returns windows with this room for histories, and enough for the rest of each prompt.
func (d *heldDebate) windows(room int, policy window.Policy) map[string]int {
	windows := map[string]int{}
	for name, n := range d.needs {
		beside := (n.beside/512 + 1) * 512 // the engine rounds up like this
		if policy.UsesSummaries() {
			beside = max(beside, 2200, n.system+1600) // the engine keeps an allowance
		}
		windows[name] = replyCap + beside + room
	}
	return windows
}

// smallWindowDebate is a debate in small windows. It records the requests and scripts the replies.
type smallWindowDebate struct {
	t      testing.TB
	mu     sync.Mutex
	asked  map[string][]providers.Request // by provider
	counts func(providers.Request) int    // tokens of a prompt as the provider reports them; nil for the estimate
	say    map[string]func(n int) scripted.Reply
}

func (h *smallWindowDebate) provider(name string) providers.Provider {
	return &smallWindowModel{h, name}
}

type smallWindowModel struct {
	hall *smallWindowDebate
	name string
}

// Generate returns a reply that depends on everything in the prompt, unless the debate scripts another one.
func (g *smallWindowModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	h := g.hall
	h.mu.Lock()
	r.OnChunk = nil
	h.asked[g.name] = append(h.asked[g.name], r)
	n := len(h.asked[g.name])
	h.mu.Unlock()
	reply := scripted.Reply{}
	if say := h.say[g.name]; say != nil {
		reply = say(n)
	}
	if reply.Text == "" && reply.Err == nil {
		reply.Text = g.speech(r, digest(r))
	}
	input := tokens(r.Messages) + window.Estimate(string(r.Schema))
	if h.counts != nil {
		input = h.counts(r)
	}
	reply.Usage = transcript.Usage{Input: input, Output: window.Estimate(reply.Text)}
	return (&scripted.Provider{Replies: []scripted.Reply{reply}}).Generate(ctx, r)
}

// speech returns about 200 tokens, or for a summary as many as allowed.
func (g *smallWindowModel) speech(r providers.Request, seed uint64) string {
	mark := fmt.Sprintf("[%s %016x] ", g.name, seed)
	switch {
	case debatetest.AsksFor(r, "assessment"):
		a := debatetest.Assessment(true, "A", "B")
		a.Reasoning = mark
		return debatetest.Encode(g.hall.t, a)
	case debatetest.AsksFor(r, "verdict"):
		return debatetest.Encode(g.hall.t, judge.Verdict{Summary: mark, Quality: 50})
	case g.name == "s":
		return mark + strings.Repeat("A and B differ. ", min(r.MaxTokens, 1000)/8)
	}
	return mark + strings.Repeat("The kerb is where it ends. ", 26)
}

// historyRoom is the approximate number of tokens for the histories of speakers, if an allowance is kept for the rest
// of the prompt.
const historyRoom = 1500

// config returns a debate of A and B whose windows have room for about seven speeches. The judge's window has room for
// all.
func (h *smallWindowDebate) config(p protocol.Protocol, rounds int) (debate.Config, debate.Options) {
	c := debatetest.PairConfig(p)
	for i := range c.Participants {
		c.Participants[i].Provider = strings.ToLower(c.Participants[i].Name)
		c.Participants[i].Window, c.Participants[i].MaxTokens = historyRoom+2200+400, 400
	}
	c.Judges[0].MaxTokens = 1000
	c.Summarizer = debate.Participant{Provider: "s", Window: 32_000}
	c.Limits = debate.Limits{MinRounds: rounds, MaxRounds: rounds, OutputTokens: 1 << 30}
	c.Retries = map[providers.ErrorKind]int{providers.ServerError: 0, providers.InvalidResponse: 0}
	h.asked = map[string][]providers.Request{}
	o := debate.Options{Providers: map[string]providers.Provider{}}
	for _, name := range []string{"a", "b", "c", "j", "s"} {
		o.Providers[name] = h.provider(name)
	}
	return c, o
}

var (
	summing = window.Policy{AllowSummaries: true}
	limited = panel.Protocol{Format: panel.RoundLimited}
)

func (h *smallWindowDebate) run(t *testing.T, p protocol.Protocol, rounds int, history window.Policy, change func(*debate.Config)) (*debate.Result, []debate.Event) {
	t.Helper()
	c, o := h.config(p, rounds)
	c.History = history
	if change != nil {
		change(&c)
	}
	d := debatetest.New(t, c, o)
	events := debatetest.Finish(t, d)
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	return res, events
}

// inCommitOrder returns the turns in the order of their commits.
func inCommitOrder(r *debate.Result) []transcript.Turn {
	return slices.SortedFunc(slices.Values(r.Turns), func(a, b transcript.Turn) int { return int(a.Seq - b.Seq) })
}

func summaries(r *debate.Result) (list []transcript.Turn) {
	for _, turn := range inCommitOrder(r) {
		if turn.Kind == transcript.Summary {
			list = append(list, turn)
		}
	}
	return list
}

const heading = "Summary of what was said before"

// quotePattern matches a turn in a prompt: its delimiters, with its heading, and its text.
var quotePattern = regexp.MustCompile(`(?s)^<<<\d+ begin: (.*?)>>>\n(.*)\n<<<\d+ end[^\n]*>>>$`)

// unquote returns the heading and the text of a turn in a prompt, or "" and the whole text of another message.
func unquote(text string) (from, said string) {
	if m := quotePattern.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// isSummary reports whether a message of a prompt is a summary.
func isSummary(text string) bool {
	from, _ := unquote(text)
	return from == heading
}

// summaryRange returns the reader in a summary's target, and the key of the last turn that the summary covers.
func summaryRange(t *testing.T, turn transcript.Turn) (reader, upTo string) {
	t.Helper()
	found := regexp.MustCompile(`^(?:(.*), )?up to (.*)$`).FindStringSubmatch(turn.Target)
	require.NotNil(t, found, "target %q", turn.Target)
	return found[1], found[2]
}
