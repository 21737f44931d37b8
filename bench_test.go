package debate_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// unjudged is a panel that nobody judges.
type unjudged struct{ panel.Protocol }

func (unjudged) Name() string { return "unjudged/1" }

func (unjudged) Check(*protocol.Record) []protocol.Problem { return nil }

func (u unjudged) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech {
		return u.Protocol.Phases(r)
	}
	return nil
}

func (unjudged) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// speech is a reply of about 300 tokens.
var speech = strings.Repeat("The kerb is where the freedom of one driver ends and that of others begins. ", 21)

const (
	benchRounds = 10
	benchChunks = 60
)

func speaker() *scripted.Provider {
	return &scripted.Provider{Forget: true, Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: speech, Chunks: benchChunks}
	}}
}

// thorough is an assessment of about 300 tokens.
func thorough(names ...string) judge.Assessment {
	a := assessment(true, names...)
	a.Reasoning = "Both sides have come closer on what is at stake, yet the strongest point on each side, the price of transit " +
		"and the space that parking takes, stands unanswered, so another round promises more than repetition."
	for i := range a.Participants {
		a.Participants[i].Strengths = []string{"It answers the point about deliveries directly.", "It brings a new example, from a city of similar size."}
		a.Participants[i].Weaknesses = []string{"It repeats the claim about noise without new evidence.", "It passes over the cost to those who live outside."}
	}
	a.Recommendations = []string{"Ask for the cost of the alternative.", "Have each side name what would change its mind."}
	return a
}

func assessor(b *testing.B) *scripted.Provider {
	more := encode(b, thorough("Ada", "Bo"))
	final := encode(b, judge.Verdict{Summary: "Both sides made their case, and neither answered the other's strongest point.", Quality: 50})
	return &scripted.Provider{Forget: true, Func: func(r providers.Request) scripted.Reply {
		if asked(r, "verdict") {
			return scripted.Reply{Text: final, Chunks: benchChunks}
		}
		return scripted.Reply{Text: more, Chunks: benchChunks}
	}}
}

// BenchmarkUnjudged is 2 debaters x 10 rounds, streamed, with the full history in each prompt.
func BenchmarkUnjudged(b *testing.B) {
	b.Run("bare loop", func(b *testing.B) {
		p := speaker()
		measure(b, func() { bareLoop(b, p, nil) })
	})
	b.Run("debate", func(b *testing.B) {
		opts := debate.Options{Providers: map[string]providers.Provider{"m": speaker()}}
		e, err := debate.NewEngine(opts)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() { runBench(b, e, unjudged{}, nil, 2*benchRounds*benchChunks) })
	})
}

// BenchmarkJudged adds an assessment of each round, and a verdict.
func BenchmarkJudged(b *testing.B) {
	b.Run("bare loop", func(b *testing.B) {
		p, j := speaker(), assessor(b)
		measure(b, func() { bareLoop(b, p, j) })
	})
	b.Run("debate", func(b *testing.B) {
		opts := debate.Options{Providers: map[string]providers.Provider{"m": speaker(), "j": assessor(b)}}
		e, err := debate.NewEngine(opts)
		if err != nil {
			b.Fatal(err)
		}
		measure(b, func() {
			runBench(b, e, panel.Protocol{Format: panel.RoundLimited}, []debate.Participant{{Name: "Judge", Provider: "j"}}, (3*benchRounds+1)*benchChunks)
		})
	})
}

// measure reports the CPU time of the process beside the wall time: collecting garbage goes on beside the debate.
func measure(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func runBench(b *testing.B, e *debate.Engine, p protocol.Protocol, judges []debate.Participant, want int) {
	ctx := b.Context()
	d, err := e.Create(ctx, debate.Config{
		Topic: "Ban cars?", Protocol: p, Judges: judges,
		Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
		Limits:       debate.Limits{MaxRounds: benchRounds},
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

// bareLoop makes the same calls: it keeps the history, builds each prompt and streams each reply. With a judge it also
// parses, validates and decodes what the judge says.
func bareLoop(b *testing.B, p, j *scripted.Provider) {
	type said struct{ who, text, told string }
	var (
		ctx     = context.Background()
		history []said
		chunks  int
		names   = []string{"Ada", "Bo"}
	)
	call := func(p *scripted.Provider, who, reply, system, user string) string {
		messages := make([]providers.Message, 0, len(history)+2)
		messages = append(messages, providers.Message{Role: providers.System, Text: system})
		for _, s := range history {
			if s.who == who {
				messages = append(messages, providers.Message{Role: providers.Assistant, Text: s.text})
			} else {
				messages = append(messages, providers.Message{Role: providers.User, Text: s.told})
			}
		}
		messages = append(messages, providers.Message{Role: providers.User, Text: user})
		var text strings.Builder // as a stream gives it
		_, err := p.Generate(ctx, providers.Request{Messages: messages, Reply: reply, OnChunk: func(piece string) error {
			text.WriteString(piece)
			chunks++
			return nil
		}})
		if err != nil {
			b.Fatal(err)
		}
		return text.String()
	}
	for round := range benchRounds {
		for _, who := range names {
			text := call(p, who, "", "You debate as "+who, fmt.Sprintf("Round %d of %d", round+1, benchRounds))
			history = append(history, said{who, text, who + ": " + text})
		}
		if j != nil {
			parse[judge.Assessment](b, call(j, "", "assessment/1", "You judge", fmt.Sprintf("Assess round %d", round+1)), true)
		}
	}
	if j != nil {
		parse[judge.Verdict](b, call(j, "", "verdict/1", "You judge", "final judgment"), false)
	}
}

func parse[T any](b *testing.B, text string, assessment bool) T {
	c := judge.VerdictContract
	if assessment {
		c = judge.AssessmentContract
	}
	r, err := c.Parse(text, []string{"Ada", "Bo"})
	if err != nil {
		b.Fatal(err)
	}
	v, err := transcript.Decode[T](transcript.Turn{Data: r.Data})
	if err != nil {
		b.Fatal(err)
	}
	return v
}
