package debatetool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// offered returns the protocols that the schema of debate offers, with their notes, and the lines on the presets.
func offered(t *testing.T, set *debatetool.Toolset) (names []string, notes map[string]string, presets string) {
	t.Helper()
	var schema struct {
		Properties map[string]struct {
			Enum        []string
			Description string
		}
	}
	require.NoError(t, json.Unmarshal(set.Tools()[0].InputSchema(), &schema))
	field := schema.Properties["protocol"]
	notes = map[string]string{}
	for line := range strings.Lines(field.Description) {
		name, note, _ := strings.Cut(strings.TrimSpace(line), ": ")
		notes[name] = note
	}
	return field.Enum, notes, schema.Properties["preset"].Description
}

// counted is the offline model. It takes a second for each reply.
type counted struct {
	providers.Provider
	replies atomic.Int64
}

func (c *counted) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	c.replies.Add(1)
	time.Sleep(time.Second)
	return c.Provider.Generate(ctx, r)
}

// kinds are presets of many kinds.
func kinds() map[string]debate.Config {
	two := []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}}
	four := []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}, {Name: "Di"}}
	judge := []debate.Participant{{Name: "Judge"}}
	scores := map[string]float64{"problem": 6, "solution": 5, "market": 7}
	people := slices.Clone(two)
	people[1].Human = true
	return map[string]debate.Config{
		"the command's":   {Protocol: panel.Protocol{}, Participants: two, Judges: judge, Limits: debate.Limits{MaxRounds: 2}},
		"no protocol":     {Participants: two, Judges: judge},
		"many rounds":     {Protocol: panel.Protocol{}, Participants: two, Judges: judge, Limits: debate.Limits{MinRounds: 4, MaxRounds: 9}},
		"no judge":        {Protocol: vote.Protocol{}, Participants: four},
		"three judges":    {Protocol: panel.Protocol{}, Participants: two, Judges: []debate.Participant{{Name: "X"}, {Name: "Y"}, {Name: "Z"}}},
		"a council":       {Protocol: council.Protocol{}, Participants: four, Judges: judge},
		"an arbitration":  {Protocol: arbitration.Protocol{Scores: scores}, Participants: two, Judges: judge},
		"few tokens":      {Protocol: panel.Protocol{}, Participants: two, Judges: judge, Limits: debate.Limits{OutputTokens: 30_000}},
		"a person":        {Protocol: panel.Protocol{}, Participants: people, Judges: judge},
		"tasks":           {Protocol: panel.Protocol{}, Participants: []debate.Participant{{Name: "Ada", Instructions: "Rhyme."}, {Name: "Bo"}}, Judges: judge},
		"scores to watch": {Protocol: panel.Protocol{}, Participants: two, Judges: judge, Detect: []detect.Rule{{Signal: detect.Converged, Method: "scores"}}},
		"one agent":       {Protocol: vote.Protocol{Samples: 5}, Participants: four[:1]},
	}
}

// Each protocol that a preset offers runs with a topic alone. Those that it does not offer are refused, with those that it does.
func TestAPresetOffersWhatItCanRun(t *testing.T) {
	all := []string{"arbitration", "council", "mad", "panel", "procon", "refine", "skeptic", "vote"}
	for name, c := range kinds() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, store.Memory(), offline.Model(false), c, debatetool.Options{})
				names, _, _ := offered(t, b.Toolset)
				for _, p := range all {
					out, err := b.Start(t.Context(), debatetool.Input{Topic: "Ban cars?", Protocol: p})
					if !slices.Contains(names, p) {
						require.ErrorContains(t, err, fmt.Sprintf("- protocol: %q does not suit the preset", p))
						require.ErrorContains(t, err, strings.Join(names, ", "))
						continue
					}
					require.NoError(t, err, p)
					for out.Status == "running" {
						out, err = b.Run(t.Context(), debatetool.Input{ID: out.ID})
						require.NoError(t, err, p)
					}
					require.Contains(t, []string{"completed", "waiting"}, out.Status, "%s: %s", p, out.Text())
				}
			})
		})
	}
}

func TestPresetsOfferDifferentProtocols(t *testing.T) {
	b := sit(t, store.Memory(), offline.Model(false), debate.Config{}, debatetool.Options{Presets: map[string]debatetool.Preset{
		"default": {Description: "A panel.", Config: kinds()["the command's"]}, "ask": {Config: kinds()["no judge"]},
	}})
	names, notes, presets := offered(t, b.Toolset)
	require.Equal(t, []string{"vote", "council", "mad", "panel", "procon", "refine", "skeptic"}, names)
	require.Contains(t, presets, "\nask: vote with Ada, Bo, Cy, Di. Up to 8 replies, 2 in a row. Not with council, mad, panel, procon, refine, skeptic.\n")
	require.True(t, strings.HasSuffix(presets, "\ndefault: A panel. Up to 7 replies, 7 in a row."), presets)
	require.NotContains(t, notes, "arbitration")
	for _, name := range names {
		require.Regexp(t, `^.+\. For .+\. Not .+\. Up to \d+ replies, \d+ in a row\.$`, notes[name], "when to use it, when not, how costly and how long")
	}
}

// The figures in the notes are those of debates that do not end early.
func TestTheNotesCountReplies(t *testing.T) {
	for name, c := range kinds() {
		if name == "a person" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				names, notes, _ := offered(t, sit(t, store.Memory(), offline.Model(false), c, debatetool.Options{}).Toolset)
				for _, p := range names {
					m := &counted{Provider: offline.Model(false)}
					b, began := sit(t, store.Memory(), m, c, debatetool.Options{}), time.Now()
					out := debatetest.Call(t, b.Run, debatetool.Input{Topic: "Ban cars?", Protocol: p})
					_, note, _ := strings.Cut(notes[p], "Up to ")
					var most, inRow int64
					_, err := fmt.Sscanf(note, "%d replies, %d in a row.", &most, &inRow)
					require.NoError(t, err, p)
					row := int64(time.Since(began).Seconds())
					if out.Round < out.Rounds { // it has ended early
						require.Less(t, m.replies.Load(), most, p)
						require.Less(t, row, inRow, p)
						continue
					}
					require.LessOrEqual(t, m.replies.Load(), most, "%s: %s", p, out.Text())
					require.LessOrEqual(t, row, inRow, p)
					spare := int64(len(c.Judges)) // need not break a tie, or shorten what they read
					require.GreaterOrEqual(t, m.replies.Load(), most-spare, p)
					require.GreaterOrEqual(t, row, inRow-1, p)
				}
			})
		})
	}
}

// A preset's rounds are those of its own protocol. What it may spend holds for all.
func TestAnotherProtocolHasItsOwnRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kinds()["many rounds"]
		c.Limits.Tokens, c.Limits.RunningTime = 500_000, 7*time.Minute
		b := sit(t, store.Memory(), offline.Model(false), c, debatetool.Options{})
		limits := func(in debatetool.Input) debate.Limits {
			in.Topic = "Ban cars?"
			out := debatetest.Call(t, b.Start, in)
			d, err := b.engine.Open(t.Context(), out.ID)
			require.NoError(t, err)
			for s, err := range d.Replay(t.Context()) {
				require.NoError(t, err)
				got, err := b.engine.ParseConfig(s.Event.(debate.ConfigChanged).Config)
				require.NoError(t, err)
				return got.Limits
			}
			return debate.Limits{}
		}
		for _, p := range []string{"", "panel", "panel/1"} {
			own := limits(debatetool.Input{Protocol: p})
			require.Equal(t, []int{4, 9}, []int{own.MinRounds, own.MaxRounds}, p)
		}
		other := limits(debatetool.Input{Protocol: "council"})
		require.Equal(t, []int{1, 1}, []int{other.MinRounds, other.MaxRounds})
		require.Equal(t, 500_000, other.Tokens)
		require.Equal(t, 7*time.Minute, other.RunningTime)
		_, err := b.Start(t.Context(), debatetool.Input{Topic: "Q?", Protocol: "mad", Budget: debatetool.Budget{Rounds: 4, Minutes: 8}})
		require.ErrorContains(t, err, "- budget.rounds: 4 is out of bounds, use more than 0 and at most 3")
		require.ErrorContains(t, err, "- budget.minutes: 8 is out of bounds, use more than 0 and at most 7")
	})
}

// A person, and a participant with a task of its own, are never replaced.
func TestOnlyPlainParticipantsAreReplaced(t *testing.T) {
	names, _, _ := offered(t, sit(t, store.Memory(), offline.Model(false), kinds()["tasks"], debatetool.Options{}).Toolset)
	require.NotContains(t, names, "council")
	names, _, _ = offered(t, sit(t, store.Memory(), offline.Model(false), kinds()["a person"], debatetool.Options{}).Toolset)
	require.NotContains(t, names, "procon")
	require.Contains(t, names, "mad")
}
