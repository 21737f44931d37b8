package debateotel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// detailed returns a debate whose requests have all settings, with prices.
func detailed() debate.Config {
	c := pair()
	c.Prices = price.Prices{"gpt-x-2026": {Input: 10, Cached: 10, Output: 30}}
	for i := range c.Participants {
		p := &c.Participants[i]
		p.Model, p.Role = "gpt-x", "expert"
		p.Temperature = new(0.5)
		p.TopP = 0.9
		p.Seed = new(int64(7))
		p.Stop = []string{"END"}
		p.Reasoning = "low"
		p.MaxTokens = 500
	}
	return c
}

// A call has the attributes of the conventions.
func TestTheAttributesOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newRecorder(Options{Providers: map[string]string{"m": "openai"}}), &model{cfg: detailed()}
		_, d := start(t, r, m, nil)
		debatetest.Finish(t, d)
		roots := r.trees(t)
		agent := find(roots, "invoke_agent A")[0]
		call := agent.below[0]
		require.Equal(t, "chat gpt-x", call.Name())
		require.Equal(t, schemaURL, call.InstrumentationScope().SchemaURL)
		require.ElementsMatch(t, []attribute.KeyValue{
			attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "openai"),
			attribute.String("gen_ai.conversation.id", d.ID()), attribute.Int("debate.attempt", 1),
			attribute.String("gen_ai.request.model", "gpt-x"), attribute.String("gen_ai.response.model", "gpt-x-2026"),
			attribute.Float64("gen_ai.request.temperature", 0.5), attribute.Float64("gen_ai.request.top_p", 0.9), attribute.Int64("gen_ai.request.seed", 7),
			attribute.StringSlice("gen_ai.request.stop_sequences", []string{"END"}), attribute.String("gen_ai.request.reasoning.level", "low"),
			attribute.Int("gen_ai.request.max_tokens", 500), attribute.Bool("gen_ai.request.stream", true),
			attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}), attribute.Float64("gen_ai.response.time_to_first_chunk", 2),
			attribute.Int("gen_ai.usage.input_tokens", 100), attribute.Int("gen_ai.usage.cache_read.input_tokens", 40),
			attribute.Int("gen_ai.usage.output_tokens", 20), attribute.Int("gen_ai.usage.reasoning.output_tokens", 5),
			attribute.Float64("debate.cost", 0.0016),
		}, call.Attributes())
		require.Equal(t, "expert", agent.attr("debate.role"))
	})
}

// Each score of an assessment is an event on the judge's span: for each participant and criterion, and for the round.
func TestEvaluations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		_, d := start(t, r, &model{cfg: pair()}, nil)
		debatetest.Finish(t, d)
		roots := r.trees(t)
		for _, u := range debatetest.Result(t, d).Turns {
			if u.Contract != "assessment/1" {
				continue
			}
			a, err := transcript.Decode[evaluation](u)
			require.NoError(t, err)
			var want, got []string
			for _, p := range a.Participants {
				for _, c := range p.Criteria {
					want = append(want, fmt.Sprint(p.Name, " ", c.Criterion, " ", c.Score))
				}
				want = append(want, fmt.Sprint(p.Name, " score ", *p.Score))
			}
			want = append(want, fmt.Sprint(" quality ", *a.Quality))
			i := slices.IndexFunc(find(roots, operationAgent), func(n *node) bool { return n.attr(keyStep) == u.Key.String() })
			for _, e := range find(roots, operationAgent)[i].Events() {
				require.Equal(t, "gen_ai.evaluation.result", e.Name)
				set := attribute.NewSet(e.Attributes...)
				name, _ := set.Value("gen_ai.evaluation.name")
				score, _ := set.Value("gen_ai.evaluation.score.value")
				who, _ := set.Value("debate.participant")
				got = append(got, fmt.Sprint(who.AsString(), " ", name.AsString(), " ", score.AsFloat64()))
			}
			require.Equal(t, want, got)
		}
	})
}

// secretive returns a debate in which every text has the word SECRET, and so do errors.
func secretive(r *recorder, t *testing.T) *debate.Debate {
	cfg := pair()
	cfg.Topic, cfg.Background = "SECRET topic", "SECRET background"
	for i := range cfg.Participants {
		cfg.Participants[i].Position, cfg.Participants[i].Instructions = "SECRET position", "SECRET instructions"
	}
	failed := map[string]bool{}
	m := &model{cfg: cfg, act: func(_ context.Context, s debate.Step) error {
		if s.Key.Actor == "C" && s.Key.Round == 2 || s.Key.Actor == "J" && !failed[s.Key.String()] {
			failed[s.Key.String()] = true
			return &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("SECRET error")}
		}
		return nil
	}}
	_, d := start(t, r, m, func(o *debate.Options) {
		o.Providers["m"] = secretModel{m}
	})
	return d
}

// secretModel adds a secret to free replies and to the reasons of judges.
type secretModel struct{ *model }

func (m secretModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	resp, err := m.model.Generate(ctx, r)
	if r.SchemaName == "" {
		resp.Text = "SECRET reply " + resp.Text
	} else {
		resp.Text = strings.NewReplacer(`"reasoning":"`, `"reasoning":"SECRET reasons `, `"summary":"`, `"summary":"SECRET summary `).Replace(resp.Text)
	}
	return resp, err
}

// Without Texts, no span and no metric has a text of the debate. With it, spans have all of them. A replay is the same,
// without prompts.
func TestTextsAreOptional(t *testing.T) {
	for _, texts := range []bool{false, true} {
		t.Run(fmt.Sprint(texts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(Options{Texts: texts})
				d := secretive(r, t)
				runToStop(t, d)
				again := newRecorder(Options{Texts: texts})
				require.NoError(t, again.Replay(t.Context(), d))
				recorded := map[*recorder]string{r: describe(r.trees(t), nil), again: describe(again.trees(t), nil)}
				for from, text := range recorded {
					for _, n := range from.trees(t) {
						for _, x := range n.all("") {
							text += x.Status().Description
						}
					}
					for _, secret := range []string{"SECRET topic", "SECRET reply", "SECRET reasons", "SECRET summary", "SECRET error"} {
						require.Equal(t, texts, strings.Contains(text, secret), secret)
					}
				}
				for _, secret := range []string{"SECRET background", "SECRET position", "SECRET instructions"} {
					require.Equal(t, texts, strings.Contains(recorded[r], secret), secret)
				}
				require.NotContains(t, fmt.Sprint(collect(t, r)), "SECRET")
			})
		})
	}
}

// The prompt and the reply of a call have the form that the conventions prescribe.
func TestTheFormOfTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{Texts: true})
		_, d := start(t, r, &model{cfg: pair()}, nil)
		debatetest.Finish(t, d)
		call := find(r.trees(t), "invoke_agent A")[0].below[0]
		var system []part
		var input, output []message
		require.NoError(t, json.Unmarshal([]byte(call.attr("gen_ai.system_instructions")), &system))
		require.NoError(t, json.Unmarshal([]byte(call.attr("gen_ai.input.messages")), &input))
		require.NoError(t, json.Unmarshal([]byte(call.attr("gen_ai.output.messages")), &output))
		require.Equal(t, "text", system[0].Type)
		require.Equal(t, "user", input[0].Role)
		require.Equal(t, debatetest.Result(t, d).Turns[1].Text, output[0].Parts[0].Content)
		require.Equal(t, "assistant", output[0].Role)
	})
}

// Texts and names of any length are bounded, and valid UTF-8.
func TestLengthsAreBounded(t *testing.T) {
	c := content{texts: true, most: 100}
	long := strings.Repeat("ä\xff\"\n", 1000)
	var all []attribute.KeyValue
	e := callEnd{
		attempt:  &transcript.Attempt{Provider: long, Model: long, Requested: long, FinishReason: long},
		request:  &providers.Request{Stop: slices.Repeat([]string{long}, 100), Reasoning: long, Messages: slices.Repeat([]providers.Message{{Role: providers.System, Text: long}, {Role: providers.User, Text: long}}, 5)},
		response: &providers.Response{Text: long},
	}
	all = append(all, c.callAttributes(&e)...)
	all = append(all, c.turnAttributes(&transcript.Turn{Text: long, Contract: long, Flags: []transcript.Flag{transcript.Flag(long)}})...)
	all = append(all, c.driveAttributes(store.Status{Topic: long, Protocol: long, Ending: transcript.Ending{Outcome: transcript.Outcome(long)}})...)
	for _, ev := range []debate.Event{
		debate.StateChanged{Ending: transcript.Ending{Outcome: "x", Evidence: long}, Failure: &debate.Failure{Key: transcript.Key{Actor: long}, Message: long, Stack: long}},
		debate.Dropped{Name: long},
		debate.Warning{Text: long, Key: transcript.Key{Actor: long}},
	} {
		n, ok := c.noteOf(ev, time.Now())
		require.True(t, ok)
		all = append(all, n.list...)
	}
	for _, a := range all {
		require.LessOrEqual(t, len(a.Value.String()), 6000, a.Key)
		require.Equal(t, strings.ToValidUTF8(a.Value.String(), ""), a.Value.String())
	}
	require.Equal(t, "ab…", clip("abcdef", 5))
	require.Equal(t, "…", clip("ääää", 3))
	require.Empty(t, clip("", 0))
}

// The number of debates that are remembered is bounded, and so are the transitions of each.
func TestTheMemoryIsBounded(t *testing.T) {
	r := newRecorder(Options{})
	for i := range maxDebates + 500 {
		r.commit(t.Context(), fmt.Sprint(i), debate.StateChanged{To: fsm.Paused})
	}
	require.Len(t, r.debates.byID, maxDebates)
	for range 100 {
		r.commit(t.Context(), "x", debate.StateChanged{To: fsm.Paused})
	}
	require.Len(t, r.debates.byID["x"].pending, maxPending)
	r.commit(t.Context(), "x", debate.StateChanged{To: fsm.Canceled})
	require.NotContains(t, r.debates.byID, "x")
}

// Without a drive, which another observer may have kept from it, a step and a call are not recorded.
func TestAStepWithoutADrive(t *testing.T) {
	r := newRecorder(Options{})
	for _, s := range []debate.Step{
		{Debate: "d", Attempt: debate.Attempt{Key: transcript.Key{Actor: "A"}}}, {Debate: "d", Attempt: debate.Attempt{Key: transcript.Key{Actor: "A"}, Number: 1}},
	} {
		ctx, end := r.begin(t.Context(), s)
		require.Equal(t, t.Context(), ctx)
		require.Nil(t, end)
	}
	require.Empty(t, r.spans.Started())
}

// Programs that use the package link OpenTelemetry's API, and not its SDK.
func TestOnlyTheAPIIsImported(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "go.opentelemetry.io/otel/trace\n")
	for line := range strings.Lines(string(out)) {
		require.NotContains(t, line, "otel/sdk")
		require.NotContains(t, line, "exporters")
	}
}

// A replay of a debate that does not exist is an error that names it.
func TestAReplayThatFails(t *testing.T) {
	r := newRecorder(Options{})
	e, d := start(t, r, &model{cfg: pair()}, nil)
	require.NoError(t, e.Delete(t.Context(), d.ID()))
	err := r.Replay(t.Context(), d)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorContains(t, err, "replay debate d: ")
	require.Empty(t, r.spans.Started())
}

// Everything that is recorded begins with "debate." or has a name of the conventions.
func TestNames(t *testing.T) {
	known := strings.Fields(`
		error.type gen_ai.agent.name gen_ai.conversation.compacted gen_ai.conversation.id gen_ai.input.messages gen_ai.operation.name
		gen_ai.output.messages gen_ai.output.type gen_ai.provider.name gen_ai.request.max_tokens gen_ai.request.model
		gen_ai.request.reasoning.level gen_ai.request.seed gen_ai.request.stop_sequences gen_ai.request.stream
		gen_ai.request.temperature gen_ai.request.top_p gen_ai.response.finish_reasons gen_ai.response.model
		gen_ai.response.time_to_first_chunk gen_ai.system_instructions gen_ai.usage.cache_read.input_tokens
		gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.reasoning.output_tokens gen_ai.workflow.name
		gen_ai.evaluation.result gen_ai.evaluation.name gen_ai.evaluation.score.value gen_ai.evaluation.score.label gen_ai.evaluation.explanation`)
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{Texts: true})
		m := &model{cfg: detailed(), act: troubles()["a retry"]}
		_, d := start(t, r, m, nil)
		debatetest.Finish(t, d)
		shortened := &model{cfg: enginetest.PresetConfigs()["panel with summaries in its window"]}
		_, d = start(t, r, shortened, nil)
		debatetest.Finish(t, d)
		used := map[string]bool{}
		for _, n := range find(r.trees(t), "") {
			list := n.Attributes()
			for _, e := range n.Events() {
				used[e.Name] = true
				list = append(slices.Clip(list), e.Attributes...)
			}
			for _, a := range list {
				used[string(a.Key)] = true
			}
		}
		for name := range used {
			require.True(t, strings.HasPrefix(name, "debate.") || slices.Contains(known, name), name)
		}
		for _, name := range known {
			require.True(t, used[name], name)
		}
	})
}

// A panic is recorded with its message, and without its stack.
func TestNoStackIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{Texts: true})
		_, d := start(t, r, &model{cfg: pair(), act: troubles()["a panic"]}, nil)
		runToStop(t, d)
		require.NotEmpty(t, debatetest.Result(t, d).Failure.Stack)
		text := describe(r.trees(t), nil)
		for _, n := range find(r.trees(t), "") {
			text += n.Status().Description
		}
		require.Contains(t, text, "SECRET panic")
		require.NotContains(t, text, "goroutine")
		require.NotContains(t, text, ".go:")
	})
}

// sampler keeps what it is told of spans.
type sampler struct {
	mu   sync.Mutex
	told []sdktrace.SamplingParameters
}

func (s *sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, p)
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (*sampler) Description() string { return "keeps what it is told" }

// Samplers see what a call asks for, and a sampler that drops everything changes nothing in a debate.
func TestSamplersSeeCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sampler{}
		r := newRecorder(Options{})
		r.Telemetry = New(Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(s)), Providers: map[string]string{"m": "openai"}})
		_, d := start(t, r, &model{cfg: detailed()}, nil)
		debatetest.Finish(t, d)
		i := slices.IndexFunc(s.told, func(p sdktrace.SamplingParameters) bool { return p.Name == "chat gpt-x" })
		require.GreaterOrEqual(t, i, 0)
		require.ElementsMatch(t, []attribute.KeyValue{
			attribute.String(keyOperation, "chat"), attribute.String(keyProvider, "openai"), attribute.String(keyRequestModel, "gpt-x"),
			attribute.String(keyConversation, "d"), attribute.Int(keyAttempt, 1),
		}, s.told[i].Attributes)
	})
}
