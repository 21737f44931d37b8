package debate_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

func TestAResultAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usage := transcript.Usage{Input: 100, Cached: 10, Output: 20, Reasoning: 5}
		d := panelOf(t, 0, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds = 2
			c.Protocol = panel.Protocol{Personas: panel.Binary, Format: panel.RoundLimited}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "so", Latency: time.Second, Usage: usage}
			}}
			o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				e := echo{names: []string{"A", "B"}}
				return scripted.Reply{Text: e.say(1, r), Latency: time.Second, Usage: usage}
			}}
		})
		time.Sleep(time.Minute)
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, 8, res.Total.Turns)
		require.Equal(t, transcript.Usage{Input: 800, Cached: 80, Output: 160, Reasoning: 40}, res.Total.Usage)
		require.Equal(t, 8*time.Second, res.Total.Took)
		require.Equal(t, []int{1, 3, 4}, []int{res.Rounds[0].Turns, res.Rounds[1].Turns, res.Rounds[2].Turns}, "personas; a round; a round and the verdict")
		require.Equal(t, map[string]int{"for": 2, "against": 2, "": 4}, map[string]int{
			"for": res.Sides["for"].Turns, "against": res.Sides["against"].Turns, "": res.Sides[""].Turns,
		})
		require.Equal(t, time.Minute, res.Started.Sub(res.Created))
		require.Equal(t, 8*time.Second, res.Completed.Sub(res.Started))
		require.Equal(t, res.Completed, res.Updated)
		require.Equal(t, 8*time.Second, res.Running)
		require.Empty(t, res.Warnings)
	})
}

func TestARateLimitedParticipantShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"] = &scripted.Provider{Replies: []scripted.Reply{
				{Err: &providers.Error{Kind: providers.RateLimit, Err: errors.New("slow down")}}, {Text: "first"}, {Text: "second", Finish: providers.Length},
			}}
		})
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, []debate.Status{
			{Name: "A", State: "rate_limited", Attempts: 2, Errors: []string{"rate_limit: slow down"}},
			{Name: "B", State: "active", Attempts: 1},
		}, res.Participants)
		require.Equal(t, []string{"round 1, respond of B: the reply was cut at its token cap"}, res.Warnings)
	})
}

func TestAssignedPersonasReachThePrompts(t *testing.T) {
	personas := protocol.Personas{Personas: []protocol.Persona{
		{Name: "A", Persona: "A tram driver", Position: "Ban them", KeyArguments: []string{"Trams wait for no car"}},
		{Name: "B", Persona: "A florist", Position: "Keep them", KeyArguments: []string{"Flowers wilt on buses"}},
	}}
	for _, tt := range []struct {
		name   string
		casts  []scripted.Reply
		a, b   []string
		flags  []transcript.Flag
		byHand string
	}{
		{
			name: "assigned", casts: []scripted.Reply{{Text: encode(t, personas)}},
			a: []string{"A tram driver", "Ban them", "Trams wait for no car", "B, side: against. Position: Keep them"}, b: []string{"A florist", "Flowers wilt on buses"},
		},
		{
			name: "what was set by hand stays", byHand: "A cyclist", casts: []scripted.Reply{{Text: encode(t, personas)}},
			a: []string{"A cyclist", "Ban them"}, b: []string{"A florist"},
		},
		{
			name: "without a valid reply there is a fallback", casts: []scripted.Reply{{Text: "Let A be brave."}, {Text: "{}"}},
			a: []string{"In favour of the topic"}, b: []string{"Against the topic"}, flags: []transcript.Flag{transcript.Reasked, transcript.Fallback},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var model *scripted.Provider
			d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Protocol, c.Participants[0].Persona = panel.Protocol{Personas: panel.Binary}, tt.byHand
				c.Casting = debate.Participant{Provider: "c"}
				model = chatter()
				o.Providers["m"], o.Providers["c"] = model, &scripted.Provider{Replies: tt.casts}
			})
			_, err := run(t, d)
			require.NoError(t, err)
			calls := model.Calls()
			for _, want := range tt.a {
				require.Contains(t, calls[0].Messages[0].Text, want)
			}
			for _, want := range tt.b {
				require.Contains(t, calls[1].Messages[0].Text, want)
			}
			cast := result(t, d).Turns[0]
			require.Equal(t, "1/0/personas/personas/", cast.Key.String())
			require.Equal(t, tt.flags, cast.Flags)
		})
	}
}

// A reply that was asked for again shows the model what was wrong.
func TestAReaskBearsTheFindings(t *testing.T) {
	jury := &scripted.Provider{Replies: []scripted.Reply{
		{Text: `{"should_continue": "yes", "quality": 60}`}, {Text: assess(t, false, "A", "B")}, {Text: verdict},
	}}
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["j"] = jury })
	_, err := run(t, d)
	require.NoError(t, err)
	asked := jury.Calls()[1].Messages
	require.Equal(t, providers.Assistant, asked[len(asked)-2].Role)
	last := asked[len(asked)-1].Text
	for _, want := range []string{"/quality", "/should_continue", "participants"} {
		require.Contains(t, last, want)
	}
	turn := result(t, d).Assessments[0]
	require.Equal(t, []transcript.Flag{transcript.Reasked}, turn.Flags)
	require.Equal(t, "invalid_response", turn.Attempts[0].Error)
	require.Len(t, turn.Attempts, 2)
}

// Between a sequential debate's model and its viewer there is no goroutine.
func TestAChunkReachesItsViewerOnTheModelsGoroutine(t *testing.T) {
	var model string
	d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			model = goroutine()
			return scripted.Reply{Text: "here", Chunks: 2}
		}}
	})
	seen := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if c, ok := ev.(debate.Chunk); ok && c.Kind == transcript.Speech {
			require.Equal(t, model, goroutine())
			seen++
		}
	}
	require.Equal(t, 4, seen)
}

// goroutine names the goroutine that calls it.
func goroutine() string {
	b := make([]byte, 64)
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), " [")
	return name
}

// A chunk allocates its event, and nothing else.
func TestAChunkAllocatesItselfOnly(t *testing.T) {
	allocations := func(chunks int) float64 {
		e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{
			"m": &scripted.Provider{Forget: true, Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: strings.Repeat("x", chunks), Chunks: chunks}
			}},
		}})
		require.NoError(t, err)
		return testing.AllocsPerRun(5, func() {
			cfg := pair(unjudged{})
			cfg.ID, cfg.Judges, cfg.Participants[0].Provider, cfg.Limits = "", nil, "m", debate.Limits{MaxRounds: 1, OutputTokens: 1 << 30}
			d, err := e.Create(t.Context(), cfg)
			require.NoError(t, err)
			_, err = seen(d.Run(t.Context()))
			require.NoError(t, err)
		})
	}
	few, many := allocations(1000), allocations(3000)
	require.InDelta(t, 1, (many-few)/(2*2000), 0.05, "2 speakers, 2,000 chunks more each")
}
