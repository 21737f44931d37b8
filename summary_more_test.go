package debate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// sumPhase is a protocol whose own phase has the name that the engine gives its summaries'.
type sumPhase struct{ panel.Protocol }

func (sumPhase) Name() string { return "sumphase/1" }

func (p sumPhase) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		phases[0].Name, phases[0].Parallel = "summary", true
	}
	return phases
}

func TestAProtocolMayHaveAPhaseCalledSummary(t *testing.T) {
	h := &hall{t: t}
	res, events := h.hold(t, sumPhase{limited}, 12, summing, nil)
	began := map[string]int{}
	for _, ev := range events {
		if p, ok := ev.(debate.PhaseStarted); ok && p.Stage == transcript.Speech {
			began[fmt.Sprint(p.Round, p.Phase)]++
			t.Log(p.Round, p.Phase, p.Parallel, p.Steps)
		}
	}
	n := 0
	for _, turn := range inTime(res) {
		if turn.Kind == transcript.Speech && turn.Actor == "B" {
			for _, x := range res.Turns {
				if x.Kind == transcript.Speech && x.Actor == "A" && x.Round == turn.Round && x.Seq <= turn.Horizon {
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

// What the summarizer is asked for one after the other by one that reads little.
func TestASmallSummarizerIsNotAskedBeforeEachStep(t *testing.T) {
	h := &hall{t: t}
	res, _ := h.hold(t, limited, 60, summing, func(c *debate.Config) {
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
	h := &hall{t: t}
	c, o := h.config(limited, 10)
	c.History = summing
	o.Providers["s"] = generate(func(context.Context, providers.Request) (providers.Response, error) {
		return providers.Response{Text: "A and", Finish: providers.ContentFilter}, nil
	})
	d, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	for _, r := range h.asked["a"] {
		for _, m := range r.Messages {
			require.NotEqual(t, heading+"A and", m.Text)
		}
	}
}

func TestAReaderReplacesNoHead(t *testing.T) {
	h := &hall{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	kept := store.Memory()
	o.Store = kept
	d, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if ph, ok := ev.(debate.PhaseStarted); ok && ph.Phase == "summary" {
			break
		}
	}
	was, _, err := kept.Load(t.Context(), c.ID, 0)
	require.NoError(t, err)
	reader, err := debate.NewEngine(debate.Options{Store: kept, Providers: o.Providers, Protocols: []protocol.Protocol{limited}, Counter: heavy{3}})
	require.NoError(t, err)
	there, err := reader.Open(t.Context(), c.ID)
	require.NoError(t, err)
	_, err = there.Result(t.Context())
	require.NoError(t, err)
	is, _, err := kept.Load(t.Context(), c.ID, 0)
	require.NoError(t, err)
	require.Equal(t, was.Plan, is.Plan)
}

func TestARemarksIDDoesNotNameAnotherTurn(t *testing.T) {
	h := &hall{t: t}
	c, o := h.config(limited, 14)
	c.History = summing
	d, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	n := 0
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if done, ok := ev.(debate.TurnDone); ok && done.Turn.Kind == transcript.Speech {
			n++
			require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Zoe", ID: fmt.Sprintf("%d up to 1/%d/respond/B/", n, n/2+1), Text: strings.Repeat("Mind the kerb. ", 60) + fmt.Sprint(n)}))
		}
	}
	res := result(t, d)
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
			require.Contains(t, all, x.Text, "%s was neither shown nor summed up; summaries %v", x.Key, summaries(res))
		}
	}
}
