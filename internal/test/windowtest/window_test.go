package windowtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestASummaryIsAStepBeforeTheOneThatNeedsIt(t *testing.T) {
	for _, policy := range []window.Policy{summing, {Manager: window.Summarize}} {
		t.Run(string(policy.Manager), func(t *testing.T) {
			h := &smallWindowDebate{t: t}
			res, _ := h.run(t, limited, 15, policy, nil)
			made := summaries(res)
			require.GreaterOrEqual(t, len(made), 3)
			require.Len(t, h.asked["s"], len(made))
			speeches := 0
			for _, turn := range res.Turns {
				if turn.Kind == transcript.Speech {
					speeches++
				}
			}
			require.Equal(t, 30, speeches)
			require.Less(t, 3*len(made), speeches, "each summary covers several speeches")

			said, at := map[int64]string{}, map[string]int64{} // texts of speeches by seq, and seqs by key
			for _, turn := range res.Turns {
				if turn.Kind == transcript.Speech {
					said[turn.Seq], at[turn.Key.String()] = turn.Text, turn.Seq
				}
			}
			last := int64(0)
			for i, s := range made {
				require.Equal(t, "summary", s.Phase)
				require.Equal(t, protocol.Summarizer, s.Actor)
				require.NotEmpty(t, s.Text)
				reader, key := summaryRange(t, s)
				require.Empty(t, reader, "all readers have the same view")
				require.Contains(t, at, key, "the summary ends with a speech")
				upTo := at[key]
				require.Greater(t, upTo, last)
				require.Less(t, upTo, s.Seq)

				ask := h.asked["s"][i]
				first := 1
				if i > 0 { // each summary continues the previous one
					from, text := unquote(ask.Messages[1].Text)
					require.Equal(t, []string{heading, made[i-1].Text, string(providers.User)}, []string{from, text, string(ask.Messages[1].Role)})
					first = 2
				}
				var want, got []string
				for _, seq := range slices.Sorted(maps.Keys(said)) {
					if seq > last && seq <= upTo {
						want = append(want, said[seq])
					}
				}
				for _, m := range ask.Messages[first : len(ask.Messages)-1] {
					_, text := unquote(m.Text)
					got = append(got, text)
				}
				require.Equal(t, want, got, "each text is summarized once")
				require.Positive(t, ask.MaxTokens)
				require.LessOrEqual(t, ask.MaxTokens, (historyRoom+512)/5, "at most 20 % of the room, whose size is in steps of 512")
				require.InDelta(t, 0.3, *ask.Temperature, 1e-9)
				last = upTo
			}
			requireSummariesShown(t, h, res, made)
		})
	}
}

// A summary has room for the reasoning of a summarizer that reasons.
func TestASummaryHasRoomForReasoning(t *testing.T) {
	limitOf := func(level string) int {
		h := &smallWindowDebate{t: t}
		_, _ = h.run(t, limited, 15, summing, func(c *debate.Config) { c.Summarizer.Reasoning = level })
		return h.asked["s"][0].MaxTokens
	}
	plain := limitOf("")
	require.Equal(t, plain, limitOf("none"))
	require.Equal(t, plain+2048, limitOf("low"))
	require.Equal(t, plain+3000, limitOf("3000"))
}

// requireSummariesShown checks that each prompt shows the newest summary in place of the turns that it covers.
func requireSummariesShown(t *testing.T, h *smallWindowDebate, res *debate.Result, made []transcript.Turn) {
	t.Helper()
	n := map[string]int{}
	for _, turn := range inCommitOrder(res) {
		name := strings.ToLower(turn.Actor)
		if turn.Kind != transcript.Speech {
			continue
		}
		n[name]++
		messages := h.asked[name][n[name]-1].Messages
		before := made[:0:0]
		for _, s := range made {
			if s.Seq < turn.Seq {
				before = append(before, s)
			}
		}
		if len(before) == 0 {
			require.NotContains(t, messages[1].Text, heading)
			continue
		}
		from, text := unquote(messages[1].Text)
		require.Equal(t, []string{heading, before[len(before)-1].Text}, []string{from, text}, "%s", turn.Key)
		require.Equal(t, providers.User, messages[1].Role)
		if turn.Window != nil {
			require.Zero(t, turn.Window.Omitted)
			require.Positive(t, turn.Window.Summarized)
		}
	}
}

// The parts of a prompt that change from step to step are in user messages, so that the beginning of the prompt is
// stable.
func TestSystemPromptsStayTheSame(t *testing.T) {
	round := regexp.MustCompile(`(?i)round \d`)
	for _, held := range heldProtocols {
		t.Run(held.name, func(t *testing.T) {
			full := runEconomyDebate(t, held.rules(5), 5, window.Policy{}, nil)
			d := runEconomyDebate(t, held.rules(5), 5, window.Policy{Manager: window.Summarize}, full.windows(full.quarter(), summing))
			for _, name := range debaters {
				first := d.actors[name].requests[0].Messages[0]
				for _, r := range d.actors[name].requests {
					require.Equal(t, providers.System, r.Messages[0].Role)
					require.Equal(t, first, r.Messages[0], "%s", name)
				}
			}
			for name, a := range d.actors {
				for _, r := range a.requests {
					require.NotRegexp(t, round, r.Messages[0].Text, "%s", name)
					for _, m := range r.Messages {
						require.False(t, m.Role != providers.User && isSummary(m.Text), "%s", name)
					}
				}
			}
		})
	}
}

// All steps of a parallel phase use a summary that is made before any of them begins: each call produces a turn, and
// each step sees all turns from before the phase.
func TestStepsOfAParallelPhaseAgreeOnASummaryBefore(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, events := h.run(t, panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}, 12, summing, nil)
	require.GreaterOrEqual(t, len(summaries(res)), 2)
	began := map[string]int64{}
	for _, ev := range events {
		if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "respond" {
			at := fmt.Sprint(p.Round)
			require.NotContains(t, began, at, "a phase begins once")
			began[at] = p.Seq
		}
	}
	for _, s := range summaries(res) {
		require.Less(t, s.Seq, began[fmt.Sprint(s.Round)], "%s", s.Key)
	}
	for i := range h.asked["a"] {
		a, b := h.asked["a"][i].Messages, h.asked["b"][i].Messages
		require.Equal(t, isSummary(a[min(1, len(a)-1)].Text), isSummary(b[min(1, len(b)-1)].Text))
		if isSummary(a[1].Text) {
			require.Equal(t, a[1], b[1])
		}
	}
}

func TestParallelStepsWithViewsOfTheirOwnSeeAllThatCameBefore(t *testing.T) {
	rules := refine.Protocol{}
	full := runEconomyDebate(t, rules, 5, window.Policy{}, nil)
	d := runEconomyDebate(t, rules, 5, window.Policy{Manager: window.Summarize}, full.windows(full.quarter(), summing)) // each call must produce a turn
	since := map[string]int64{}
	for _, turn := range inCommitOrder(d.result) {
		if turn.Kind != transcript.Speech {
			continue
		}
		phase := fmt.Sprint(turn.Round, turn.Phase)
		if since[phase] == 0 {
			since[phase] = turn.VisibleSeq
		}
		require.Equal(t, since[phase], turn.VisibleSeq, "%s", turn.Key)
		for _, before := range inCommitOrder(d.result) {
			if before.Kind == transcript.Speech && before.Seq < turn.Seq && (before.Round != turn.Round || before.Phase != turn.Phase) {
				require.LessOrEqual(t, before.Seq, turn.VisibleSeq, "%s cannot see %s", turn.Key, before.Key)
			}
		}
	}
}

// A system prompt may be unusually long because of user templates or retrieved documents. Planning a summary takes its
// length into account.
func TestALongSystemPromptLeavesNothingOut(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 12)
	c.History = summing
	for i := range c.Participants {
		c.Participants[i].Window += 3000
	}
	o.Prompts = fstest.MapFS{"round-limited.tmpl": {Data: []byte(
		`{{define "system"}}You are {{.Me.Name}}. ` + strings.Repeat("Mind the kerb. ", 900) + `{{end}}Round {{.Round}}: speak.`)}}
	d := debatetest.New(t, c, o)
	res := debatetest.RunResult(t, d)
	require.NotEmpty(t, summaries(res))
	for i := range res.Turns {
		if w := res.Turns[i].Window; w != nil {
			require.Zero(t, w.Omitted, "%s", res.Turns[i].Key)
		}
	}
}

// failingSummarizer returns a summarizer that fails the given number of times, or always.
func failingSummarizer(times int) func(int) scripted.Reply {
	return func(n int) scripted.Reply {
		if n <= times {
			return scripted.Reply{Err: &providers.Error{Kind: providers.ServerError, Err: errors.New("down")}}
		}
		return scripted.Reply{}
	}
}

func TestADebateGoesOnWithoutItsSummarizer(t *testing.T) {
	h := &smallWindowDebate{t: t, say: map[string]func(int) scripted.Reply{"s": failingSummarizer(1000)}}
	res, events := h.run(t, limited, 12, summing, nil)
	made := summaries(res)
	require.NotEmpty(t, made)
	tried := map[int]bool{}
	for _, s := range made {
		require.Empty(t, s.Text)
		require.Equal(t, []transcript.Flag{transcript.Defaulted}, s.Flags)
		require.False(t, tried[s.Round], "the summarizer is tried only once per round")
		tried[s.Round] = true
	}
	warned := 0
	for _, ev := range events {
		if w, ok := ev.(debate.Warning); ok && w.Key.Actor == protocol.Summarizer && strings.Contains(w.Text, "the default is used") {
			warned++
		}
	}
	require.Equal(t, len(made), warned)
	all, cut := 0, 0
	for i := range res.Turns {
		turn := &res.Turns[i]
		if turn.Kind != transcript.Speech || turn.Window == nil {
			continue
		}
		require.Zero(t, turn.Window.Summarized)
		if turn.Window.Omitted == 0 {
			require.LessOrEqual(t, turn.Window.Percent, 90, "hybrid shows everything up to 90 %%")
			all++
			continue
		}
		require.Greater(t, turn.Window.Percent, 90)
		cut++
	}
	require.Positive(t, all, "everything is shown if it fits")
	require.Positive(t, cut)
	for _, name := range []string{"a", "b"} {
		for _, r := range h.asked[name] {
			for _, m := range r.Messages {
				require.NotContains(t, m.Text, heading, "there is no summary")
			}
		}
	}
}

func TestASummarizerThatComesBackIsUsedAgain(t *testing.T) {
	h := &smallWindowDebate{t: t, say: map[string]func(int) scripted.Reply{"s": failingSummarizer(1)}}
	res, _ := h.run(t, limited, 8, summing, nil)
	made := summaries(res)
	require.GreaterOrEqual(t, len(made), 2)
	require.NotEmpty(t, made[0].Flags)
	require.Greater(t, made[1].Round, made[0].Round)
	require.Empty(t, made[1].Flags)
	require.NotContains(t, h.asked["s"][1].Messages[1].Text, heading, "it does not continue a failed summary")
	last := h.asked["b"][len(h.asked["b"])-1].Messages
	require.Contains(t, last[1].Text, heading)
}

// panelWithPartialView is a panel in which A sees only B's turns.
type panelWithPartialView struct{ panel.Protocol }

func (panelWithPartialView) Name() string { return "glimpse/1" }

func (g panelWithPartialView) Phases(r *protocol.Record) []protocol.Phase {
	phases := g.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		phases[0].Steps[0].Show = func(t *transcript.Turn) bool { return t.Actor == "B" }
	}
	return phases
}

func TestAViewOfOnesOwnHasASummaryOfItsOwn(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, _ := h.run(t, panelWithPartialView{limited}, 20, summing, nil)
	readers := map[string]int{}
	for i, s := range summaries(res) {
		reader, _ := summaryRange(t, s)
		readers[reader]++
		for _, m := range h.asked["s"][i].Messages[1 : len(h.asked["s"][i].Messages)-1] {
			if reader != "" {
				require.NotContains(t, m.Text, "[a ", "the summary covers only what A may see")
			}
		}
	}
	require.Len(t, readers, 2)
	require.GreaterOrEqual(t, readers["A in respond"], 2)
	require.GreaterOrEqual(t, readers[""], 2)
	own, shared := map[string]bool{}, map[string]bool{}
	for _, s := range summaries(res) {
		reader, _ := summaryRange(t, s)
		if reader != "" {
			own[s.Text] = true
		} else {
			shared[s.Text] = true
		}
	}
	for name, may := range map[string]map[string]bool{"a": own, "b": shared} {
		for _, r := range h.asked[name] {
			for _, m := range r.Messages {
				_, text := unquote(m.Text)
				require.True(t, !isSummary(m.Text) || may[text], "%s reads another's summary", name)
			}
		}
	}
}

func TestBlindJudgesReadSummariesWithoutNames(t *testing.T) {
	h := &smallWindowDebate{t: t, say: map[string]func(int) scripted.Reply{"s": func(n int) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf("%d: Adalbert wants to ban cars, as Berthold concedes in part.", n)}
	}}}
	names := []string{"Adalbert", "Berthold"}
	jury := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: debatetest.Encode(t, judge.Verdict{Summary: "A draw.", Quality: 50})}
		}
		return scripted.Reply{Text: debatetest.Encode(t, debatetest.Assessment(true, names...))}
	}}
	c, o := h.config(limited, 12)
	c.History = summing
	for i := range c.Participants {
		c.Participants[i].Name = names[i]
	}
	c.Judges[0].Window = historyRoom + 3000 + 1000
	o.Providers["j"] = jury
	d := debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	seen := 0
	for _, r := range jury.Calls() {
		for _, m := range r.Messages {
			for _, name := range names {
				require.NotContains(t, m.Text, name)
			}
			if strings.Contains(m.Text, "wants to ban cars, as") {
				require.Equal(t, providers.User, m.Role)
				seen++
			}
		}
	}
	require.Positive(t, seen)
}

// panelWithTwoSteps is a panel in which all participants answer each other in parallel. No step sees turns of the
// current round, and each model makes two calls per round.
type panelWithTwoSteps struct{ panel.Protocol }

func (panelWithTwoSteps) Name() string { return "twofold/1" }

func (p panelWithTwoSteps) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return p.Protocol.Phases(r)
	}
	phase := protocol.Phase{Name: "answer", Parallel: true}
	for _, a := range r.Participants {
		for _, b := range r.Participants {
			if a.Name != b.Name {
				phase.Steps = append(phase.Steps, debatetest.Step(a.Name, b.Name, nil))
			}
		}
	}
	return []protocol.Phase{phase}
}

// A debate drops and summarizes the same turns, however often it is interrupted and reopened, even if a model's token
// counts turn out higher than estimated.
func TestADebateThatIsInterruptedCutsTheSame(t *testing.T) {
	for name, tt := range map[string]struct {
		rules  protocol.Protocol
		rounds int
	}{
		"in sequence": {limited, 4}, "at once": {panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}, 5},
		"with separate views": {panelWithPartialView{limited}, 4}, "in several phases": {debatetest.Mesh{Rounds: 1}, 3}, "twice at once": {panelWithTwoSteps{limited}, 4},
	} {
		for _, policy := range []window.Policy{summing, {Manager: window.Truncate}} {
			if name != "twice at once" && !policy.UsesSummaries() {
				continue
			}
			t.Run(fmt.Sprintf("%s, %v", name, policy.UsesSummaries()), func(t *testing.T) {
				want, events := runInterrupted(t, tt.rules, tt.rounds, policy, 0)
				for stop := 1; stop < len(events); stop++ { // all, because few of them tell some faults
					said, _ := runInterrupted(t, tt.rules, tt.rounds, policy, stop)
					at := 0
					for at < min(len(want), len(said)) && want[at] == said[at] {
						at++
					}
					require.True(t, slices.Equal(want, said), "a debate stopped after event %d of %d differs from turn %d of %d on: %.90s",
						stop, len(events), at, len(want), said[min(at, len(said)-1)])
				}
			})
		}
	}
}

// runInterrupted returns the texts of a debate of three that was interrupted after stop events and continued in another
// engine, and the types of the events. With a stop of 0 it is not interrupted.
func runInterrupted(t *testing.T, rules protocol.Protocol, rounds int, policy window.Policy, stop int) (said, events []string) {
	t.Helper()
	h := &smallWindowDebate{t: t, counts: func(r providers.Request) int {
		n := tokens(r.Messages)
		return n * (10 + n%6) / 10
	}}
	c, o := h.config(rules, rounds)
	c.History = policy
	c.Participants = append(c.Participants, c.Participants[0])
	c.Participants[2].Name, c.Participants[2].Provider = "C", "c"
	o.Providers["j"] = &debatetest.DigestModel{Names: []string{"A", "B", "C"}}
	o.Store, o.Protocols = store.Memory(), []protocol.Protocol{rules}
	for i := range c.Participants {
		c.Participants[i].Window += 500
		if !policy.UsesSummaries() {
			c.Participants[i].Window -= 1700 // the engine keeps no allowance
		}
	}
	d := debatetest.New(t, c, o)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if _, chunk := ev.(debate.Chunk); chunk {
			continue
		}
		events = append(events, fmt.Sprintf("%T", ev))
		if len(events) == stop {
			break
		}
	}
	if stop > 0 {
		e := debatetest.Engine(t, o)
		d = debatetest.Open(t, e, d.ID())
		debatetest.Finish(t, d)
	}
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	cut := 0
	for _, turn := range res.Turns {
		said = append(said, fmt.Sprint(turn.Key, turn.Text, turn.Window))
		if turn.Window != nil {
			cut++
		}
	}
	require.Positive(t, cut)
	return said, events
}

func TestAWarningTellsWhatPartOfTheRoomIsUsed(t *testing.T) {
	for _, w := range historyPolicies {
		t.Run(w.name, func(t *testing.T) {
			h := &smallWindowDebate{t: t}
			res, events := h.run(t, limited, 6, w.policy, func(c *debate.Config) {
				if !w.policy.UsesSummaries() {
					c.Participants[0].Window, c.Participants[1].Window = historyRoom+512+400, historyRoom+512+400
				}
			})
			warned := map[transcript.Key]string{}
			for _, ev := range events {
				if x, ok := ev.(debate.Warning); ok {
					warned[x.Key] = x.Text
				}
			}
			near, summaries := 0, 0
			for i := range res.Turns {
				turn := &res.Turns[i]
				if w := turn.Window; w == nil || w.Percent < 80 && w.Omitted == 0 {
					require.NotContains(t, warned, turn.Key)
					continue
				}
				require.Regexp(t, `\d+ %|omits`, warned[turn.Key])
				near++
				if turn.Kind == transcript.Summary { // its warning concerns the prompt before
					summaries++
				}
			}
			require.Positive(t, near)
			require.NotEmpty(t, res.Warnings)
			require.Equal(t, w.policy.UsesSummaries(), summaries > 0)
		})
	}
}

func TestATurnLargerThanTheWindowIsCutAndMarked(t *testing.T) {
	for _, w := range historyPolicies {
		t.Run(w.name, func(t *testing.T) {
			h := &smallWindowDebate{t: t, say: map[string]func(int) scripted.Reply{"b": func(n int) scripted.Reply {
				if n == 2 {
					return scripted.Reply{Text: "Endless. " + strings.Repeat("The kerb is where it ends. ", 800)}
				}
				return scripted.Reply{}
			}}}
			res, _ := h.run(t, limited, 4, w.policy, func(c *debate.Config) {
				c.Judges[0].Window = historyRoom + 3000 + 1000
			})
			require.Len(t, h.asked["a"], 4)
			require.LessOrEqual(t, len(h.asked["s"]), 4)
			next := h.asked["a"][2].Messages
			require.Len(t, next, 3, "only the newest turn has room")
			from, text := unquote(next[1].Text)
			require.Regexp(t, `^B\b`, from)
			require.True(t, strings.HasPrefix(text, "Endless. "), text)
			require.Regexp(t, `\[\.\.\. \d+ more bytes omitted to fit\]$`, text)
			require.LessOrEqual(t, tokens(next)+400, historyRoom+2200+400)
			for _, turn := range res.Turns {
				if turn.Kind == transcript.Speech && turn.Actor == "A" && turn.Round == 3 {
					require.NotNil(t, turn.Window)
				}
			}
		})
	}
}

// Whatever is dropped, a prompt contains the system prompt, the newest turn and the task, and fits into the window
// together with its reply.
func TestPromptsFitAndKeepTheirBeginningAndTheirEnd(t *testing.T) {
	sample := enginetest.NewSample(t, 8)
	for _, x := range heldProtocols {
		full := runEconomyDebate(t, x.rules(20), 20, window.Policy{}, nil)
		for _, w := range historyPolicies {
			if !triesPair(sample, x.name, w.name) {
				continue
			}
			t.Run(x.name+", "+w.name, func(t *testing.T) {
				windows := full.windows(full.quarter(), w.policy)
				d := runEconomyDebate(t, x.rules(20), 20, w.policy, windows)
				for _, name := range slices.Concat(debaters, []string{"J"}) {
					for i, r := range d.actors[name].requests {
						had := full.actors[name].requests[min(i, len(full.actors[name].requests)-1)].Messages
						require.Equal(t, had[0], r.Messages[0])
						if len(had) > 2 && x.grows {
							require.Equal(t, had[len(had)-2], r.Messages[len(r.Messages)-2], "%s's call %d has lost the newest turn", name, i)
						}
						all := tokens(r.Messages) + window.Estimate(string(r.Schema)) + r.MaxTokens
						require.LessOrEqual(t, all, windows[name]+windows[name]/20, "%s's call %d", name, i)
					}
				}
			})
		}
	}
}

// If a service rejects a prompt as too long that the engine expected to fit, later prompts are shorter at once.
func TestAPromptThatWasTooLongMakesLaterOnesShorter(t *testing.T) {
	var long, tried []int // tokens of A's prompts: the rejected ones, and all
	const holds = 1700
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 14)
	o.Providers["a"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		n := tokens(r.Messages)
		tried = append(tried, n)
		if n > holds {
			long = append(long, n)
			return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("the prompt is too long")}
		}
		return providers.Response{Text: "[a] " + strings.Repeat("The kerb is where it ends. ", 26), FinishReason: providers.Stop}, nil
	})
	d := debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	require.Len(t, long, 1, "a rejected prompt is not sent again: %v", tried)
	at := slices.Index(tried, long[0])
	for _, n := range tried[at+1:] {
		require.Less(t, n, long[0])
	}
}
