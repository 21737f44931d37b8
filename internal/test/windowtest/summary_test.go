package windowtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// panelWithConclusionView is a panel without assessments whose verdict has its own view, and so needs its own summary.
type panelWithConclusionView struct{ panel.Protocol }

func (panelWithConclusionView) Name() string { return "late/1" }

func (p panelWithConclusionView) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Assessment {
		return nil
	}
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Conclusion {
		phases[0].Steps[0].Show = func(t *transcript.Turn) bool { return t.Kind == transcript.Speech }
	}
	return phases
}

func lateConfig(h *smallWindowDebate, rounds int) (debate.Config, debate.Options) {
	c, o := h.config(panelWithConclusionView{limited}, rounds)
	c.History = summing
	for i := range c.Participants {
		c.Participants[i].Window = 100_000
	}
	c.Judges[0].Window = historyRoom + 3000 + 1000
	return c, o
}

func TestASummarizerThatHangsInTheConclusionDoesNotEndTheDriving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &smallWindowDebate{t: t}
		c, o := lateConfig(h, 10)
		c.Limits.RunningTime, c.Limits.StepTimeout = time.Minute, 5*time.Minute
		o.Providers["s"] = debatetest.ProviderFunc(func(ctx context.Context, _ providers.Request) (providers.Response, error) {
			<-ctx.Done()
			return providers.Response{}, context.Cause(ctx)
		})
		d := debatetest.New(t, c, o)
		_, err := debatetest.Run(t, d)
		t.Log(err)
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
	})
}

func TestSummariesOfTheConclusionStayWithinTheBudget(t *testing.T) {
	for budget := 5000; budget < 5800; budget += 100 {
		h := &smallWindowDebate{t: t}
		c, o := lateConfig(h, 100)
		c.Limits.OutputTokens = budget
		full := func(text string) providers.Provider {
			return debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				if r.MaxTokens == 0 {
					t.Fatal("no cap")
				}
				return providers.Response{Text: text, FinishReason: providers.Stop, Usage: transcript.Usage{Input: tokens(r.Messages), Output: r.MaxTokens}}, nil
			})
		}
		speech := strings.Repeat("The kerb is where it ends. ", 50)
		o.Providers["a"], o.Providers["b"] = full("[a] "+speech), full("[b] "+speech)
		o.Providers["s"] = full(strings.Repeat("sum ", 200))
		o.Providers["j"] = full(debatetest.Encode(t, judge.Verdict{Summary: "x", Quality: 50}))
		d := debatetest.New(t, c, o)
		res := debatetest.RunResult(t, d)
		t.Log(budget, res.Total.Usage.Output, len(summaries(res)), res.Ending.Outcome)
		require.LessOrEqual(t, res.Total.Usage.Output, budget)
	}
}

// panelWithOwnViews is a panel whose steps all run in parallel, each with its own view.
type panelWithOwnViews struct{ panel.Protocol }

func (panelWithOwnViews) Name() string { return "views/1" }

func (p panelWithOwnViews) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		for i := range phases[0].Steps {
			phases[0].Steps[i].Show = func(t *transcript.Turn) bool { return t.Kind == transcript.Speech }
		}
	}
	return phases
}

func TestEachSummaryHasAPhaseWhoseBudgetIsChecked(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, events := h.run(t, panelWithOwnViews{panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}}, 12, summing, nil)
	began := 0
	for _, ev := range events {
		if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "summary" {
			began += p.Steps
		}
	}
	require.Equal(t, len(summaries(res)), began)
}

func TestARemarkWhileASummaryIsMadeWastesNoCall(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	var d *debate.Debate
	calls := 0
	o.Providers["s"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		calls++
		if calls%2 == 1 {
			other := d
			require.NoError(t, other.Inject(context.WithoutCancel(ctx), debate.Remark{From: "Zoe", Text: strings.Repeat("Mind the kerb. ", 60)}))
		}
		return providers.Response{Text: "sum " + fmt.Sprint(calls), FinishReason: providers.Stop}, ctx.Err()
	})
	d = debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	require.Len(t, summaries(debatetest.Result(t, d)), calls)
}

// multipliedCounter counts a multiple of the estimate.
type multipliedCounter struct{ times int }

func (h multipliedCounter) Count(_, text string) int { return h.times * window.Estimate(text) }

func TestAReaderWithAnotherCounterLeavesTheHeadAlone(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	o.TokenCounter, o.Store = multipliedCounter{1}, store.Memory()
	d := debatetest.New(t, c, o)
	o.TokenCounter = multipliedCounter{3}
	other := debatetest.Engine(t, o)
	differ := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if ph, ok := ev.(debate.PhaseStarted); !ok || ph.Stage != transcript.Speech {
			continue
		}
		is := debatetest.Status(t, d)
		reader := debatetest.Open(t, other, d.ID())
		there := debatetest.Status(t, reader)
		if is.Plan != there.Plan {
			differ++
			t.Logf("%v\n%v", is.Plan, there.Plan)
		}
	}
	require.Zero(t, differ)
}

func TestTheNewestTurnOutlastsAnOverflow(t *testing.T) {
	h := &smallWindowDebate{t: t, say: map[string]func(int) scripted.Reply{"b": func(n int) scripted.Reply {
		if n == 2 {
			return scripted.Reply{Text: "Endless. " + strings.Repeat("The kerb is where it ends. ", 240)}
		}
		return scripted.Reply{}
	}}}
	c, o := h.config(limited, 4)
	for i := range c.Participants {
		c.Participants[i].Window = 100_000
	}
	took := []providers.Request{}
	o.Providers["a"] = debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		if tokens(r.Messages) > 2000 {
			return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
		}
		took = append(took, r)
		return providers.Response{Text: "[a] " + strings.Repeat("The kerb is where it ends. ", 26), FinishReason: providers.Stop}, nil
	})
	d := debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	third := took[2].Messages
	require.Greater(t, len(third), 2, "the newest turn is missing: %d messages", len(third))
	from, text := unquote(third[len(third)-2].Text)
	require.Regexp(t, `^B\b`, from)
	require.True(t, strings.HasPrefix(text, "Endless"), text)
}

func TestASummaryOutlastsAnOverflow(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 10)
	c.History = summing
	c.Participants[0].Window += 300 // after the overflow, there is room for the summary beside the newest turn
	over, last := false, []providers.Message{}
	inner := o.Providers["a"]
	o.Providers["a"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		had := len(r.Messages) > 6 && isSummary(r.Messages[1].Text)
		if had && !over {
			over = true
			return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
		}
		if over && last == nil || over && len(last) == 0 {
			last = r.Messages
		}
		return inner.Generate(ctx, r)
	})
	d := debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	require.True(t, over)
	require.True(t, isSummary(last[1].Text), "the summary comes first: %.60s", last[1].Text)
}

func TestASummarizerReadsAllThatItsSummaryStandsFor(t *testing.T) {
	h := &smallWindowDebate{t: t}
	for room := 5900; room < 9000; room += 100 {
		h = &smallWindowDebate{t: t}
		res, _ := h.run(t, limited, 40, summing, func(c *debate.Config) {
			for i := range c.Participants {
				c.Participants[i].Window = 12_000
			}
			c.Summarizer.Window, c.Summarizer.MaxTokens = room, 1000
		})
		said, at := []string{}, map[string]int{}
		for _, turn := range inCommitOrder(res) {
			if turn.Kind == transcript.Speech {
				at[turn.Key.String()] = len(said)
				said = append(said, turn.Text)
			}
		}
		done := 0
		for i, s := range summaries(res) {
			_, key := summaryRange(t, s)
			if key == "" || len(s.Flags) > 0 {
				continue
			}
			to, ok := at[key]
			if !ok {
				continue
			}
			var all strings.Builder
			for _, m := range h.asked["s"][i].Messages {
				all.WriteString(m.Text)
			}
			for ; done <= to; done++ {
				require.Contains(t, all.String(), said[done], "summarizer window %d, summary %d up to %s: speech %d is missing from %d messages", room, i, key, done, len(h.asked["s"][i].Messages))
			}
		}
	}
}

// panelWithPrivateStep is a panel in which A speaks twice in a phase: to B with a view of B's turns only, and to itself
// with a view of all turns.
type panelWithPrivateStep struct{ panel.Protocol }

func (panelWithPrivateStep) Name() string { return "secret/1" }

func (p panelWithPrivateStep) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return p.Protocol.Phases(r)
	}
	all := func(t *transcript.Turn) bool { return t.Kind == transcript.Speech }
	of := func(t *transcript.Turn) bool { return t.Kind == transcript.Speech && t.Actor == "B" }
	return []protocol.Phase{{Name: "respond", Steps: []protocol.Step{debatetest.Step("A", "all", all), debatetest.Step("B", "", nil), debatetest.Step("A", "few", of)}}}
}

func TestASummaryOfAnotherStepsViewIsNotShown(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, _ := h.run(t, panelWithPrivateStep{limited}, 30, summing, func(c *debate.Config) {
		c.Participants[0].MaxTokens, c.Participants[0].Window = 300, historyRoom+2200+300
	})
	for _, s := range summaries(res) {
		t.Log(s.Target)
	}
	for i, r := range h.asked["a"] {
		for _, m := range r.Messages[1 : len(r.Messages)-1] {
			if !isSummary(m.Text) {
				continue
			}
			for _, ask := range h.asked["s"] { // find the request that made this summary
				if !strings.Contains(m.Text, summaryTextFor(ask)) {
					continue
				}
				of := ""
				for _, x := range ask.Messages[1 : len(ask.Messages)-1] {
					of += x.Text
				}
				whole := strings.Contains(of, "[a ") || strings.Contains(of, "[s ") // a turn of A, or an earlier summary
				require.True(t, i%2 == 1 || whole, "call %d of A, which sees all turns, has a summary of only B's turns", i)
			}
		}
	}
}

func summaryTextFor(ask providers.Request) string {
	sum := digest(ask)
	return fmt.Sprintf("[s %016x]", sum)
}

func TestARetryAfterAnOverflowInAParallelPhaseIsShorter(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			h := &smallWindowDebate{t: t}
			c, o := h.config(panel.Protocol{Format: panel.RoundLimited, Mode: mode}, 10)
			c.OnOverflow, c.OnFailure = debate.Degrade, debate.Ask
			inner, sizes := o.Providers["a"], []int{}
			o.Providers["a"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if n := tokens(r.Messages); n > 1700 {
					sizes = append(sizes, n)
					return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
				}
				return inner.Generate(ctx, r)
			})
			d := debatetest.New(t, c, o)
			for range 8 {
				debatetest.Finish(t, d)
				if debatetest.Result(t, d).State != fsm.Paused {
					break
				}
				require.NoError(t, d.Decide(t.Context(), debatetest.Result(t, d).Question.ID, "retry"))
			}
			require.Equal(t, fsm.Completed, debatetest.Result(t, d).State, "prompts that were too long: %v", sizes)
		})
	}
}

func TestAnotherModelBeginsWithAFactorOfItsOwn(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 10)
	broken := false
	n := 0
	inner := o.Providers["a"]
	o.Providers["a"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		n++
		if n == 6 && !broken {
			broken = true
			return providers.Response{}, &providers.Error{Kind: providers.Authentication, Err: errors.New("key")}
		}
		resp, err := inner.Generate(ctx, r)
		if !broken {
			resp.Usage.Input = 3 * tokens(r.Messages)
		}
		return resp, err
	})
	d := debatetest.New(t, c, o)
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	before, err := d.Preview(t.Context())
	require.NoError(t, err)
	c.Participants[0].Model, c.Participants[0].Window = "another", 100_000
	c.Participants[0].Window = historyRoom + 2200 + 400
	require.NoError(t, d.Edit(t.Context(), c))
	after, err := d.Preview(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(after[0].Request.Messages), len(before[0].Request.Messages))
}

func digest(r providers.Request) uint64 {
	sum := fnv.New64a()
	for _, m := range r.Messages {
		fmt.Fprintln(sum, m.Role, m.Text)
	}
	return sum.Sum64()
}

// panelWithSummaryPhase is a protocol with a phase of the same name as the engine's summary phases.
type panelWithSummaryPhase struct{ panel.Protocol }

func (panelWithSummaryPhase) Name() string { return "sumphase/1" }

func (p panelWithSummaryPhase) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		phases[0].Name, phases[0].Parallel = "summary", true
	}
	return phases
}

func TestAProtocolMayHaveAPhaseCalledSummary(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, events := h.run(t, panelWithSummaryPhase{limited}, 12, summing, nil)
	began := map[string]int{}
	for _, ev := range events {
		if p, ok := ev.(debate.PhaseStarted); ok && p.Stage == transcript.Speech {
			began[fmt.Sprint(p.Round, p.Phase)]++
			t.Log(p.Round, p.Phase, p.Parallel, p.Steps)
		}
	}
	n := 0
	for _, turn := range inCommitOrder(res) {
		if turn.Kind == transcript.Speech && turn.Actor == "B" {
			for _, x := range res.Turns {
				if x.Kind == transcript.Speech && x.Actor == "A" && x.Round == turn.Round && x.Seq <= turn.VisibleSeq {
					n++
				}
			}
		}
	}
	require.Zero(t, n, "parallel steps see each other")
	for _, s := range summaries(res) {
		require.Equal(t, 2, began[fmt.Sprint(s.Round, "summary")], "round %d", s.Round)
	}
}

// A summarizer with a small window gets its requests one after another.
func TestASmallSummarizerIsNotAskedBeforeEachStep(t *testing.T) {
	h := &smallWindowDebate{t: t}
	res, _ := h.run(t, limited, 60, summing, func(c *debate.Config) {
		for i := range c.Participants {
			c.Participants[i].Window = 12_000
		}
		c.Judges[0].Window = 200_000
		c.Summarizer.Window, c.Summarizer.MaxTokens = 4300, 1000
	})
	speeches := 0
	for _, x := range res.Turns {
		if x.Kind == transcript.Speech {
			speeches++
		}
	}
	t.Log(len(summaries(res)), "summaries of", speeches, "speeches")
	require.Less(t, 3*len(summaries(res)), speeches)
}

func TestASummaryThatWasWithheldStandsForNothing(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 10)
	c.History = summing
	o.Providers["s"] = debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{Text: "A and", FinishReason: providers.ContentFilter}, nil
	})
	d := debatetest.New(t, c, o)
	debatetest.Finish(t, d)
	for _, r := range h.asked["a"] {
		for _, m := range r.Messages {
			require.False(t, isSummary(m.Text) && strings.Contains(m.Text, "A and"))
		}
	}
}

func TestAReaderReplacesNoHead(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	kept := store.Memory()
	o.Store = kept
	d := debatetest.New(t, c, o)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if ph, ok := ev.(debate.PhaseStarted); ok && ph.Phase == "summary" {
			break
		}
	}
	was, _, err := kept.Load(t.Context(), c.ID, 0)
	require.NoError(t, err)
	reader := debatetest.Engine(t, debate.Options{Store: kept, Providers: o.Providers, Protocols: []protocol.Protocol{limited}, TokenCounter: multipliedCounter{3}})
	there := debatetest.Open(t, reader, c.ID)
	debatetest.Result(t, there)
	is, _, err := kept.Load(t.Context(), c.ID, 0)
	require.NoError(t, err)
	require.Equal(t, was.Plan, is.Plan)
}

func TestARemarksIDDoesNotNameAnotherTurn(t *testing.T) {
	h := &smallWindowDebate{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	d := debatetest.New(t, c, o)
	n := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if done, ok := ev.(debate.TurnDone); ok && done.Turn.Kind == transcript.Speech {
			n++
			require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Zoe", ID: fmt.Sprintf("%d up to 1/%d/respond/B/", n, n/2+1), Text: strings.Repeat("Mind the kerb. ", 60) + fmt.Sprint(n)}))
		}
	}
	res := debatetest.Result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	all := ""
	for _, r := range h.asked["s"] {
		for _, m := range r.Messages {
			all += m.Text
		}
	}
	last := h.asked["b"][len(h.asked["b"])-1]
	for _, m := range last.Messages {
		all += m.Text
	}
	for _, x := range res.Turns {
		if x.Kind == transcript.Speech && x.Round < 14 {
			require.Contains(t, all, x.Text, "%s was neither shown nor summarized; summaries %v", x.Key, summaries(res))
		}
	}
}
