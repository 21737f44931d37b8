package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// limitedModel supports no seed, and no temperature beside reasoning. It counts its calls.
type limitedModel struct {
	providers.Provider
	calls int
}

func (m *limitedModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.calls++
	return m.Provider.Generate(ctx, r)
}

func (m *limitedModel) Unsupported(r providers.Request) map[string]string {
	found := map[string]string{}
	if r.Seed != nil {
		found["seed"] = "the service has none"
	}
	if r.Reasoning != "" && r.Temperature != nil {
		found["temperature"] = "it does not go with reasoning"
	}
	return found
}

func TestUnsupportedSettingsAreRefusedBeforeTheFirstCall(t *testing.T) {
	for verb, drive := range drivers {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &limitedModel{Provider: &debatetest.DigestModel{Names: []string{"A", "B"}}}
				wrapped := middleware.Wrap(model, middleware.Concurrency(2), middleware.Timeout(middleware.Timeouts{}))
				o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": wrapped, "j": wrapped}}
				c := debatetest.PairConfig(nil)
				seed, warm := int64(7), 0.5
				c.Participants[0].Seed = &seed
				c.Participants[1].Reasoning = "low"
				c.Participants[1].Temperature = &warm
				c.Judges[0].Seed, c.Judges[0].Reasoning = &seed, "high"
				c.Substitutes = []debate.Participant{{Provider: "j", Seed: &seed}}
				c.Summarizer.Seed = &seed
				want := []string{
					"participants[0].seed: provider m: the service has none",
					"participants[1].temperature: provider m: it does not go with reasoning",
					"judges[0].seed: provider j: the service has none",
					"substitutes[0].seed: provider j: the service has none",
					"summarizer.seed: provider j: the service has none",
				}
				_, err := debate.New(t.Context(), c, o)
				require.Equal(t, want, problemsOf(err))

				d := debatetest.Create(t, newTestEngine(t, o), c)
				if err := drive(t, d); verb != "Start" {
					require.Equal(t, want, problemsOf(err))
				}
				time.Sleep(time.Minute)
				require.Equal(t, want, debatetest.Status(t, d).Problems)
				require.Equal(t, fsm.Configuring, debatetest.Status(t, d).State)
				require.Zero(t, model.calls)
			})
		})
	}
}

// problemsOf returns the problems in an error as text.
func problemsOf(err error) (list []string) {
	if p, ok := errors.AsType[*debate.Problems](err); ok {
		for _, problem := range p.List {
			list = append(list, problem.String())
		}
	}
	return list
}

// A bug in Unsupported does not end the program.
func TestAPanicInUnsupportedIsAProblem(t *testing.T) {
	o := debate.Options{Providers: map[string]providers.Provider{"m": &debatetest.DigestModel{}, "j": panickingLimits{&debatetest.DigestModel{}}}}
	_, err := debate.New(t.Context(), debatetest.PairConfig(nil), o)
	require.Equal(t, []string{"judges[0].provider: provider j: check of its settings: panic: boom"}, problemsOf(err)[:1])
}

type panickingLimits struct{ providers.Provider }

func (panickingLimits) Unsupported(providers.Request) map[string]string { panic("boom") }

func TestSettingsReachTheModel(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]providers.Request{}
	watch := func(name string) providers.Provider {
		m := &debatetest.DigestModel{Names: []string{"A", "B"}}
		return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[name] = r
			if name == "j" {
				return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
			}
			return m.Generate(ctx, r)
		})
	}
	c := debatetest.PairConfig(nil)
	c.Limits.MaxRounds, c.OnOverflow = 1, debate.Degrade
	seed, other := int64(7), int64(8)
	c.Participants = []debate.Participant{
		{Name: "A", Provider: "m", TopP: 0.9, Seed: &seed, Stop: []string{"END"}, Reasoning: "low"},
		{Name: "B", Provider: "b"},
	}
	c.Judges[0].Reasoning, c.Judges[0].Seed = "5000", &seed
	c.Substitutes = []debate.Participant{{Provider: "s", Seed: &other, TopP: 0.5}}
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": watch("m"), "b": watch("b"), "j": watch("j"), "s": watch("s")}})
	debatetest.Finish(t, d)
	type settings struct {
		TopP      float64
		Seed      int64
		Stop      []string
		Reasoning string
		Warm      bool
		MaxTokens int
	}
	of := func(name string) (s settings) {
		r := seen[name]
		s = settings{TopP: r.TopP, Stop: r.Stop, Reasoning: r.Reasoning, Warm: r.Temperature != nil, MaxTokens: r.MaxTokens}
		if r.Seed != nil {
			s.Seed = *r.Seed
		}
		return s
	}
	require.Equal(t, settings{TopP: 0.9, Seed: 7, Stop: []string{"END"}, Reasoning: "low", MaxTokens: 4096 + 2048}, of("m"))
	require.Equal(t, settings{Warm: true, MaxTokens: 4096}, of("b"))
	require.Equal(t, settings{Reasoning: "5000", Seed: 7, MaxTokens: 9096}, of("j"))
	require.Equal(t, settings{TopP: 0.5, Seed: 8, MaxTokens: 4096}, of("s"))
	require.NotEmpty(t, seen["s"].Schema, "a substitute gets the same schema")
}

// A substitute has room for its reasoning, even if the judge does not reason.
func TestASubstituteHasRoomForItsReasoning(t *testing.T) {
	for name, tt := range map[string]struct {
		judge      int // the judge's token limit; 0 for the default
		substitute debate.Participant
		want       int
	}{
		"low":                        {0, debate.Participant{Reasoning: "low"}, 4096 + 2048},
		"high":                       {0, debate.Participant{Reasoning: "high"}, 4096 + 16384},
		"a budget":                   {0, debate.Participant{Reasoning: "5000"}, 4096 + 5000},
		"a lower limit of the judge": {100, debate.Participant{Reasoning: "5000"}, 100 + 5000},
		"a lower limit of its own":   {0, debate.Participant{Reasoning: "low", MaxTokens: 3000}, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			var seen int
			judge := &debatetest.DigestModel{Names: []string{"A", "B"}}
			d, _ := reasoningDebate(t, &speaker{reply: func(int, providers.Request) scripted.Reply { return scripted.Reply{Text: "So."} }}, func(c *debate.Config, o *debate.Options) {
				o.Providers["j"] = debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
					return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}
				})
				o.Providers["s"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					seen = r.MaxTokens
					return judge.Generate(ctx, r)
				})
				tt.substitute.Provider = "s"
				c.Judges[0].MaxTokens = tt.judge
				c.Substitutes = []debate.Participant{tt.substitute}
				c.OnOverflow = debate.Degrade
			})
			debatetest.Finish(t, d)
			require.Equal(t, tt.want, seen)
		})
	}
}

// Each budget must allow for the reply of a substitute that reasons.
func TestBudgetsIncludeTheReasoningOfSubstitutes(t *testing.T) {
	needed := func(l debate.Limits, substitute debate.Participant) int {
		c, o := debatetest.PairConfig(nil), debate.Options{Providers: map[string]providers.Provider{"m": &debatetest.DigestModel{}, "j": &debatetest.DigestModel{}}}
		c.Limits, c.Prices = l, price.Prices{"": {Output: 1e6}} // 1 for each token
		substitute.Provider = "j"
		c.Substitutes = []debate.Participant{substitute}
		_, err := debate.New(t.Context(), c, o)
		require.Len(t, problemsOf(err), 1)
		found := regexp.MustCompile(`(?:can use|up to) (\d+)`).FindStringSubmatch(problemsOf(err)[0])
		require.NotNil(t, found, problemsOf(err)[0])
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return n
	}
	for name, l := range map[string]debate.Limits{"limits.output_tokens": {OutputTokens: 1}, "limits.tokens": {Tokens: 1}, "limits.cost": {Cost: 1}} {
		plain := needed(l, debate.Participant{})
		replies := 2 // a verdict can be asked for twice
		if l.Tokens > 0 {
			replies++ // the second prompt has the first reply
		}
		require.Equal(t, plain+replies*2048, needed(l, debate.Participant{Reasoning: "low"}), name)
		require.Equal(t, plain, needed(l, debate.Participant{Reasoning: "low", MaxTokens: 3000}), name)
	}
}

// speaker returns a provider that plays the participants and lets reply change each reply. It records the requests.
type speaker struct {
	mu    sync.Mutex
	calls []providers.Request
	reply func(n int, r providers.Request) scripted.Reply // of the nth call, from 1
}

func (s *speaker) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s.mu.Lock()
	s.calls = append(s.calls, r)
	n := len(s.calls)
	s.mu.Unlock()
	p := scripted.Provider{Replies: []scripted.Reply{s.reply(n, r)}}
	return p.Generate(ctx, r)
}

// reasoningDebate returns a debate of two rounds of a speaker with the judge J.
func reasoningDebate(t *testing.T, s *speaker, change func(*debate.Config, *debate.Options)) (*debate.Debate, *speaker) {
	t.Helper()
	judge := &debatetest.DigestModel{Names: []string{"A", "B"}}
	heard := &speaker{}
	heard.reply = func(_ int, r providers.Request) scripted.Reply { return scripted.Reply{Text: judge.Say(3, r)} }
	c, o := debatetest.PairConfig(nil), debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": s, "j": heard}}
	c.Limits.MaxRounds = 2
	if change != nil {
		change(&c, &o)
	}
	d := debatetest.New(t, c, o)
	return d, heard
}

// No opponent, judge or viewer sees what a model thinks, wherever its text is cut.
func TestInlineReasoningStaysPrivate(t *testing.T) {
	for name, text := range map[string]string{
		"first":         "<think>My secret plan.</think>\n\nI say so.",
		"in the middle": "I say <thinking>My secret plan.</thinking>so.",
		"at the end":    "I say so.<think>My secret plan.",
	} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", keep), func(t *testing.T) {
				s := &speaker{reply: func(n int, _ providers.Request) scripted.Reply {
					return scripted.Reply{Text: text, Chunks: 1 + 7*n%len(text)}
				}}
				d, heard := reasoningDebate(t, s, func(c *debate.Config, o *debate.Options) { o.KeepReasoning = keep })
				events := debatetest.Finish(t, d)
				require.NotContains(t, debatetest.Encode(t, slices.Concat(s.calls, heard.calls)), "secret")
				chunks := map[transcript.Key]string{}
				for _, ev := range events {
					switch ev := ev.(type) {
					case debate.Chunk:
						require.NotContains(t, ev.Text, "secret")
						require.Len(t, chunks[ev.Key], ev.Offset)
						chunks[ev.Key] += ev.Text
					case debate.TurnDone:
						if ev.Turn.Kind != transcript.Speech {
							continue
						}
						require.Equal(t, "I say so.", ev.Turn.Text)
						require.Equal(t, ev.Turn.Text, chunks[ev.Turn.Key])
						require.Greater(t, ev.Turn.Usage.Output, ev.Turn.Tokens, "reasoning was paid for")
						if keep {
							require.Equal(t, &transcript.Reasoning{Text: "My secret plan."}, ev.Turn.Reasoning)
						} else {
							require.Nil(t, ev.Turn.Reasoning)
						}
					}
				}
				require.Equal(t, 4+3, len(chunks), "those of the judge too") //nolint:testifylint // the texts are long
				require.NotContains(t, debatetest.Encode(t, redactedReport(t, d)), "secret")
			})
		}
	}
}

// Reasoning within the strings of a structured reply is removed too. If nothing is left, the reply is not valid.
func TestReasoningWithinAStructuredReply(t *testing.T) {
	s, verdicts := &speaker{}, 0
	s.reply = func(_ int, r providers.Request) scripted.Reply {
		a := debatetest.Assessment(false, "A", "B")
		a.Reasoning = "<think>My secret plan.</think>A was better."
		v := judge.Verdict{Summary: "A <think>secret</think>won.", Quality: 5}
		if verdicts == 0 {
			v.Summary = "<think>My secret plan."
		}
		if debatetest.AsksFor(r, "assessment") {
			return scripted.Reply{Text: debatetest.Encode(t, a)}
		}
		verdicts++
		return scripted.Reply{Text: debatetest.Encode(t, v)}
	}
	d, _ := reasoningDebate(t, s, func(_ *debate.Config, o *debate.Options) {
		o.Providers["j"] = s
		o.Providers["m"] = &debatetest.DigestModel{Names: []string{"A", "B"}}
	})
	res := debatetest.RunResult(t, d)
	require.Equal(t, []transcript.Flag{transcript.Reasked}, res.Verdict.Flags, "the summary of the first verdict is empty")
	require.Contains(t, string(res.Assessments[0].Data), "A was better.")
	require.NotContains(t, string(res.Assessments[0].Data)+res.Assessments[0].Text+res.Verdict.Text, "secret")
	require.Contains(t, res.Verdict.Text, "A won.")
}

func redactedReport(t *testing.T, d *debate.Debate) *report.Report {
	t.Helper()
	r := debatetest.Call(t, report.Collect, d)
	return r.Redact()
}

// What a model said before its stream broke off is kept, without what it thought.
func TestInlineReasoningOfAPartialReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &speaker{reply: func(n int, _ providers.Request) scripted.Reply {
			return scripted.Reply{Text: "I say so. <think>My secret pl", Err: &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("no")}}
		}}
		d, heard := reasoningDebate(t, s, nil)
		debatetest.Finish(t, d)
		turn := debatetest.Result(t, d).Turns[0]
		require.Equal(t, "I say so.", turn.Text)
		require.Contains(t, turn.Flags, transcript.Partial)
		require.NotContains(t, debatetest.Encode(t, slices.Concat(s.calls, heard.calls)), "secret")
	})
}

// A summary that replaces the history after an overflow has no reasoning either.
func TestInlineReasoningOfASummaryAfterAnOverflow(t *testing.T) {
	s := &speaker{}
	s.reply = func(n int, r providers.Request) scripted.Reply {
		if len(r.Messages) > 4 {
			return scripted.Reply{Err: &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}}
		}
		return scripted.Reply{Text: fmt.Sprintf("Speech %d.", n)}
	}
	summaries := &speaker{reply: func(int, providers.Request) scripted.Reply {
		return scripted.Reply{Text: "<think>My secret plan.</think>They spoke."}
	}}
	d, _ := reasoningDebate(t, s, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow = debate.OverflowSummarize
		c.Summarizer = debate.Participant{Provider: "s"}
		c.Limits.MaxRounds = 3
		o.Providers["s"] = summaries
	})
	debatetest.Finish(t, d)
	require.NotEmpty(t, summaries.calls)
	require.Contains(t, debatetest.Encode(t, s.calls), "They spoke.")
	require.NotContains(t, debatetest.Encode(t, s.calls), "secret")
}

// Reasoning that a service reports as parts is no part of the text, and its tokens cost as much as those of the reply. If
// the service counts nothing, both are estimated.
func TestReasoningPartsAreKeptOnRequest(t *testing.T) {
	for name, used := range map[string]transcript.Usage{
		"counted":     {Input: 100, Output: 50, Reasoning: 40},
		"not counted": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := &speaker{reply: func(int, providers.Request) scripted.Reply {
				return scripted.Reply{Text: "I say so.", Usage: used, Reasoning: []providers.Reasoning{{Text: "My secret"}, {Text: "plan."}}}
			}}
			d, heard := reasoningDebate(t, s, func(c *debate.Config, o *debate.Options) {
				o.KeepReasoning = true
				o.Providers["m"] = debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					res, err := s.Generate(ctx, r)
					res.Usage = used // otherwise the script estimates it
					return res, err
				})
				c.Prices = price.Prices{"gpt": {Output: 2e6}}
				for i := range c.Participants {
					c.Participants[i].Model = "gpt"
				}
			})
			debatetest.Finish(t, d)
			turn := debatetest.Result(t, d).Turns[0]
			require.Equal(t, "I say so.", turn.Text)
			require.Equal(t, &transcript.Reasoning{Text: "My secret\n\nplan."}, turn.Reasoning)
			if estimated := used == (transcript.Usage{}); estimated {
				require.True(t, turn.Usage.Estimated)
				require.Positive(t, turn.Usage.Reasoning)
				require.Equal(t, turn.Tokens+turn.Usage.Reasoning, turn.Usage.Output)
			} else {
				require.Equal(t, []any{50, 40, false}, []any{turn.Usage.Output, turn.Usage.Reasoning, turn.Usage.Estimated})
			}
			require.InDelta(t, 2*turn.Usage.Output, turn.Usage.Cost, 1e-9, "2 for each token of the output, once")
			require.NotContains(t, debatetest.Encode(t, slices.Concat(s.calls, heard.calls)), "secret")
		})
	}
}

// signed returns a reply with opaque reasoning that names the call.
func signed(n int, _ providers.Request) scripted.Reply {
	return scripted.Reply{
		Text: fmt.Sprintf("Speech %d.", n), Usage: transcript.Usage{Input: 10, Output: 900, Reasoning: 700},
		Reasoning: []providers.Reasoning{{Service: "svc", Data: json.RawMessage(fmt.Sprintf(`{"sealed": %d}`, n))}, {Text: "A thought."}},
	}
}

// sealsIn returns the numbers of the opaque reasoning in a prompt, each before its own text.
func sealsIn(t *testing.T, r providers.Request) (list []int) {
	t.Helper()
	for _, m := range r.Messages {
		if m.Parts == nil {
			continue
		}
		require.Len(t, m.Parts, 2)
		require.Equal(t, providers.Assistant, m.Role)
		require.Equal(t, "svc", m.Parts[0].Reasoning.Service)
		var sealed struct{ Sealed int }
		require.NoError(t, json.Unmarshal(m.Parts[0].Reasoning.Data, &sealed))
		require.Equal(t, fmt.Sprintf("Speech %d.", sealed.Sealed), m.Parts[1].Text)
		list = append(list, sealed.Sealed)
	}
	return list
}

// Opaque reasoning goes back to the participant that it came from, also after an export, an import and a restart.
func TestOpaqueReasoningGoesBackToItsActor(t *testing.T) {
	s := &speaker{reply: signed}
	d, heard := reasoningDebate(t, s, func(c *debate.Config, _ *debate.Options) {
		c.Limits.MaxRounds = 3
	})
	debatetest.Finish(t, d)
	var got [][]int
	for _, r := range s.calls {
		got = append(got, sealsIn(t, r))
	}
	require.Equal(t, [][]int{nil, nil, {1}, {2}, {1, 3}, {2, 4}}, got)
	require.NotContains(t, debatetest.Encode(t, heard.calls), "sealed")
	require.NotContains(t, debatetest.Encode(t, heard.calls), "A thought")
	raw, err := json.Marshal(redactedReport(t, d))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "sealed")
	full := debatetest.Call(t, report.Collect, d)
	raw, err = json.Marshal(full)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "sealed")
}

func TestOpaqueReasoningSurvivesAnArchive(t *testing.T) {
	for name, change := range map[string]struct {
		edit func(*debate.Config)
		want [][]int // of the prompts of A and B after the change
	}{
		"the same model":   {func(*debate.Config) {}, [][]int{{1}, {2}}},
		"another model":    {func(c *debate.Config) { c.Participants[0].Model = "other" }, [][]int{nil, {2}}},
		"another provider": {func(c *debate.Config) { c.Participants[1].Provider = "n" }, [][]int{{1}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &speaker{reply: func(n int, r providers.Request) scripted.Reply {
				if n == 3 {
					return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("no entry")}}
				}
				return signed(n, r)
			}}
			from := store.Memory()
			d, _ := reasoningDebate(t, s, func(_ *debate.Config, o *debate.Options) { o.Store = from })
			_, err := debatetest.Run(t, d)
			require.Error(t, err)

			j, err := archive.Export(t.Context(), from, "d")
			require.NoError(t, err)
			to := store.Memory()
			require.NoError(t, archive.Import(t.Context(), to, j))
			again := &speaker{reply: signed}
			judge := &debatetest.DigestModel{Names: []string{"A", "B"}}
			e := newTestEngine(t, debate.Options{Store: to, Providers: map[string]providers.Provider{"m": again, "n": again, "j": judge}})
			d = debatetest.Open(t, e, "d")
			require.NoError(t, d.Retry(t.Context()))
			c := debatetest.PairConfig(nil)
			c.Limits.MaxRounds = 2
			change.edit(&c)
			require.NoError(t, d.Edit(t.Context(), c))
			debatetest.Finish(t, d)
			got := [][]int{}
			for _, r := range again.calls {
				got = append(got, sealsIn(t, r))
			}
			require.Equal(t, change.want, got)
		})
	}
}

// A service that no longer accepts opaque reasoning gets the prompt without it. So does one whose window is full.
func TestOpaqueReasoningIsDroppedFirst(t *testing.T) {
	for _, kind := range []providers.ErrorKind{providers.InvalidRequest, providers.ContextOverflow} {
		for _, policy := range []debate.FailurePolicy{debate.OverflowTruncate, debate.OverflowSummarize} {
			t.Run(fmt.Sprint(kind, " ", policy), func(t *testing.T) {
				s := &speaker{}
				s.reply = func(n int, r providers.Request) scripted.Reply {
					if sealsIn(t, r) != nil {
						return scripted.Reply{Err: &providers.Error{Kind: kind, Err: errors.New("not this")}}
					}
					return signed(n, r)
				}
				d, _ := reasoningDebate(t, s, func(c *debate.Config, _ *debate.Options) { c.OnOverflow = policy })
				debatetest.Finish(t, d)
				require.Equal(t, 6, len(s.calls), "one more for each prompt of round 2") //nolint:testifylint // the requests are long
				for i := range 2 {
					with, without := s.calls[2+2*i], s.calls[3+2*i]
					require.Len(t, without.Messages, len(with.Messages), "nothing else is dropped")
				}
			})
		}
	}
}

func TestOpaqueReasoningIsBounded(t *testing.T) {
	s := &speaker{reply: func(int, providers.Request) scripted.Reply {
		return scripted.Reply{Text: "So.", Reasoning: []providers.Reasoning{{Service: "svc", Data: json.RawMessage(`"` + strings.Repeat("reason ", 10_000) + `"`)}}}
	}}
	d, _ := reasoningDebate(t, s, nil)
	res := debatetest.RunResult(t, d)
	require.Nil(t, res.Turns[0].Reasoning)
	require.Contains(t, strings.Join(res.Warnings, "\n"), "the encrypted reasoning of 70")
	require.NotContains(t, debatetest.Encode(t, s.calls), "reason reason")
}

// Opaque reasoning takes part of the window, so that less of the history fits.
func TestOpaqueReasoningTakesRoomInTheWindow(t *testing.T) {
	omitted := func(tokens int) (turns int) {
		s := &speaker{reply: func(n int, r providers.Request) scripted.Reply {
			y := signed(n, r)
			y.Usage.Reasoning = tokens
			return y
		}}
		d, _ := reasoningDebate(t, s, func(c *debate.Config, _ *debate.Options) {
			c.Limits.MaxRounds = 4
			for i := range c.Participants {
				c.Participants[i].Window, c.Participants[i].MaxTokens = 6000, 300
			}
		})
		debatetest.Finish(t, d)
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Window != nil && turn.Kind == transcript.Speech {
				turns += turn.Window.Omitted
			}
		}
		return turns
	}
	require.Zero(t, omitted(10))
	require.Positive(t, omitted(2500))
}

// Reasoning that uses up the token limit is not taken for an empty reply: the model is asked again with more room.
func TestReasoningThatUsesUpTheLimitGetsMoreRoom(t *testing.T) {
	for name, reply := range map[string]scripted.Reply{
		"no text":          {FinishReason: providers.Length},
		"nothing but tags": {Text: "<think>I wonder", FinishReason: providers.Length},
		"an error": {Err: &providers.Error{
			Kind: providers.InvalidResponse, Err: errors.New("reasoning used up the token limit"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &speaker{}
				s.reply = func(n int, _ providers.Request) scripted.Reply {
					if n == 1 {
						return reply
					}
					return scripted.Reply{Text: "So."}
				}
				model := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
					res, err := s.Generate(ctx, r)
					if e := providers.AsError(err); e != nil {
						e.Partial.FinishReason = providers.Length
					}
					return res, err
				})
				d, _ := reasoningDebate(t, s, func(c *debate.Config, o *debate.Options) {
					o.Providers["m"] = model
					c.Protocol = procon.Protocol{}
					c.Participants[0].Side, c.Participants[1].Side = "pro", "con"
				})
				began := time.Now()
				events := debatetest.Finish(t, d)
				require.Zero(t, time.Since(began), "no wait is needed")
				require.Equal(t, 600, s.calls[0].MaxTokens)
				require.Equal(t, 600+8192, s.calls[1].MaxTokens)
				require.Equal(t, 600, s.calls[2].MaxTokens, "the next step has the usual limit")
				turn := debatetest.Result(t, d).Turns[0]
				require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
				require.Contains(t, turn.Attempts[0].ErrorMessage, "asking for the reply again with a limit of 8792 tokens: 600 were used up before the reply began")
				require.True(t, slices.ContainsFunc(events, func(ev debate.Event) bool {
					failed, ok := ev.(debate.TurnFailed)
					return ok && strings.Contains(failed.Message, "a limit of 8792 tokens")
				}))
			})
		})
	}
}

// A reply that begins late is cut like one that does not begin: twice the limit would not be enough for the reasoning.
func TestAReplyThatIsCutAfterMuchReasoningGetsMoreRoom(t *testing.T) {
	for thought, want := range map[int]int{0: 800, 199: 800, 200: 400 + 8192, 390: 400 + 8192} {
		for _, keep := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d, heard := reasoningDebate(t, &speaker{reply: func(int, providers.Request) scripted.Reply { return scripted.Reply{Text: "So."} }},
					func(c *debate.Config, o *debate.Options) {
						c.Protocol, o.KeepReplies = procon.Protocol{}, keep
						c.Participants[0].Side, c.Participants[1].Side = "pro", "con"
					})
				whole := heard.reply
				heard.reply = func(n int, r providers.Request) scripted.Reply {
					if n > 1 {
						return whole(n, r)
					}
					return scripted.Reply{Text: `{"winner": "A`, FinishReason: providers.Length, Usage: transcript.Usage{Input: 900, Output: 400, Reasoning: thought}}
				}
				debatetest.Finish(t, d)
				require.Equal(t, 400, heard.calls[0].MaxTokens)
				require.Equal(t, want, heard.calls[1].MaxTokens, "%d tokens of reasoning", thought)
				p := debatetest.PromptOf(t, d, debatetest.Result(t, d).Verdict.Key)
				require.Equal(t, want, p.Request.MaxTokens, "the request can be rebuilt")
			})
		}
	}
}

// The model is asked again only once, and only if the policy has a retry for invalid replies.
func TestMoreRoomIsGivenOnce(t *testing.T) {
	for retries, want := range map[int][]int{0: {4096, 4096}, 1: {4096, 12288, 4096, 12288}} {
		synctest.Test(t, func(t *testing.T) {
			s := &speaker{reply: func(int, providers.Request) scripted.Reply { return scripted.Reply{FinishReason: providers.Length} }}
			d, _ := reasoningDebate(t, s, func(c *debate.Config, _ *debate.Options) {
				c.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: retries}
				c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m", Side: "against"})
			})
			_, _ = debatetest.Run(t, d)
			sizes := []int{}
			for _, r := range s.calls {
				sizes = append(sizes, r.MaxTokens)
			}
			require.Equal(t, want, sizes, "%d retries", retries)
		})
	}
}

// The limits of protocols leave room for the reasoning of participants that reason, and the budgets include it.
func TestLimitsLeaveRoomForReasoning(t *testing.T) {
	for level, room := range map[string]int{"": 0, "none": 0, "low": 2048, "medium": 8192, "high": 16384, "3000": 3000} {
		t.Run(level, func(t *testing.T) {
			s := &speaker{reply: func(int, providers.Request) scripted.Reply { return scripted.Reply{Text: "So."} }}
			d, heard := reasoningDebate(t, s, func(c *debate.Config, _ *debate.Options) {
				c.Protocol, c.Limits = procon.Protocol{}, debate.Limits{}
				c.Participants[0].Side, c.Participants[1].Side = "pro", "con"
				for _, p := range []*debate.Participant{&c.Participants[0], &c.Participants[1], &c.Judges[0]} {
					p.Reasoning, p.Window = level, 100_000
				}
			})
			debatetest.Finish(t, d)
			require.Equal(t, 600+room, s.calls[0].MaxTokens)
			require.Equal(t, 400+room, heard.calls[0].MaxTokens)
			r := debatetest.Call(t, report.Collect, d)
			var stored debate.Config
			require.NoError(t, json.Unmarshal(r.Config, &stored))
			least := len(s.calls)*(600+room) + 400 + room
			require.GreaterOrEqual(t, stored.Limits.OutputTokens, least)
		})
	}
}
