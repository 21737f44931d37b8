package debate_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// after is a debate in which so many turns were made, by models with such a window.
func after(t testing.TB, turns, room int, history window.Policy) *debate.Debate {
	t.Helper()
	p := debate.Participant{Provider: "m", Window: room, MaxTokens: 1000}
	ada, bo := p, p
	ada.Name, bo.Name = "Ada", "Bo"
	d, err := debate.New(t.Context(), debate.Config{
		Topic: "Ban cars?", Protocol: unjudged{}, Participants: []debate.Participant{ada, bo}, History: history,
		Summarizer: debate.Participant{Provider: "s", Window: 64_000},
		Limits:     debate.Limits{MaxRounds: 10_000, OutputTokens: 1 << 50, Time: 1 << 60},
	}, debate.Options{Providers: map[string]providers.Provider{"m": &talker{}, "s": &talker{}}})
	require.NoError(t, err)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if done, ok := ev.(debate.TurnDone); ok && done.Turn.Kind == transcript.Speech {
			if turns--; turns == 0 {
				break
			}
		}
	}
	return d
}

// sizes are of debates, in turns.
var sizes = []int{10, 100, 1000}

// plenty has room for 1,000 turns, little for about 15.
const plenty, little = 1 << 20, 8000

// A prompt costs memory for each message that it shows, and the same for all else, however long the debate is. The texts
// are those of the record, not copies.
func TestAPromptsMemoryGrowsWithTheMessagesThatItShows(t *testing.T) {
	for name, tt := range map[string]struct {
		room   int
		policy window.Policy
	}{
		"all are shown":      {plenty, window.Policy{}},
		"few are shown":      {little, window.Policy{}},
		"most are summed up": {little, window.Policy{Summarize: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var least prompting
			for i, n := range sizes {
				made := cost(after(t, n, tt.room, tt.policy).Prompt(t))
				t.Logf("after %d turns: %+v", n, made)
				if i == 0 {
					least = made
					continue
				}
				more := made.messages - least.messages
				require.LessOrEqual(t, made.allocations, least.allocations+16, "%d turns", n)
				require.LessOrEqual(t, made.bytes, least.bytes+2048+48*max(more, 0), "%d turns, %d messages more", n, more)
			}
		})
	}
}

// prompting is what it takes to make a prompt.
type prompting struct{ messages, allocations, bytes int }

// cost is the least of several runs: what a collection of garbage takes from pools has to be made anew.
func cost(prompt func() int) (p prompting) {
	p.messages = prompt() // what is kept from prompt to prompt is made now
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 50 {
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		prompt()
		runtime.ReadMemStats(&now)
		allocations, bytes := int(now.Mallocs-before.Mallocs), int(now.TotalAlloc-before.TotalAlloc)
		if p.bytes == 0 || bytes < p.bytes {
			p.allocations, p.bytes = allocations, bytes
		}
	}
	return p
}

// counts is a counter that keeps what it was asked to count.
type counts struct {
	mu    sync.Mutex
	texts map[string]int
	calls int
}

func (c *counts) Count(_, text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil {
		c.texts = map[string]int{}
	}
	c.texts[text]++
	c.calls++
	return window.Estimate(text)
}

// A turn is counted when it is committed, and never again.
func TestATurnIsCountedOnce(t *testing.T) {
	reported := transcript.Usage{Input: 500, Output: 300}
	for name, tt := range map[string]struct {
		mode  panel.Mode
		usage transcript.Usage
	}{
		"in sequence":                   {panel.Sequential, reported},
		"all at once":                   {panel.Simultaneous, reported},
		"the provider reports no usage": {panel.Sequential, transcript.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			const rounds = 30
			c := &counts{}
			d := counted(t, c, panel.Protocol{Format: panel.RoundLimited, Mode: tt.mode}, rounds, tt.usage)
			begun := map[int]int{} // calls by the round that begins
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if p, ok := ev.(debate.PhaseStarted); ok && p.Stage == transcript.Speech {
					begun[p.Round] = c.calls
				}
			}
			for _, turn := range result(t, d).Turns {
				require.Equal(t, 1, c.texts[turn.Text], "%s", turn.Key)
			}
			require.Equal(t, begun[4]-begun[3], begun[rounds]-begun[rounds-1], "a late round has as many counts as an early one")
		})
	}
}

func TestWhoReadsADebateCountsNoTurn(t *testing.T) {
	d := counted(t, &counts{}, panel.Protocol{}, 8, transcript.Usage{})
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if p, ok := ev.(debate.PhaseStarted); ok && p.Round == 6 {
			break
		}
	}
	c := &counts{}
	again := d.Counted(t, c)
	prompts, err := again.Preview(t.Context())
	require.NoError(t, err)
	require.Len(t, prompts, 1)
	require.Greater(t, len(prompts[0].Request.Messages), 10)
	for _, turn := range result(t, again).Turns {
		require.Zero(t, c.texts[turn.Text], "%s", turn.Key)
	}
}

// counted is a panel by models who say something else each time, with such a counter.
func counted(t testing.TB, c window.Counter, p panel.Protocol, rounds int, used transcript.Usage) *debate.Debate {
	t.Helper()
	d, err := debate.New(t.Context(), debate.Config{
		Topic: "Ban cars?", Protocol: unjudged{p}, Limits: debate.Limits{MaxRounds: rounds},
		Participants: []debate.Participant{{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}},
	}, debate.Options{Providers: map[string]providers.Provider{"m": &talker{used: used}}, Counter: c})
	require.NoError(t, err)
	return d
}

// talker is a model that says something else each time.
type talker struct {
	said atomic.Int64
	used transcript.Usage // zero: it does not tell
}

func (m *talker) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{Text: fmt.Sprintf("%d. %s", m.said.Add(1), speech), Usage: m.used}, nil
}

// BenchmarkPrompt makes the prompt of the next turn of a debate that has some.
func BenchmarkPrompt(b *testing.B) {
	for name, room := range map[string]int{"all": plenty, "few": little} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				prompt := after(b, n, room, window.Policy{}).Prompt(b)
				b.ReportAllocs()
				messages := 0
				for b.Loop() {
					messages = prompt()
				}
				b.ReportMetric(float64(messages), "messages")
			})
		}
	}
}
