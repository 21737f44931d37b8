package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

const (
	benchRounds = 10
	benchChunks = 60
)

func benchSpeaker() *scripted.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: longSpeech, Chunks: benchChunks}
	}}
}

func benchJudge(b testing.TB) *scripted.Provider {
	more := debatetest.Encode(b, debatetest.LongAssessment("Ada", "Bo"))
	final := debatetest.Encode(
		b,
		judge.Verdict{Summary: "Both sides made their case, and neither answered the other's strongest point.", Quality: 50},
	)
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		if debatetest.AsksFor(r, "verdict") {
			return scripted.Reply{Text: final, Chunks: benchChunks}
		}
		return scripted.Reply{Text: more, Chunks: benchChunks}
	}}
}

// BenchmarkUnjudged measures 2 debaters x 10 rounds, streamed, with the full history in each prompt.
func BenchmarkUnjudged(b *testing.B) {
	opts := debate.Options{Providers: map[string]providers.Provider{"m": benchSpeaker()}}
	compare(b, opts, unjudgedPanel{}, 2*benchRounds*benchChunks, func(b *testing.B) { bareLoop(b, benchSpeaker(), nil, false, nil) })
}

// BenchmarkScored adds one small score to each round: two numbers and two strings.
func BenchmarkScored(b *testing.B) {
	opts := debate.Options{
		Providers: map[string]providers.Provider{"m": benchSpeaker(), "j": scorer()},
		Protocols: []protocol.Protocol{scored{}}, Contracts: []*reply.Contract{roundScoreContract},
	}
	compare(
		b,
		opts,
		scored{},
		2*benchRounds*benchChunks+benchRounds,
		func(b *testing.B) { bareLoop(b, benchSpeaker(), scorer(), false, decodeScore) },
	)
}

// BenchmarkJudged adds an assessment of each round, and a verdict. The bare loop validates both.
func BenchmarkJudged(b *testing.B) {
	opts := debate.Options{Providers: map[string]providers.Provider{"m": benchSpeaker(), "j": benchJudge(b)}}
	compare(b, opts, panel.Protocol{Format: panel.RoundLimited}, (3*benchRounds+1)*benchChunks,
		func(b *testing.B) { bareLoop(b, benchSpeaker(), benchJudge(b), true, decodeAssessment) })
}

// compare runs a bare loop and a debate with its protocol by themselves, and then both in turn.
func compare(b *testing.B, o debate.Options, p protocol.Protocol, chunks int, bare func(*testing.B)) {
	e, err := debate.NewEngine(o)
	if err != nil {
		b.Fatal(err)
	}
	var judges []debate.Participant
	if o.Providers["j"] != nil {
		judges = []debate.Participant{{Name: "Judge", Provider: "j"}}
	}
	full := func(b *testing.B) { runBench(b, e, p, judges, debate.Limits{MaxRounds: benchRounds}, chunks) }
	b.Run("bare loop", func(b *testing.B) { measure(b, func() { bare(b) }) })
	b.Run("debate", func(b *testing.B) { measure(b, func() { full(b) }) })
	b.Run("both", func(b *testing.B) { interleave(b, "times-the-bare-loop", func() { bare(b) }, func() { full(b) }) })
}

// interleave reports how many times the CPU of the first function the second takes: the median of ten measurements, each
// of both functions in turn, so that a change of the machine's speed reaches both.
func interleave(b *testing.B, unit string, first, second func()) {
	const measurements, runs = 10, 400
	times := func(f func()) float64 {
		began := debatetest.CPUTime(b)
		for range runs {
			f()
		}
		return float64(debatetest.CPUTime(b) - began)
	}
	for b.Loop() {
		var ratios []float64
		for range measurements {
			base := times(first)
			ratios = append(ratios, times(second)/base)
		}
		slices.Sort(ratios)
		b.ReportMetric((ratios[4]+ratios[5])/2, unit)
	}
}

// A roundScore is a small structured reply: two numbers and two strings.
type roundScore struct {
	Ada    float64 `json:"ada" jsonschema:"minimum=0,maximum=10"`
	Bo     float64 `json:"bo" jsonschema:"minimum=0,maximum=10"`
	Winner string  `json:"winner" jsonschema:"maxLength=40"`
	Reason string  `json:"reason" jsonschema:"maxLength=400"`
}

func (s *roundScore) Text() string { return s.Winner + ": " + s.Reason }

var roundScoreContract = reply.New[roundScore]("round-score/1")

const scoreReply = `{"ada": 7.5, "bo": 6, "winner": "Ada", "reason": "She answered the point about deliveries, and Bo did not."}`

// scored is a panel whose rounds get one small score each.
type scored struct{ unjudgedPanel }

func (scored) Name() string { return "scored/1" }

func (p scored) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Assessment {
		return scorePhases
	}
	if r.Cursor.Stage == transcript.Conclusion {
		return nil
	}
	return p.unjudgedPanel.Phases(r)
}

var scorePhases = []protocol.Phase{{
	Name: "score", Steps: []protocol.Step{{Key: transcript.Key{Actor: "Judge"}, Prompt: "assess", Contract: roundScoreContract.Name()}},
}}

func scorer() *scripted.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: scoreReply}
	}}
}

// measure reports the CPU time of the process in addition to the wall time, on Unix. CPU time includes garbage
// collection.
func measure(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	began := debatetest.CPUTime(b)
	for b.Loop() {
		f()
	}
	if used := debatetest.CPUTime(b) - began; used > 0 {
		b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
	}
}

// BenchmarkTokenLimit measures judged debates with a limit of all tokens. Each phase reserves the prompts that may follow.
func BenchmarkTokenLimit(b *testing.B) {
	for _, rounds := range []int{5, 10, 20, 40} {
		b.Run(fmt.Sprint(rounds), func(b *testing.B) {
			run := judgedDebate(b, debate.Limits{MaxRounds: rounds, Tokens: 100_000_000})
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}

// judgedDebate returns a function that runs a judged debate with the given limits.
func judgedDebate(b testing.TB, l debate.Limits) func() {
	e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": benchSpeaker(), "j": benchJudge(b)}})
	if err != nil {
		b.Fatal(err)
	}
	l.OutputTokens = 100_000_000
	judges := []debate.Participant{{Name: "Judge", Provider: "j"}}
	return func() {
		runBench(b, e, panel.Protocol{Format: panel.RoundLimited}, judges, l, (3*l.MaxRounds+1)*benchChunks)
	}
}

// What a token limit reserves is computed from parts that are made once, and its cost is linear in the rounds.
func TestTokenLimitsAllocateLittle(t *testing.T) {
	count := func(rounds, tokens int) float64 {
		return testing.AllocsPerRun(3, judgedDebate(t, debate.Limits{MaxRounds: rounds, Tokens: tokens}))
	}
	limited := count(40, 100_000_000)
	require.Less(t, limited, 1.2*count(40, 0), "a token limit costs little")
	require.Less(t, limited, 4.4*count(10, 100_000_000), "the allocations are linear in the rounds")
}

func runBench(b testing.TB, e *debate.Engine, p protocol.Protocol, judges []debate.Participant, limits debate.Limits, want int) {
	ctx := b.Context()
	d, err := e.Create(ctx, debate.Config{
		Topic: "Ban cars?", Protocol: p, Judges: judges,
		Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
		Limits:       limits,
	})
	if err != nil {
		b.Fatal(err)
	}
	chunks, ended := 0, false
	for ev, err := range d.Run(ctx) {
		if err != nil {
			b.Fatal(err)
		}
		switch ev.(type) {
		case debate.Chunk:
			chunks++
		case debate.Ended:
			ended = true
		}
	}
	if !ended || chunks != want {
		b.Fatalf("saw %d chunks, want %d, ended: %v", chunks, want, ended)
	}
	if err := e.Delete(ctx, d.ID()); err != nil {
		b.Fatal(err)
	}
}

// A loop makes the same calls as a debate: it keeps the history, builds each prompt and streams each reply.
type loop struct {
	b       *testing.B
	history []said
	chunks  int
}

type said struct{ who, text, told string }

func (l *loop) call(p *scripted.Provider, who, reply, system, user string) string {
	messages := make([]providers.Message, 0, len(l.history)+2)
	messages = append(messages, providers.Message{Role: providers.System, Text: system})
	for _, s := range l.history {
		if s.who == who {
			messages = append(messages, providers.Message{Role: providers.Assistant, Text: s.text})
		} else {
			messages = append(messages, providers.Message{Role: providers.User, Text: s.told})
		}
	}
	messages = append(messages, providers.Message{Role: providers.User, Text: user})
	var text strings.Builder // collects a streamed reply
	_, err := p.Generate(context.Background(), providers.Request{Messages: messages, SchemaName: reply, OnChunk: func(piece string) error {
		text.WriteString(piece)
		l.chunks++
		return nil
	}})
	if err != nil {
		l.b.Fatal(err)
	}
	return text.String()
}

// bareLoop holds the rounds. With a judge it also decodes what the judge says of each round and,
// with a verdict, at the end.
func bareLoop(b *testing.B, p, j *scripted.Provider, verdict bool, decode func(b *testing.B, text string, final bool)) {
	l := &loop{b: b}
	for round := range benchRounds {
		for _, who := range []string{"Ada", "Bo"} {
			text := l.call(p, who, "", "You debate as "+who, fmt.Sprintf("Round %d of %d", round+1, benchRounds))
			l.history = append(l.history, said{who, text, who + ": " + text})
		}
		if j != nil {
			decode(b, l.call(j, "", "assessment/1", "You judge", fmt.Sprintf("Assess round %d", round+1)), false)
		}
	}
	if verdict {
		decode(b, l.call(j, "", "verdict/1", "You judge", "final judgment"), true)
	}
}

// decodeScore reads a score without validating it.
func decodeScore(b *testing.B, text string, _ bool) {
	if err := json.Unmarshal([]byte(text), &roundScore{}); err != nil {
		b.Fatal(err)
	}
}

// decodeAssessment parses, validates and decodes an assessment or a verdict.
func decodeAssessment(b *testing.B, text string, final bool) {
	if final {
		parse[judge.Verdict](b, judge.VerdictContract, text)
	} else {
		parse[judge.Assessment](b, judge.AssessmentContract, text)
	}
}

func parse[T any](b *testing.B, c *reply.Contract, text string) {
	r, err := c.Parse(text, []string{"Ada", "Bo"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := transcript.Decode[T](transcript.Turn{Contract: c.Name(), Data: r.Data}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChunk measures the cost of one chunk, in a debate of one speech with very many chunks.
func BenchmarkChunk(b *testing.B) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		b.Run(string(mode), func(b *testing.B) {
			text := strings.Repeat("word ", b.N/2+1)
			model := &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: text, Chunks: b.N/2 + 1}
			}}
			e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": model}})
			if err != nil {
				b.Fatal(err)
			}
			d, err := e.Create(b.Context(), debate.Config{
				Topic: "Ban cars?", Protocol: unjudgedPanel{panel.Protocol{Mode: mode}}, Limits: debate.Limits{MaxRounds: 1, OutputTokens: 1 << 40},
				Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, err := range d.Run(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTurn measures ten more turns of a debate that already has some. The window shows the same number of turns
// each time, so that the size of the prompt does not matter.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			model := &scripted.Provider{DiscardCalls: true, Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: longSpeech} }}
			e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": model}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				next, stop := iter.Pull2(newEndlessDebate(b, e).Run(b.Context()))
				waitForTurns(b, next, turns)
				b.StartTimer()
				waitForTurns(b, next, 10)
				b.StopTimer()
				stop()
				b.StartTimer()
			}
		})
	}
}

// newEndlessDebate returns a debate that never reaches its limits.
func newEndlessDebate(b *testing.B, e *debate.Engine) *debate.Debate {
	p := debate.Participant{Provider: "m", Window: 8000, MaxTokens: 1000}
	ada, bo := p, p
	ada.Name, bo.Name = "Ada", "Bo"
	d, err := e.Create(b.Context(), debate.Config{
		Topic: "Ban cars?", Protocol: unjudgedPanel{}, Participants: []debate.Participant{ada, bo},
		Limits: debate.Limits{MaxRounds: 10_000, OutputTokens: 1 << 50, RunningTime: 1 << 54},
	})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// waitForTurns waits until the debate has the given number of turns.
func waitForTurns(b *testing.B, next func() (debate.Event, error, bool), turns int) {
	for turns > 0 {
		ev, err, _ := next()
		if err != nil {
			b.Fatal(err)
		}
		if _, done := ev.(debate.TurnDone); done {
			turns--
		}
	}
}

// BenchmarkLiveDebates reports the memory of 10,000 debates that wait for their first reply.
func BenchmarkLiveDebates(b *testing.B) {
	const count = 10_000
	for b.Loop() {
		var waiting sync.WaitGroup
		waiting.Add(count)
		model := &blockingModel{&waiting}
		e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": model}})
		if err != nil {
			b.Fatal(err)
		}
		heap, stacks := memory()
		for range count {
			d, err := e.Create(b.Context(), debate.Config{
				Topic: "Ban cars?", Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
			})
			if err != nil {
				b.Fatal(err)
			}
			if err := d.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		waiting.Wait()
		heapNow, stacksNow := memory()
		b.ReportMetric(float64(heapNow-heap)/count, "heap-B/debate")
		b.ReportMetric(float64(stacksNow-stacks)/count, "stack-B/debate")
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		_ = e.Close(ctx) // cancels calls in flight
	}
}

// blockingModel reports that it was called and then blocks.
type blockingModel struct{ called *sync.WaitGroup }

func (w *blockingModel) Generate(ctx context.Context, _ providers.Request) (providers.Response, error) {
	w.called.Done()
	<-ctx.Done()
	return providers.Response{}, context.Cause(ctx)
}

// memory returns the bytes that the heap and the stacks hold.
func memory() (heap, stacks uint64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, m.StackInuse
}

// A debate without tools and documents makes no more allocations on an engine that has them than on another one. The count is exact
// without the race detector only, because that empties pools at random.
func TestToolsAndDocumentsCostNothingUnused(t *testing.T) {
	build, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	if slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector empties pools at random, so allocations cannot be compared")
	}
	least := func(o debate.Options) float64 {
		o.Providers = map[string]providers.Provider{"m": benchSpeaker()}
		e := debatetest.Engine(t, o)
		counts := make([]float64, 20) // the garbage collector empties pools in some of them
		for i := range counts {
			counts[i] = testing.AllocsPerRun(1, func() {
				runBench(t, e, unjudgedPanel{}, nil, debate.Limits{MaxRounds: benchRounds, OutputTokens: 1_000_000}, 2*benchRounds*benchChunks)
			})
		}
		return slices.Min(counts)
	}
	search := tool.Func(tool.Spec{Name: "search", Description: "Searches."},
		func(context.Context, struct{}) (string, error) { return "", nil })
	with := debate.Options{
		Tools: []tool.Tool{search},
		Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) {
			return "", nil
		},
	}
	require.LessOrEqual(t, least(with), least(debate.Options{}))
}
