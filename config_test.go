package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// fields are the fields that an error complains of.
func fields(t *testing.T, err error) (list []string) {
	t.Helper()
	var problems *debate.Problems
	require.ErrorAs(t, err, &problems)
	for _, p := range problems.List {
		list = append(list, p.Field)
		require.Contains(t, err.Error(), p.String())
	}
	return list
}

func TestValidationSaysEverythingAtOnce(t *testing.T) {
	hot := 3.0
	for _, tt := range []struct {
		name   string
		change func(*debate.Config)
		want   []string
	}{
		{"blank topic", func(c *debate.Config) { c.Topic = " \n" }, []string{"topic"}},
		{"a bad id", func(c *debate.Config) { c.ID = "a/b" }, []string{"id"}},
		{"one participant", func(c *debate.Config) { c.Participants = c.Participants[:1] }, []string{"participants"}},
		{"one of two is disabled", func(c *debate.Config) { c.Participants[0].Disabled = true }, []string{"participants"}},
		{"five participants", func(c *debate.Config) {
			for _, n := range []string{"C", "D", "E"} {
				c.Participants = append(c.Participants, debate.Participant{Name: n, Provider: "m"})
			}
		}, []string{"participants"}},
		{"no judge", func(c *debate.Config) { c.Judges = nil }, []string{"judges"}},
		{"names that are the same, but for case", func(c *debate.Config) { c.Participants[1].Name = "a" }, []string{"participants[1].name"}},
		{"a judge with a participant's name", func(c *debate.Config) { c.Judges[0].Name = "A" }, []string{"judges[0].name"}},
		{"names that cannot be", func(c *debate.Config) { c.Participants[0].Name, c.Participants[1].Name = "", "x/y" }, []string{"participants[0].name", "participants[1].name"}},
		{"a name of the library", func(c *debate.Config) { c.Participants[0].Name = "personas" }, []string{"participants[0].name"}},
		{"a judge with a side", func(c *debate.Config) { c.Judges[0].Side = "for" }, []string{"judges[0]"}},
		{"unknown provider", func(c *debate.Config) { c.Participants[1].Provider = "x" }, []string{"participants[1].provider"}},
		{"no provider, of several", func(c *debate.Config) { c.Judges[0].Provider = "" }, []string{"judges[0].provider"}},
		{
			"unknown format, mode and style", func(c *debate.Config) { c.Protocol = panel.Protocol{Format: "x", Mode: "y", Personas: "z"} },
			[]string{"protocol.format", "protocol.mode", "protocol.personas"},
		},
		{"too few rounds for the structure", func(c *debate.Config) {
			c.Protocol, c.Limits.MaxRounds = panel.Protocol{Format: panel.StructuredRounds}, 1
		}, []string{"limits.max_rounds"}},
		{"impossible limits", func(c *debate.Config) {
			c.Limits = debate.Limits{MinRounds: 4, MaxRounds: 2, Time: -1, OutputTokens: -1}
		}, []string{"limits.time", "limits.output_tokens", "limits.min_rounds"}},
		{"temperature and window", func(c *debate.Config) {
			c.Participants[0].Temperature, c.Participants[1].Window, c.Judges[0].MaxTokens = &hot, 100, -1
		}, []string{"participants[0].temperature", "participants[1].window", "judges[0].max_tokens"}},
		{"unknown policy", func(c *debate.Config) { c.OnFailure = "panic" }, []string{"on_failure"}},
		{"several at once", func(c *debate.Config) {
			c.Topic, c.Judges, c.Participants = "", nil, nil
		}, []string{"topic", "participants", "judges"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := pair(nil)
			tt.change(&cfg)
			_, err := debate.New(t.Context(), cfg, debate.Options{Providers: models(chatter(), court(t, 1))})
			require.Equal(t, tt.want, fields(t, err))
		})
	}
}

func TestTheDriverRejectsWhatOnlyItCanTell(t *testing.T) {
	knows := &scripted.Provider{Models: []string{"good"}}
	locked := checked{scripted.Text(), &providers.Error{Kind: providers.Authentication, Err: errors.New("set M_KEY")}}
	offline := checked{chatter(), &providers.Error{Kind: providers.Network, Err: errors.New("no route")}}
	for _, tt := range []struct {
		name      string
		providers map[string]providers.Provider
		want      []string
	}{
		{"unknown provider", map[string]providers.Provider{"other": chatter()}, []string{"participants[0].provider", "participants[1].provider", "judges[0].provider"}},
		{"no provider", nil, []string{"participants[0].provider", "participants[1].provider", "judges[0].provider"}},
		{"a bad key", models(locked, court(t, 1)), []string{"participants[0].provider"}},
		{"an unknown model", models(knows, court(t, 1)), []string{"participants[0].model"}},
		{"a check that fails says nothing", models(offline, court(t, 1)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := debate.NewEngine(debate.Options{Providers: tt.providers})
			require.NoError(t, err)
			cfg := pair(nil)
			cfg.Participants[0].Model, cfg.Participants[1].Model = "bad", "good"
			if tt.name != "an unknown model" {
				cfg.Participants[1].Model = "bad"
			}
			d, err := e.Create(t.Context(), cfg)
			require.NoError(t, err, "creating needs no provider")
			_, err = run(t, d)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			got := fields(t, err)
			if tt.name == "unknown provider" || tt.name == "no provider" {
				require.Subset(t, got, tt.want)
			} else {
				require.Equal(t, tt.want, got)
			}
			require.Equal(t, fsm.Configuring, result(t, d).State, "with the problems in the journal")
			seen := false
			for _, ev := range stored(t, d) {
				s, ok := ev.(debate.StateChanged)
				seen = seen || ok && s.On == fsm.Reject && len(s.Problems) == len(got)
			}
			require.True(t, seen)
		})
	}
}

// stored are the events of a debate until now.
func stored(t *testing.T, d *debate.Debate) (events []debate.Event) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		events = append(events, m.Event)
	}
	return events
}

// checked is a provider whose check fails.
type checked struct {
	providers.Provider
	err error
}

func (c checked) Check(context.Context, string) error { return c.err }

func TestConfigSurvivesJSON(t *testing.T) {
	e, err := debate.NewEngine(debate.Options{Protocols: []protocol.Protocol{mesh{}}})
	require.NoError(t, err)
	cold := 0.0
	for name, p := range map[string]protocol.Protocol{"panel": panel.Protocol{Mode: panel.Simultaneous}, "bare": panel.Protocol{}, "own": mesh{Rounds: 2}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			cfg := pair(p)
			cfg.Participants[0].Temperature, cfg.Labels = &cold, map[string]string{"team": "x"}
			cfg.Limits = debate.Limits{MaxRounds: 3, Time: 90 * time.Second, RoundDelay: time.Second}
			text := encode(t, cfg)
			back, err := e.ParseConfig([]byte(text))
			require.NoError(t, err, text)
			require.Equal(t, cfg, back)
		})
	}
}

func TestParseConfigSaysWhatIsWrong(t *testing.T) {
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	for text, want := range map[string]string{
		`{"topic":`:                                        "parse configuration: unexpected EOF",
		`{"topik":"x"}`:                                    `unknown field "topik"`,
		`{"protocol":{"name":"chess/1"}}`:                  `protocol.name: "chess/1" is unknown to this engine`,
		`{"protocol":{"format":"free-form"}}`:              "protocol.name",
		`{"protocol":7}`:                                   "protocol: ",
		`{"protocol":{"name":"panel/1","formatt":"x"}}`:    `protocol panel/1: json: unknown field "formatt"`,
		`{"limits":{"time":"ten minutes"}}`:                `"ten minutes" is no duration`,
		`{"limits":{"max_rounds":"five"}}`:                 "max_rounds",
		`{"participants":[{"name":"A","temprature":0.1}]}`: `unknown field "temprature"`,
	} {
		_, err := e.ParseConfig([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(`{"topic":"x","protocol":{"name":"panel/1","mode":"simultaneous"},"participants":[{"name":"A"}],"limits":{"time":"1s"}}`)
	f.Add(`{"protocol":null,"judges":[{}],"casting":{"temperature":1e400}}`)
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := e.ParseConfig([]byte(text))
		if err != nil {
			return
		}
		d, err := e.Create(t.Context(), cfg) // checks it, and never panics
		if err == nil {
			require.NoError(t, e.Delete(t.Context(), d.ID()))
		}
	})
}

func TestIdsAreSortableOrGiven(t *testing.T) {
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	cfg := pair(nil)
	_, err = e.Create(t.Context(), cfg)
	require.NoError(t, err)
	_, err = e.Create(t.Context(), cfg)
	require.ErrorContains(t, err, "create debate d: the id is taken")
	cfg.ID = ""
	last := ""
	for range 50 {
		d, err := e.Create(t.Context(), cfg)
		require.NoError(t, err)
		require.Less(t, last, d.ID())
		last = d.ID()
	}
	found := 0
	for h, err := range e.List(t.Context(), store.Query{States: []fsm.State{fsm.Configuring}}) {
		require.NoError(t, err)
		require.Equal(t, "Ban cars?", h.Topic)
		require.Equal(t, "panel/1", h.Protocol)
		found++
	}
	require.Equal(t, 51, found)
	require.NoError(t, e.Delete(t.Context(), "d"))
	_, err = e.Open(t.Context(), "d")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.ErrorIs(t, e.Delete(t.Context(), "d"), store.ErrNotFound)
}

func TestDefaultsStandInTheStoredConfiguration(t *testing.T) {
	d := panelOf(t, 1, nil)
	for _, ev := range stored(t, d) {
		if c, ok := ev.(debate.ConfigChanged); ok {
			e, err := debate.NewEngine(debate.Options{})
			require.NoError(t, err)
			cfg, err := e.ParseConfig(c.Config)
			require.NoError(t, err)
			require.Equal(t, panel.Protocol{}, cfg.Protocol)
			require.Equal(t, debate.Limits{
				MinRounds: 1, MaxRounds: 5, Time: time.Hour, StepTokens: 4096, JudgeTokens: 4096, StepTimeout: 5 * time.Minute, StepCalls: 10,
				OutputTokens: 2 * (5*3*4096 + 4096),
			}, cfg.Limits)
			require.Equal(t, 0.7, *cfg.Participants[0].Temperature)
			require.Equal(t, 0.2, *cfg.Judges[0].Temperature)
			require.Equal(t, 32_000, cfg.Participants[0].Window)
			require.Equal(t, "j", cfg.Casting.Provider, "the first judge's")
		}
	}
}

func TestADebateOfAnUnknownProtocolIsReadButNotDriven(t *testing.T) {
	memory := store.Memory()
	opts := debate.Options{Store: memory, Providers: models(&echo{names: []string{"A", "B"}}, court(t, 1)), Protocols: []protocol.Protocol{mesh{}}}
	e, err := debate.NewEngine(opts)
	require.NoError(t, err)
	d, err := e.Create(t.Context(), pair(mesh{Rounds: 1}))
	require.NoError(t, err)
	breakAt(t, d, "speech")

	opts.Protocols = nil
	e, err = debate.NewEngine(opts)
	require.NoError(t, err)
	d, err = e.Open(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, "mesh/1", result(t, d).Protocol)
	_, err = run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, `"mesh/1"`)
}

func TestADebateOfANewerFormatIsReadButNotChanged(t *testing.T) {
	newer := &newerStore{store.Memory()}
	opts := debate.Options{Store: newer, Providers: models(chatter(), court(t, 1))}
	d, err := debate.New(t.Context(), pair(nil), debate.Options{Store: newer.Store, Providers: opts.Providers})
	require.NoError(t, err)
	require.NoError(t, d.Annotate(t.Context(), "mood", "calm"))
	breakAt(t, d, "assessment")

	e, err := debate.NewEngine(opts)
	require.NoError(t, err)
	d, err = e.Open(t.Context(), "d")
	require.NoError(t, err)
	require.Len(t, result(t, d).Turns, 2)
	require.Len(t, stored(t, d), 10, "all but the entry of a type that is unknown")
	_, err = run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorIs(t, d.Pause(t.Context()), debate.ErrUnsupported)
	require.ErrorContains(t, d.Pause(t.Context()), "pause debate d: its journal has format 2, this version of the library knows formats up to 1")
}

// newerStore holds what a newer version wrote.
type newerStore struct{ store.Store }

func (s *newerStore) Load(ctx context.Context, id string, after int64) (store.Head, []store.Entry, error) {
	head, entries, err := s.Store.Load(ctx, id, after)
	if len(entries) > 0 && entries[0].Seq == 1 { // with fields and entries of which this version knows nothing
		entries = slices.Clone(entries)
		text := strings.Replace(string(entries[0].Data.(debate.ConfigChanged).Config), "{", `{"mood": "calm", "limits": {"jokes": 3}, `, 1)
		entries[0].Data = debate.ConfigChanged{Stamp: debate.Stamp{Type: "config", Seq: 1}, Format: store.Format + 1, Config: json.RawMessage(text)}
		entries[1].Data = json.RawMessage(`{"type": "applause", "seq": 2}`)
	}
	return head, entries, err
}
