package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/memorytest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/measured"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/middleware"
	"github.com/elenchus-go/debate/providers/mistral"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestValidationSaysEverythingAtOnce(t *testing.T) {
	hot := 3.0
	for _, tt := range []struct {
		name   string
		change func(*debate.Config)
		want   []string
	}{
		{"blank topic", func(c *debate.Config) { c.Topic = " \n" }, []string{"topic"}},
		{"an invalid id", func(c *debate.Config) { c.ID = "a/b" }, []string{"id"}},
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
		{
			"invalid names",
			func(c *debate.Config) { c.Participants[0].Name, c.Participants[1].Name = "", "x/y" },
			[]string{"participants[0].name", "participants[1].name"},
		},
		{"the name of a system actor", func(c *debate.Config) { c.Participants[0].Name = "personas" }, []string{"participants[0].name"}},
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
			c.Limits = debate.Limits{MinRounds: 4, MaxRounds: 2, RunningTime: -1, OutputTokens: -1}
		}, []string{"limits.output_tokens", "limits.running_time", "limits.min_rounds"}},
		{"temperature and window", func(c *debate.Config) {
			c.Participants[0].Temperature = &hot
			c.Participants[1].Window = 100
			c.Judges[0].MaxTokens = -1
		}, []string{"participants[0].temperature", "participants[1].window", "judges[0].max_tokens"}},
		{"sampling and reasoning", func(c *debate.Config) {
			c.Participants[0].TopP = 1.5
			c.Participants[0].Stop = []string{"a", ""}
			c.Participants[0].Reasoning = "much"
			c.Participants[1].TopP = math.NaN()
			c.Participants[1].Stop = make([]string, 17)
			c.Participants[1].Reasoning = "0"
			c.Judges[0].TopP = -1
			c.Judges[0].Reasoning = "2000"
			c.Judges[0].MaxTokens = 2000
			c.Substitutes = []debate.Participant{{Provider: "j", Reasoning: "3000", MaxTokens: 3000}, {Provider: "j", Reasoning: "3000"}}
		}, []string{
			"participants[0].top_p", "participants[0].stop", "participants[0].reasoning", "participants[1].top_p", "participants[1].stop",
			"participants[1].reasoning", "judges[0].top_p", "judges[0].reasoning", "substitutes[0].reasoning",
		}},
		{"unknown policy", func(c *debate.Config) { c.OnFailure = "panic" }, []string{"on_failure"}},
		{"several at once", func(c *debate.Config) {
			c.Topic = ""
			c.Judges = nil
			c.Participants = nil
		}, []string{"topic", "participants", "judges"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := debatetest.PairConfig(nil)
			tt.change(&cfg)
			_, err := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			require.Equal(t, tt.want, problemFields(t, err))
		})
	}
}

func TestTheDriverRejectsWhatOnlyItCanTell(t *testing.T) {
	knows := &scripted.Provider{Models: []string{"good"}}
	locked := providerWithFailingCheck{scripted.Text(), &providers.Error{Kind: providers.Authentication, Err: errors.New("set M_KEY")}}
	offline := providerWithFailingCheck{talkingModel(), &providers.Error{Kind: providers.Network, Err: errors.New("no route")}}
	for _, tt := range []struct {
		name      string
		providers map[string]providers.Provider
		want      []string
	}{
		{"a bad key", providersOf(locked, scriptedJudge(t, 1)), []string{"participants[0].provider"}},
		{"an unknown model", providersOf(knows, scriptedJudge(t, 1)), []string{"participants[0].model"}},
		{"a check that fails says nothing", providersOf(offline, scriptedJudge(t, 1)), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := debatetest.Engine(t, debate.Options{Providers: tt.providers})
			cfg := debatetest.PairConfig(nil)
			cfg.Participants[0].Model, cfg.Participants[1].Model = "bad", "good"
			if tt.name != "an unknown model" {
				cfg.Participants[1].Model = "bad"
			}
			d, err := e.Create(t.Context(), cfg)
			require.NoError(t, err, "creating needs no provider")
			_, err = debatetest.Run(t, d)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			got := problemFields(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, fsm.Configuring, debatetest.Result(t, d).State, "with the problems in the journal")
			seen := false
			for _, ev := range storedEvents(t, d) {
				s, ok := ev.(debate.StateChanged)
				seen = seen || ok && s.On == fsm.Reject && len(s.Problems) == len(got)
			}
			require.True(t, seen)
		})
	}
}

// providerWithFailingCheck is a provider whose check fails.
type providerWithFailingCheck struct {
	providers.Provider
	err error
}

func (c providerWithFailingCheck) Check(context.Context, string) error { return c.err }

func TestConfigSurvivesJSON(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{Protocols: []protocol.Protocol{debatetest.Mesh{}}})
	cold := 0.0
	for name, p := range map[string]protocol.Protocol{
		"panel": panel.Protocol{Mode: panel.Simultaneous},
		"bare":  panel.Protocol{},
		"own":   debatetest.Mesh{Rounds: 2},
		"none":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := debatetest.PairConfig(p)
			cfg.Participants[0].Temperature, cfg.Labels = &cold, map[string]string{"team": "x"}
			cfg.Limits = debate.Limits{MaxRounds: 3, RunningTime: 90 * time.Second, RoundDelay: time.Second}
			text := debatetest.Encode(t, cfg)
			back, err := e.ParseConfig([]byte(text))
			require.NoError(t, err, text)
			require.Equal(t, cfg, back)
		})
	}
}

// A configuration in which every field is set comes back from JSON as it was, with each protocol of the library.
func TestARoundTripLosesNothing(t *testing.T) {
	presets := []protocol.Protocol{
		&panel.Protocol{}, &skeptic.Protocol{}, &refine.Protocol{}, &arbitration.Protocol{},
		&procon.Protocol{}, &vote.Protocol{}, &council.Protocol{}, &mad.Protocol{}, &review.Protocol{},
	}
	e := debatetest.Engine(t, debate.Options{})
	for _, p := range presets {
		t.Run(p.Name(), func(t *testing.T) {
			memorytest.Fill(p)
			var c, unmarshaled debate.Config
			memorytest.Fill(&c)
			c.Protocol = reflect.ValueOf(p).Elem().Interface().(protocol.Protocol)
			text := debatetest.Encode(t, c)
			require.NoError(t, json.Unmarshal([]byte(text), &unmarshaled))
			require.Equal(t, c, unmarshaled)
			parsed, err := e.ParseConfig([]byte(text))
			require.NoError(t, err)
			require.Equal(t, c, parsed)
		})
	}
}

func TestUnmarshalKeepsWhatTheTextLeavesOut(t *testing.T) {
	c := debatetest.PairConfig(vote.Protocol{Groups: 3})
	c.Limits = debate.Limits{MaxRounds: 7, RunningTime: time.Minute}
	want := c
	want.Topic, want.Limits.MaxRounds = "Ban bikes?", 2
	require.NoError(t, json.Unmarshal([]byte(`{"topic": "Ban bikes?", "limits": {"max_rounds": 2}, "protocol": null}`), &c))
	require.Equal(t, want, c)
}

func TestUnmarshalRefusesOtherProtocols(t *testing.T) {
	var c debate.Config
	err := json.Unmarshal([]byte(debatetest.Encode(t, debatetest.PairConfig(debatetest.Mesh{}))), &c)
	require.Equal(t, []string{"protocol.name"}, problemFields(t, err))
	require.ErrorContains(
		t,
		err,
		`"mesh/1" is unknown, use one of arbitration/1, council/1, mad/1, oversight/1, pairwise/1, panel/1, procon/1, `+
			`refine/1, review/1, skeptic/1, `+
			`vote/1, or decode other protocols with Engine.ParseConfig`,
	)
}

// versioned is a protocol with a version.
type versioned struct {
	debatetest.Mesh

	version string
}

func (v versioned) Name() string { return v.version }

func TestAProtocolWithoutAVersionIsTheNewest(t *testing.T) {
	e := debatetest.Engine(
		t,
		debate.Options{Protocols: []protocol.Protocol{versioned{version: "x/2"}, &pointed{}, versioned{version: "plain"}}},
	)
	for name, want := range map[string]string{"panel": "panel/1", "panel/1": "panel/1", "procon": "procon/1", "pointed": "pointed/1"} {
		c, err := e.ParseConfig([]byte(`{"protocol": {"name": "` + name + `"}}`))
		require.NoError(t, err)
		require.Equal(t, want, c.Protocol.Name())
	}
	known := map[string]protocol.Protocol{
		"x/2":   versioned{version: "x/2"},
		"x/10":  versioned{version: "x/10"},
		"x/old": versioned{version: "x/old"},
		"xy/11": versioned{},
		"plain": versioned{version: "plain"},
	}
	require.Equal(t, versioned{version: "x/10"}, protocols.Find(known, "x"))
	require.Equal(t, versioned{version: "plain"}, protocols.Find(known, "plain"))
	for _, name := range []string{"x/3", "y", "", "x/"} {
		require.Nil(t, protocols.Find(known, name))
	}
	var c debate.Config
	require.NoError(t, json.Unmarshal([]byte(`{"protocol": {"name": "panel", "mode": "simultaneous"}}`), &c))
	require.Equal(t, panel.Protocol{Mode: panel.Simultaneous}, c.Protocol)
}

// hiding is a protocol with a parameter where the name of the protocol belongs.
type hiding struct {
	debatetest.Mesh

	Title string `json:"name"`
}

func TestAParameterMustNotHideTheName(t *testing.T) {
	_, err := json.Marshal(debatetest.PairConfig(hiding{Title: "x"}))
	require.ErrorContains(t, err, `encode protocol mesh/1: debate_test.hiding has a field with the JSON name "name", use another name`)
}

// Text that is not valid UTF-8 changes when it is stored. The engine that stores it uses what other engines read.
func TestInvalidTextIsTheSameInAllEngines(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, _ *debate.Options) { c.Topic = "Ban \xffcars?" })
	require.Equal(t, "Ban \ufffdcars?", debatetest.Result(t, d).Topic)
	require.Equal(t, "Ban \ufffdcars?", debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).Topic)
}

func TestParseConfigSaysWhatIsWrong(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{Protocols: []protocol.Protocol{debatetest.Mesh{}}})
	for text, want := range map[string]string{
		`{"topic":`:     "parse configuration: unexpected end of JSON input",
		`{"topik":"x"}`: "topik: the field is unknown, use one of ",
		`{"protocol":{"name":"chess/1"}}`: `protocol.name: "chess/1" is unknown, use one of arbitration/1, council/1, ` +
			`mad/1, mesh/1, oversight/1, pairwise/1, panel/1, procon/1, refine/1, review/1, skeptic/1, vote/1, or add it to Options.Protocols`,
		`{"protocol":{"format":"free-form"}}`: `protocol.name: use an object with a name, such as {"name": "panel/1"}`,
		`{"protocol":7}`:                      "protocol.name: use an object",
		`{"protocol":{"name":"panel/1","formatt":"x"}}`: `protocol.formatt: the field is unknown, ` +
			`use one of by_scores, decision, devils_advocate, format, jury, mode, personas, rotate_judges`,
		`{"protocol":{"name":"vote","graph":{"A":[1]}}}`: `protocol.graph.A[0]: 1 is not valid, use a string`,
		`{"limits":{"running_time":"ten minutes"}}`:      `limits.running_time: "ten minutes" is not a duration`,
		`{"limits":{"round_time":90}}`: `limits.round_time: "90" is not a duration, ` +
			`use one such as "90s" or "1h30m"`,
		`{"limits":{"max_rounds":"five"}}`:                              `limits.max_rounds: "five" is not valid, use an integer`,
		`{"limits":{"max_rounds":1e30}}`:                                `limits.max_rounds: 1e30 is not valid, use an integer`,
		`{"participants":[{"name":"A"},{"name":"B","temprature":0.1}]}`: "participants[1].temprature: the field is unknown, use one of ",
		`{"Judges":[{"Temperature":"hot"}]}`:                            `Judges[0].Temperature: "hot" is not valid, use a number`,
		`[]`:                                                            `configuration: [] is not valid, use an object`,
	} {
		_, err := e.ParseConfig([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := e.ParseConfig([]byte(`{"topik":"x","limits":{"max_rounds":"five"},"protocol":{"name":"chess"}}`))
	require.Equal(t, []string{"limits.max_rounds", "topik", "protocol.name"}, problemFields(t, err), "all at once")
}

func FuzzParseConfig(f *testing.F) {
	f.Add(`{"topic":"x","protocol":{"name":"panel/1","mode":"simultaneous"},"participants":[{"name":"A"}],"limits":{"running_time":"1s"}}`)
	f.Add(`{"protocol":null,"judges":[{}],"persona_assigner":{"temperature":1e400}}`)
	e := debatetest.Engine(f, debate.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := e.ParseConfig([]byte(text))
		if err != nil {
			return
		}
		d, err := e.Create(t.Context(), cfg) // must not panic
		if err == nil {
			require.NoError(t, e.Delete(t.Context(), d.ID()))
		}
	})
}

func TestDefaultsStandInTheStoredConfiguration(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for _, ev := range storedEvents(t, d) {
		if c, ok := ev.(debate.ConfigChanged); ok {
			e := debatetest.Engine(t, debate.Options{})
			cfg, err := e.ParseConfig(c.Config)
			require.NoError(t, err)
			require.Equal(t, panel.Protocol{}, cfg.Protocol)
			require.Equal(t, debate.Limits{
				MinRounds: 1, MaxRounds: 5, RunningTime: time.Hour, StepTokens: 4096, JudgeTokens: 4096, StepTimeout: 5 * time.Minute, StepAttempts: 10,
				OutputTokens: 2 * (5*3*4096 + 2*4096), // a verdict may be asked for again
			}, cfg.Limits)
			require.Equal(t, 0.7, *cfg.Participants[0].Temperature)
			require.Equal(t, 0.2, *cfg.Judges[0].Temperature)
			require.Equal(t, 32_000, cfg.Participants[0].Window)
			require.Equal(t, "j", cfg.PersonaAssigner.Provider, "the first judge's")
		}
	}
}

func TestABudgetWithWhichNobodyCouldSpeakIsRefused(t *testing.T) {
	var needed int
	for _, tt := range []struct {
		name   string
		change func(*debate.Limits)
		field  string // empty if the limits are valid
	}{
		{"a token", func(l *debate.Limits) { l.Tokens = 1 }, "limits.tokens"},
		{"one less than is needed", func(l *debate.Limits) { l.Tokens = needed - 1 }, "limits.tokens"},
		{"what is needed", func(l *debate.Limits) { l.Tokens = needed }, ""},
		{"a token of output", func(l *debate.Limits) { l.OutputTokens = 1 }, "limits.output_tokens"},
		{"one less than the replies", func(l *debate.Limits) { l.OutputTokens = 399 }, "limits.output_tokens"},
		{"the replies", func(l *debate.Limits) { l.OutputTokens = 400 }, ""},
		{"too little money", func(l *debate.Limits) { l.Cost = 400 - 1 }, "limits.cost"},
		{"the money for the replies", func(l *debate.Limits) { l.Cost = 400 }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := debatetest.PairConfig(nil)
			cfg.Limits = debate.Limits{StepTokens: 100, JudgeTokens: 100}
			cfg.Prices = price.Prices{"": {Output: 1e6}}
			tt.change(&cfg.Limits)
			d, err := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			if tt.field != "" {
				require.Equal(t, []string{tt.field}, problemFields(t, err))
				if cfg.Limits.Tokens == 1 {
					at := strings.Index(err.Error(), "up to ")
					_, err := fmt.Sscanf(err.Error()[at:], "up to %d tokens", &needed)
					require.NoError(t, err)
				}
				return
			}
			require.NoError(t, err)
			debatetest.Finish(t, d)
			require.NotEmpty(t, debatetest.Result(t, d).Turns)
		})
	}
}

func TestImpossibleLimitsAreNamed(t *testing.T) {
	caps := debate.Limits{StepTokens: 100, JudgeTokens: 50}
	with := func(change func(*debate.Limits)) debate.Limits {
		l := caps
		change(&l)
		return l
	}
	for name, tt := range map[string]struct {
		limits debate.Limits
		field  string // empty if the limits are valid
		reason string
	}{
		"a budget without room for a round": {
			with(func(l *debate.Limits) { l.OutputTokens = 299 }),
			"limits.output_tokens",
			"up to 300 tokens are needed, but it is 299",
		},
		"a budget with room for one":     {with(func(l *debate.Limits) { l.OutputTokens = 300 }), "", ""},
		"the most rounds":                {debate.Limits{MaxRounds: 10_000}, "", ""},
		"a round more":                   {debate.Limits{MaxRounds: 10_001}, "limits.max_rounds", "use at most 10000"},
		"very many rounds":               {debate.Limits{MaxRounds: math.MaxInt}, "limits.max_rounds", "use at most 10000"},
		"a very large minimum of rounds": {debate.Limits{MinRounds: 1 << 60}, "limits.min_rounds", "use at most 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := debatetest.PairConfig(nil)
			cfg.Limits = tt.limits
			_, created := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			edited := newPanelDebate(t, 1, nil).Edit(t.Context(), cfg)
			if tt.field == "" {
				require.NoError(t, created)
				require.NoError(t, edited)
				return
			}
			for _, err := range []error{created, edited} {
				var problems *debate.Problems
				require.ErrorAs(t, err, &problems)
				require.Len(t, problems.List, 1)
				require.Equal(t, tt.field, problems.List[0].Field)
				require.Contains(t, problems.List[0].Reason, tt.reason)
			}
		})
	}
}

// Each limit is refused by its own name, once, if it is negative or so large that sums of it overflow.
func TestEachLimitIsRefusedByNameAndOnce(t *testing.T) {
	limits := reflect.TypeFor[debate.Limits]()
	for i := range limits.NumField() {
		field, _, _ := strings.Cut(jsonName(t, limits.Field(i).Name), ",")
		for _, value := range []any{-1, math.MaxInt} {
			if limits.Field(i).Type.Kind() == reflect.Float64 && value != -1 {
				value = math.Inf(1)
			}
			t.Run(fmt.Sprint(field, value), func(t *testing.T) {
				for _, p := range []protocol.Protocol{panel.Protocol{Format: panel.StructuredRounds}, fewRounds{}} {
					c := debatetest.PairConfig(p)
					l := reflect.ValueOf(&c.Limits).Elem().Field(i)
					l.Set(reflect.ValueOf(value).Convert(l.Type()))
					_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
					require.Equal(t, []string{"limits." + field}, problemFields(t, err))
				}
			})
		}
	}
}

// jsonName returns the name in JSON of a field of Limits.
func jsonName(t *testing.T, field string) string {
	t.Helper()
	c := debatetest.PairConfig(nil)
	v := reflect.ValueOf(&c.Limits).Elem().FieldByName(field)
	v.Set(reflect.ValueOf(1).Convert(v.Type()))
	var got struct{ Limits map[string]any }
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, c)), &got))
	for name := range got.Limits {
		return name
	}
	t.Fatalf("limits.%s is not in the JSON", field)
	return ""
}

// fewRounds is a protocol that takes at most three rounds.
type fewRounds struct{ unjudgedPanel }

func (fewRounds) Name() string { return "few/1" }

func (fewRounds) Check(r *protocol.Record) []protocol.Problem {
	if r.MaxRounds > 3 || r.MaxRounds < 1 {
		return []protocol.Problem{protocol.Problemf("limits.max_rounds", "%d, use 1 to 3", r.MaxRounds)}
	}
	return nil
}

func (fewRounds) Defaults() protocol.Defaults { return protocol.Defaults{MaxRounds: 3} }

func TestSizesOfParticipantsAreRefusedByNameAndOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*debate.Participant)
		field  string
	}{
		"negative max_tokens": {func(p *debate.Participant) { p.MaxTokens = -1 }, "max_tokens"},
		"large max_tokens":    {func(p *debate.Participant) { p.MaxTokens = math.MaxInt }, "max_tokens"},
		"negative window":     {func(p *debate.Participant) { p.Window = -1 }, "window"},
		"large window":        {func(p *debate.Participant) { p.Window = math.MaxInt }, "window"},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			tt.change(&c.Participants[1])
			_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			require.Equal(t, []string{"participants[1]." + tt.field}, problemFields(t, err))
		})
	}
}

// phased is a protocol with the given phases in the speech stage.
type phased []protocol.Phase

func (phased) Name() string { return "phased/1" }

func (phased) Check(*protocol.Record) []protocol.Problem { return nil }

func (p phased) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech {
		return p
	}
	return nil
}

func (phased) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (phased) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func TestAProtocolWithImpossiblePhasesIsRefused(t *testing.T) {
	a := debatetest.Step("A", "", nil)
	b := debatetest.Step("B", "", nil)
	about := debatetest.Step("A", "B", nil)
	for name, tt := range map[string]struct {
		phases phased
		want   string // empty if it is accepted
	}{
		"no phase": {nil, "it has no step in any phase"},
		"no step":  {phased{{Name: "empty"}, {Name: "too", Parallel: true}}, "it has no step in any phase"},
		"two parallel steps of one": {
			phased{{Name: "twice", Parallel: true, Steps: []protocol.Step{a, b, a}}},
			`phase "twice" has two steps of "A" about ""`,
		},
		"two in a row": {
			phased{{Name: "twice", Steps: []protocol.Step{a, b, a}}},
			`phase "twice" has two steps of "A" about ""`,
		},
		"two steps with another target": {phased{{Name: "twice", Parallel: true, Steps: []protocol.Step{a, b, about}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.PairConfig(tt.phases)
			_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, []string{"protocol"}, problemFields(t, err))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// lateTwins is a protocol that asks for a step twice, but not before the second round.
type lateTwins struct{ phased }

func (lateTwins) Name() string { return "twins/1" }

func (p lateTwins) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage == transcript.Speech && len(r.Turns) == 1 {
		return []protocol.Phase{{
			Name:     "late",
			Parallel: true,
			Steps:    []protocol.Step{debatetest.Step("B", "", nil), debatetest.Step("B", "", nil)},
		}}
	}
	return p.phased.Phases(r)
}

func TestAStepIsNotPaidForTwice(t *testing.T) {
	calls := 0
	model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		calls++
		return scripted.Reply{Text: "Yes."}
	}}
	c := debatetest.PairConfig(lateTwins{phased{{Name: "first", Steps: []protocol.Step{debatetest.Step("A", "", nil)}}}})
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(model, model)})
	_, err := debatetest.Run(t, d)
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Message, `phase "late" has two steps of "B" about ""`)
	require.False(t, failure.Recoverable)
	require.Equal(t, 1, calls)
}

func TestAnEditReportsEverythingAndSaysWhatItIsAbout(t *testing.T) {
	d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
		o.Providers["m"] = failingAfter(1)
	})
	_, err := debatetest.Run(t, d)
	require.Error(t, err)
	require.NoError(t, d.Retry(t.Context()))
	c := debatetest.PairConfig(nil)
	c.Topic = "Ban bikes?"
	c.Participants[0].Name = "Z"
	c.Limits.Tokens = -1
	c.OnFailure = "panic"
	err = d.Edit(t.Context(), c)
	require.ElementsMatch(t, []string{"topic", "participants", "limits.tokens", "on_failure"}, problemFields(t, err))
	require.ErrorContains(t, err, "edit debate d: check configuration: ")
}

func TestAnInvalidEditOfARunningDebateIsRefused(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	runUntilTurn(t, d, transcript.Speech)
	require.ErrorAs(t, d.Edit(t.Context(), debate.Config{}), new(*fsm.Refused))
}

// failingAfter returns a model that gives some replies and then rejects its key.
func failingAfter(replies int) providers.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		replies--
		if replies < 0 {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("set M_KEY")}}
		}
		return scripted.Reply{Text: "Yes."}
	}}
}

func TestARemarkIsRefusedWithEverythingThatIsWrong(t *testing.T) {
	err := newPanelDebate(t, 1, nil).Inject(t.Context(), debate.Remark{From: "A", Text: " "})
	require.Equal(t, []string{"text", "from"}, problemFields(t, err))
	require.ErrorContains(t, err, "inject a remark into debate d: check remark: text: it is blank")
	require.NotContains(t, err.Error(), "configuration")
}

func TestAnAnnotationNeedsAName(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	for _, name := range []string{"", " "} {
		err := d.Annotate(t.Context(), name, 1)
		require.Equal(t, []string{"name"}, problemFields(t, err))
		require.ErrorContains(t, err, "annotate debate d: check annotation: name: it is blank")
	}
}

// A driver reports rejected keys and unknown models at once: each once, with all actors that name the model.
func TestADriverReportsEverythingAtOnce(t *testing.T) {
	knows := &scripted.Provider{Models: []string{"good"}}
	locked := providerWithFailingCheck{talkingModel(), &providers.Error{Kind: providers.Authentication, Err: errors.New("set J_KEY")}}
	c := debatetest.PairConfig(nil)
	c.Participants[0].Model, c.Participants[1].Model = "bad", "bad"
	c.Participants = append(c.Participants, debate.Participant{Name: "C", Provider: "m", Model: "good"})
	c.Judges[0].Model = "one"
	c.Judges = append(c.Judges, debate.Participant{Name: "K", Provider: "j", Model: "two"})
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(knows, locked)})
	_, err := debatetest.Run(t, d)
	require.Equal(t, []string{"participants[0].model", "judges[0].provider"}, problemFields(t, err))
	require.ErrorContains(t, err, `; the same model is in participants[1]`+"\n")
}

func TestTextsMustFitIntoTheWindows(t *testing.T) {
	long := strings.Repeat("cars and more cars ", 150_000)
	for name, tt := range map[string]struct {
		change func(*debate.Config)
		field  string
		reason string
	}{
		"topic":      {func(c *debate.Config) { c.Topic = long }, "topic", "too long for the window of A, 32000"},
		"background": {func(c *debate.Config) { c.Background = long }, "background", "too long for the window of A, 32000"},
		"a topic for one": {
			func(c *debate.Config) { c.Topic, c.Participants[1].Window = long[:40_000], 4_000 },
			"topic",
			"too long for the window of B, 4000",
		},
		"a topic for judges": {
			func(c *debate.Config) { c.Topic, c.Judges[0].Window = long[:19_000], 6_000 },
			"topic",
			"too long for the window of J, 6000",
		},
		"instructions": {
			func(c *debate.Config) { c.Participants[1].Instructions = long },
			"participants[1].window",
			"32000 is too small: the prompt takes about",
		},
		"a judge's window": {
			func(c *debate.Config) { c.Judges[0].Window = 2_000 },
			"judges[0].window",
			"2000 is too small: the prompt takes about",
		},
		"a substitute's": {
			func(c *debate.Config) { c.Substitutes = []debate.Participant{{Provider: "j", Window: 1_500}} },
			"substitutes[0].window",
			"1500 is too small: the prompt takes about",
		},
	} {
		t.Run(name, func(t *testing.T) {
			model := talkingModel()
			c := debatetest.PairConfig(nil)
			tt.change(&c)
			o := debate.Options{Providers: providersOf(model, model)}
			_, err := debate.New(t.Context(), c, o)
			require.Equal(t, []string{tt.field}, problemFields(t, err)[:1])
			require.ErrorContains(t, err, tt.reason)
			e := debatetest.Engine(t, o)
			d, err := e.Create(t.Context(), c)
			if err == nil { // only a driver can tell
				_, err = debatetest.Run(t, d)
			}
			require.Equal(t, []string{tt.field}, problemFields(t, err)[:1])
			require.Empty(t, model.Calls())
		})
	}
}

func TestARemarkMustFitIntoTheWindows(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, _ *debate.Options) { c.Participants[1].Window = 8_000 })
	err := d.Inject(t.Context(), debate.Remark{From: "Host", Text: strings.Repeat("cars and more cars ", 5_000)})
	require.Equal(t, []string{"text"}, problemFields(t, err))
	require.ErrorContains(t, err, "at most 3904 fit into the window of B beside a reply")
	require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Host", Text: strings.Repeat("cars and more cars ", 500)}))
}

// A judge whose window cannot hold the prompt, a reply of the default length and some history gets shorter replies, and a
// warning says so. Other engines see the same.
func TestRepliesAreLimitedToFitIntoTheWindow(t *testing.T) {
	asked := map[string]int{}
	j := scriptedJudge(t, 1)
	judge := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		asked["J"] = max(asked["J"], r.MaxTokens)
		return j.Generate(ctx, r)
	})
	c := debatetest.PairConfig(nil)
	c.Judges[0].Window = 4_500
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(talkingModel(), judge)})
	events := debatetest.Finish(t, d)
	var warnings []debate.Warning
	for _, ev := range events {
		if w, ok := ev.(debate.Warning); ok && w.Key.Phase == "configuration" {
			warnings = append(warnings, w)
		}
	}
	require.Len(t, warnings, 1)
	require.Equal(t, transcript.Key{Run: 1, Phase: "configuration", Actor: "J", Target: "judges[0]"}, warnings[0].Key)
	require.Contains(t, warnings[0].Text, fmt.Sprintf("replies of J are limited to %d tokens instead of 4096", asked["J"]))
	require.GreaterOrEqual(t, asked["J"], 256)
	require.Less(t, asked["J"], 4_500-2_000)
	require.Contains(t, debatetest.Result(t, d).Warnings, warnings[0].Text)
	require.Equal(t, debatetest.Result(t, d).Warnings, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).Warnings)
}

// lookTool is a tool without a state.
var lookTool = tool.Func(tool.Spec{Name: "look"}, func(context.Context, struct{}) (string, error) { return "", nil })

// filledConfig returns a valid configuration in which every field that refers to memory is set.
func filledConfig(t *testing.T, p protocol.Protocol) debate.Config {
	t.Helper()
	warm := 1.0
	c := debatetest.PairConfig(p)
	c.Substitutes = []debate.Participant{{Provider: "j"}}
	seed := int64(7)
	for _, actor := range []*debate.Participant{
		&c.Participants[0],
		&c.Judges[0],
		&c.Substitutes[0],
		&c.PersonaAssigner,
		&c.Summarizer,
		&c.Retriever,
		&c.Embedder,
	} {
		actor.Temperature = &warm
		actor.Seed = &seed
		actor.Stop = []string{"END"}
	}
	if _, ok := p.(panel.Protocol); ok {
		senior := c.Judges[0]
		senior.Name = "S"
		c.Judges = append(c.Judges, senior)
	}
	c.Rubric = judge.Rubric{{Name: "wit", Weight: 1, Bands: []string{"0-10: wit"}}}
	c.Detect = []detect.Rule{{Signal: detect.Repetitive}}
	c.Retries = map[providers.ErrorKind]int{providers.Network: 1}
	c.Prices = price.Prices{"m": {Input: 1}}
	c.Labels = map[string]string{"team": "red"}
	c.Attachments = []debate.Attachment{{Name: "a.png", MediaType: "image/png", Data: picture(t, 2, 2), Readers: []string{"A"}}}
	c.Documents = []evidence.Document{evidence.Shared("notes.md", "Ice floats.")}
	c.Participants[0].Tools, c.Judges[0].Tools = []string{"look"}, []string{"look"}
	unset := slices.DeleteFunc(
		memorytest.Empty(c),
		func(field string) bool { return strings.HasSuffix(field, ".Tools") || field == ".hidden" },
	) // system actors have no tools, and only rejudged debates hide documents
	require.Empty(t, unset, "set the new fields above")
	return c
}

// pointed is a protocol whose methods have a pointer receiver.
type pointed struct {
	debatetest.Mesh

	Tags map[string][]string
}

func (*pointed) Name() string { return "pointed/1" }

func TestADebateSharesNoMemoryWithItsCaller(t *testing.T) {
	share := 0.5
	opts := debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1)), Tools: []tool.Tool{lookTool}}
	e := debatetest.Engine(t, opts)
	for _, p := range []protocol.Protocol{
		panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}, Selection: agreement.Selection{
			Senior: "S", Calibration: agreement.Calibration{
				Judges:    []string{"J"},
				Target:    0.8,
				Decisions: 1,
				Margin:    1,
				Items:     60,
				Decided:   40,
				Wrong:     1,
				Bound:     0.114,
			},
		}},
		vote.Protocol{
			Topology: vote.Graph, Graph: map[string][]string{"A": {"B"}}, Agreement: &share, Filter: &share, Options: []string{"Yes", "No"},
			Convincing: map[string][]string{"A": {"Is ice warm? No, it is frozen."}},
		},
		&pointed{Tags: map[string][]string{"a": {"b"}}},
	} {
		t.Run(p.Name(), func(t *testing.T) {
			c := filledConfig(t, p)
			c.ID = strings.ReplaceAll(p.Name(), "/", "-")
			created := debatetest.Create(t, e, c)
			require.Empty(t, memorytest.Shared(c, created.Record()))
			require.NoError(t, created.Edit(t.Context(), c))
			require.Empty(t, memorytest.Shared(c, created.Record()))
			alone := debatetest.New(t, c, opts)
			require.Empty(t, memorytest.Shared(c, alone.Record()))
			forked := debatetest.Fork(t, e, c.ID, 0, debate.Edits{Config: &c, Labels: c.Labels})
			require.Empty(t, memorytest.Shared(c, forked.Record()))
			require.Empty(t, memorytest.Shared(c, e))
		})
	}
}

// A temperature that the caller changes after Create reaches no model.
func TestALaterChangeReachesNoModel(t *testing.T) {
	var got []float64
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		got = append(got, *r.Temperature)
		return scripted.Reply{Text: "yes"}
	}}
	warm := 1.0
	c := debatetest.PairConfig(unjudgedPanel{})
	c.Judges, c.Limits.MaxRounds = nil, 1
	c.Participants[0].Temperature, c.Participants[1].Temperature = &warm, &warm
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(model, model)})
	warm = 2
	debatetest.Finish(t, d)
	require.Equal(t, []float64{1, 1}, got)
}

func TestAnEngineSharesNoMemoryWithItsCaller(t *testing.T) {
	held := &pointed{Tags: map[string][]string{"a": {"b"}}}
	o := debate.Options{
		Providers: map[string]providers.Provider{"m": failingProvider{}},
		Protocols: []protocol.Protocol{held, vote.Protocol{Graph: map[string][]string{"A": {"B"}}}},
		Prompts:   fstest.MapFS{"x.tmpl": {Data: []byte(`{{define "system"}}x{{end}}x`)}},
		Contracts: []*reply.Contract{reply.New[struct{ X string }]("x/1")},

		Audits:     []measured.Record{{Model: "m", Biases: []measured.Bias{{Name: "position"}}}},
		Tools:      []tool.Tool{lookTool},
		PromptSets: map[string]fs.FS{"other": fstest.MapFS{"x.tmpl": {Data: []byte(`{{define "system"}}y{{end}}y`)}}},
	}
	v := reflect.ValueOf(o)
	for f := range v.Type().Fields() {
		if k := f.Type.Kind(); k == reflect.Map || k == reflect.Slice || k == reflect.Pointer {
			require.True(t, !v.FieldByIndex(f.Index).IsZero() || f.Name == "Logger", "set %s above", f.Name)
		}
	}
	e := debatetest.Engine(t, o)
	require.Empty(t, memorytest.Shared(o, e))
}

func TestResultsShareNoMemory(t *testing.T) {
	a, b, rec := debate.FilledResults(memorytest.Fill)
	empty := slices.DeleteFunc(memorytest.Empty(a), func(field string) bool { return strings.HasPrefix(field, ".Outcome.") })
	require.Equal(t, []string{".Agreement", ".Signature", ".Tools", ".Waiting"}, empty,
		"fill the new fields; these and the outcome are computed for each result")
	require.Equal(t, a, b)
	require.Empty(t, memorytest.Shared(a, b))
	require.Empty(t, memorytest.Shared(rec, a))
}

func TestLabelsAreTheDebatesOwn(t *testing.T) {
	cfg := debatetest.PairConfig(nil)
	cfg.Labels = map[string]string{"team": "red"}
	d := debatetest.New(t, cfg, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
	cfg.Labels["team"] = "blue"
	require.Equal(t, map[string]string{"team": "red"}, debatetest.Status(t, d).Labels)
	require.NoError(t, d.Edit(t.Context(), cfg))
	cfg.Labels["team"] = "green"
	require.Equal(t, map[string]string{"team": "blue"}, debatetest.Status(t, d).Labels)
	debatetest.Status(t, d).Labels["team"] = "black"
	require.Equal(t, map[string]string{"team": "blue"}, debatetest.Status(t, d).Labels)
}

func TestParseConfigRefusesTextAfterTheObject(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	_, err := e.ParseConfig([]byte("{\"topic\": \"Ban cars?\"}\n"))
	require.NoError(t, err)
	for _, more := range []string{`{}`, `{"topic": "Ban bikes?"}`, `}`, `text`, `,`} {
		_, err := e.ParseConfig([]byte(`{"topic": "Ban cars?"} ` + more))
		require.ErrorContains(t, err, "parse configuration: ", more)
	}
}

func TestAJudgeOfAParticipantsModelDrawsAWarning(t *testing.T) {
	const warning = "judge J uses the same model as B and may favor them"
	for _, tt := range []struct {
		name  string
		model string
		want  []string
	}{
		{"one model", "big", []string{warning}},
		{"another one", "small", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			c.Participants[1].Provider, c.Participants[1].Model = "j", "big"
			c.Judges[0].Model = tt.model
			p := &debatetest.DigestModel{Names: []string{"A", "B"}}
			d := debatetest.New(t, c, debate.Options{Providers: providersOf(p, p)})
			events := debatetest.Finish(t, d)
			var told []string
			for _, ev := range events {
				if w, ok := ev.(debate.Warning); ok {
					told = append(told, w.Text)
				}
			}
			require.Equal(t, tt.want, told)
			require.Equal(t, tt.want, debatetest.Result(t, d).Warnings)
		})
	}
}

// If there is only one provider, naming it or not refers to the same model. A substitute also judges.
func TestKinshipIsOfTheModelThatAnswers(t *testing.T) {
	p := &debatetest.DigestModel{Names: []string{"A", "B"}}
	t.Run("the only provider, named once", func(t *testing.T) {
		c := debatetest.PairConfig(nil)
		c.Participants[0].Provider = ""
		c.Participants[1].Provider = ""
		c.Judges[0].Provider = "m"
		d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": p}})
		require.NotEmpty(t, debatetest.Result(t, d).Warnings)
	})
	t.Run("a substitute", func(t *testing.T) {
		c := debatetest.PairConfig(nil)
		c.Substitutes = []debate.Participant{{Provider: "m"}}
		d := debatetest.New(t, c, debate.Options{Providers: providersOf(p, p)})
		events := debatetest.Finish(t, d)
		var keys []transcript.Key
		for _, ev := range events {
			if s, ok := ev.(debate.StateChanged); ok && s.On == fsm.Accept {
				for _, w := range s.Warnings {
					keys = append(keys, w.Key)
				}
			}
		}
		require.Equal(t, []transcript.Key{{Run: 1, Phase: "configuration", Target: "substitutes[0]"}}, keys)
	})
}

// person is a provider that asks a person.
type person struct{ providers.Provider }

func (person) IsPerson() bool { return true }

// People have no model.
func TestPeopleDrawNoWarning(t *testing.T) {
	p := &debatetest.DigestModel{Names: []string{"A", "B"}}
	for name, tt := range map[string]struct {
		provider providers.Provider
		warnings int
	}{
		"a model":  {p, 1},
		"a person": {person{p}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			c.Judges[0].Provider = "m"
			d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": tt.provider}})
			events := debatetest.Finish(t, d)
			require.Len(t, warningTexts(events), tt.warnings)
			require.Len(t, debatetest.Result(t, d).Warnings, tt.warnings)
		})
	}
}

// A ruling has no scores for relevance or novelty.
func TestARuleByMarksNeedsAssessments(t *testing.T) {
	c := debatetest.PairConfig(arbitration.Protocol{Scores: map[string]float64{"problem": 6, "solution": 5, "market": 7}})
	c.Detect = []detect.Rule{{Signal: detect.Drifting, Effect: detect.Stop}}
	p := talkingModel()
	_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(p, p)})
	var problems *debate.Problems
	require.ErrorAs(t, err, &problems)
	require.ErrorContains(t, err, "detect[0]")
}

func TestRetriesThatMeanNothingAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		retries map[providers.ErrorKind]int
		reason  string // empty if the rules are valid
	}{
		"none":               {nil, ""},
		"zero":               {map[providers.ErrorKind]int{providers.Network: 0}, ""},
		"of every kind":      {map[providers.ErrorKind]int{providers.Network: 1, providers.InvalidRequest: 2, providers.ServerError: 9}, ""},
		"a negative number":  {map[providers.ErrorKind]int{providers.Network: -1}, `network: -1`},
		"an unknown kind":    {map[providers.ErrorKind]int{"weather": 1}, `weather: 1`},
		"a kind in capitals": {map[providers.ErrorKind]int{"Network": 1}, `"network"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := debatetest.PairConfig(nil)
			cfg.Retries = tt.retries
			_, created := debate.New(t.Context(), cfg, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
			edited := newPanelDebate(t, 1, nil).Edit(t.Context(), cfg)
			if tt.reason == "" {
				require.NoError(t, created)
				require.NoError(t, edited)
				e := debatetest.Engine(t, debate.Options{})
				back, err := e.ParseConfig([]byte(debatetest.Encode(t, cfg)))
				require.NoError(t, err)
				require.Equal(t, cfg.Retries, back.Retries)
				return
			}
			for _, err := range []error{created, edited} {
				var problems *debate.Problems
				require.ErrorAs(t, err, &problems)
				require.Len(t, problems.List, 1)
				require.Equal(t, "retries", problems.List[0].Field)
				require.Contains(t, problems.List[0].Reason, tt.reason)
			}
		})
	}
}

// The prompts have the positions that the sides stand for.
func TestProConDerivesPositions(t *testing.T) {
	c := debatetest.PairConfig(procon.Protocol{})
	c.Participants[0].Side = "pro"
	c.Participants[1].Side = "con"
	c.Limits.MaxRounds = 1
	c.Participants = append([]debate.Participant{{Name: "C", Side: "con", Provider: "m", Disabled: true}}, c.Participants...)
	p := talkingModel()
	d := debatetest.New(t, c, debate.Options{Providers: providersOf(p, talkingModel())})
	require.Empty(t, c.Participants[1].Position, "the caller's configuration does not change")
	debatetest.Finish(t, d)
	require.Len(t, p.Calls(), 2)
	require.Contains(t, p.Calls()[0].Messages[0].Text, "begin: your position>>>\nIn favor of the topic")
	require.Contains(t, p.Calls()[0].Messages[0].Text, "begin: the position of B>>>\nAgainst the topic")
	require.Contains(t, p.Calls()[1].Messages[0].Text, "begin: your position>>>\nAgainst the topic")
}

// A protocol takes several judges, or refuses further judges by name.
func TestSeveralJudges(t *testing.T) {
	refuses := []protocol.Problem{{
		Field:  "judges[1]",
		Reason: `"K" has no task, the protocol takes one judge; move a replacement for "J" to substitutes`,
	}}
	for _, tt := range []struct {
		protocol protocol.Protocol
		want     []protocol.Problem
	}{
		{panel.Protocol{}, nil},
		{procon.Protocol{}, nil},
		{vote.Protocol{Decision: vote.Judge}, nil},
		{oversight.Protocol{A: "Yes.", B: "No."}, nil},
		{mad.Protocol{}, refuses},
		{skeptic.Protocol{}, refuses},
		{refine.Protocol{}, refuses},
		{arbitration.Protocol{Scores: map[string]float64{"problem": 6, "solution": 5, "market": 7}}, refuses},
	} {
		t.Run(tt.protocol.Name(), func(t *testing.T) {
			c := debatetest.PairConfig(tt.protocol)
			c.Participants[0].Position, c.Participants[1].Position = "Yes.", "No."
			c.Judges = append(c.Judges, debate.Participant{Name: "K", Provider: "j"})
			_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			var problems *debate.Problems
			require.ErrorAs(t, err, &problems)
			require.Equal(t, tt.want, problems.List)
		})
	}
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*debate.Config)
		want []protocol.Problem
	}{
		{"an unknown signal", func(c *debate.Config) { c.Detect = []detect.Rule{{Signal: "rude"}} }, []protocol.Problem{
			{
				Field:  "detect[0]",
				Reason: `signal "rude" is unknown, use one of ["repetitive" "diminishing_returns" "drifting" "converged" "unanimous"]`,
			},
		}},
		{"vectors without an embedder", func(c *debate.Config) {
			c.Detect = []detect.Rule{{
				Signal: detect.Repetitive,
				Method: "vectors",
			}}
		}, []protocol.Problem{
			{Field: "embedder.provider", Reason: "it is empty, but detect[0] needs vectors"},
		}},
		{"scores without a judge", func(c *debate.Config) {
			c.Detect, c.Protocol = []detect.Rule{{Signal: detect.Diminishing}}, unjudgedDefaults{}
		}, []protocol.Problem{
			{Field: "detect[0]", Reason: "diminishing_returns needs the scores of judges, but no judge assesses the rounds of talk/1"},
		}},
		{"a rubric", func(c *debate.Config) { c.Rubric = judge.Rubric{{Name: "wit", Weight: -1}} }, []protocol.Problem{
			{Field: "rubric"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := debatetest.PairConfig(nil)
			tt.edit(&c)
			_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), talkingModel())})
			var wrong *debate.Problems
			require.ErrorAs(t, err, &wrong)
			for i := range wrong.List {
				if tt.want[0].Reason == "" {
					wrong.List[i].Reason = ""
				}
			}
			require.Equal(t, tt.want, wrong.List[:1])
		})
	}
}

func TestAProtocolsDefaults(t *testing.T) {
	heat := 1.5
	for _, tt := range []struct {
		name   string
		config debate.Config
		limits debate.Limits // the fields to compare
	}{
		{"its own", debate.Config{}, debate.Limits{MinRounds: 2, MaxRounds: 3, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20}},
		{
			"the configuration's prevail",
			debate.Config{Limits: debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 70, StepTokens: 9}},
			debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 70, StepTokens: 9, JudgeTokens: 20},
		},
		{
			"a limit below the minimum lowers that",
			debate.Config{Limits: debate.Limits{MaxRounds: 1}},
			debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20},
		},
		{
			"a minimum above the limit raises that",
			debate.Config{Limits: debate.Limits{MinRounds: 4}},
			debate.Limits{MinRounds: 4, MaxRounds: 4, OutputTokens: 240, StepTokens: 10, JudgeTokens: 20},
		},
		{
			"the budget has room for all rounds",
			debate.Config{Limits: debate.Limits{MaxRounds: 8}},
			debate.Limits{MinRounds: 2, MaxRounds: 8, OutputTokens: 480, StepTokens: 10, JudgeTokens: 20},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.config
			c.ID = "d"
			c.Topic = "Cats?"
			c.Protocol = unjudgedDefaults{}
			c.Participants = []debate.Participant{{Name: "A"}, {Name: "B"}, {Name: "C", Temperature: &heat}}
			e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": talkingModel()}})
			d := debatetest.Create(t, e, c)
			var got debate.Config
			for ev, err := range d.Watch(t.Context(), 0) {
				require.NoError(t, err)
				got, err = e.ParseConfig(ev.(debate.ConfigChanged).Config)
				require.NoError(t, err)
				break
			}
			require.Equal(t, tt.limits, debate.Limits{
				MinRounds: got.Limits.MinRounds, MaxRounds: got.Limits.MaxRounds, OutputTokens: got.Limits.OutputTokens,
				StepTokens: got.Limits.StepTokens, JudgeTokens: got.Limits.JudgeTokens,
			})
			require.Equal(
				t,
				[]float64{0.1, 0.2, 1.5},
				[]float64{*got.Participants[0].Temperature, *got.Participants[1].Temperature, *got.Participants[2].Temperature},
			)
		})
	}
}

// preset is a provider with a default model.
type preset struct {
	scripted.Provider

	model string
}

func (p *preset) DefaultModel() string { return p.model }

// A limit of cost needs the price of each model. It knows that of a provider's default model, which the debate stores.
func TestALimitOfCostKnowsTheDefaultModel(t *testing.T) {
	prices := price.Prices{"small-1": {Input: 1, Output: 2}}
	for name, tt := range map[string]struct {
		provider providers.Provider
		edit     func(*debate.Config)
		model    string // that is stored
		problem  string
	}{
		"with a price": {provider: &preset{model: "small-1"}, model: "small-1"},
		"a gate": {
			provider: &preset{model: "small-1"}, model: "small-1",
			edit: func(c *debate.Config) { c.Limits.Cost, c.AskAboveCost = 0, 1 },
		},
		"wrapped":         {provider: middleware.Wrap(&preset{model: "small-1"}, middleware.Concurrency(1)), model: "small-1"},
		"without a price": {provider: &preset{model: "large-1"}, problem: `participants[0].model: "large-1" has no price`},
		"not known":       {provider: &preset{}, problem: "participants[0].model: the default model of the provider has no price"},
		"it does not say": {provider: &scripted.Provider{}, problem: "the default model of the provider has no price"},
		"wrapped, and blind": {
			provider: middleware.Wrap(&scripted.Provider{}, middleware.Concurrency(1)),
			problem:  "the default model of the provider has no price",
		},
		"no limit": {provider: &preset{model: "large-1"}, edit: func(c *debate.Config) { c.Limits.Cost = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			c := debatetest.ShortPanel(1)
			c.Topic = "Ban cars?"
			c.Prices = prices
			c.Limits.Cost = 10
			if tt.edit != nil {
				tt.edit(&c)
			}
			d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": tt.provider}})
			if tt.problem != "" {
				require.ErrorContains(t, err, tt.problem)
				return
			}
			require.NoError(t, err)
			stored := storedConfig(t, d)
			for _, p := range append(stored.Participants, stored.Judges...) {
				require.Equal(t, tt.model, p.Model)
			}
			require.Equal(t, tt.model, stored.Summarizer.Model)
		})
	}
}

func TestProvidersTellTheirDefaultModels(t *testing.T) {
	made := func(p providers.Provider, err error) providers.Provider {
		require.NoError(t, err)
		return p
	}
	for name, p := range map[string]providers.Provider{
		"openai":    made(openai.New(openai.Config{Key: "k", Model: "m"})),
		"anthropic": made(anthropic.New(anthropic.Config{Key: "k", Model: "m"})),
		"google":    made(googleai.New(googleai.Config{Key: "k", Model: "m"})),
		"mistral":   made(mistral.New(mistral.Config{Key: "k", Model: "m"})),
		"ollama":    made(ollama.New(ollama.Config{Model: "m"})),
	} {
		known, ok := p.(providers.Defaulted)
		require.True(t, ok, name)
		require.Equal(t, "m", known.DefaultModel(), name)
	}
}

// Who reads a value in Go and in JSON finds each field under one name: UpdatedBefore is updated_before.
func TestFieldsHaveTheSameNamesInGoAndJSON(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Array {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] || typ == reflect.TypeFor[time.Time]() ||
			!strings.HasPrefix(typ.PkgPath(), "github.com/elenchus-go/") {
			return
		}
		seen[typ] = true
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && !f.Anonymous && name != "" && name != "-" {
				assert.Equal(t, snake(f.Name), name, "%s.%s", typ, f.Name)
			}
			if f.IsExported() {
				walk(f.Type)
			}
		}
	}
	data := []any{
		debate.Config{},
		debate.Result{},
		store.Status{},
		store.Totals{},
		debate.Asked{},
		debate.ConfigChanged{},
		debate.StateChanged{},
		debate.PhaseStarted{},
		debate.TurnDone{},
		debate.ToolsCalled{},
		debate.Dropped{},
		debate.Decided{},
		debate.Annotated{},
		debate.TurnStarted{},
		debate.Chunk{},
		debate.TurnFailed{},
		debate.Warning{},
		debate.Ended{},
		debate.Preview{},
		debate.EntryCheck{},
		judge.Assessment{},
		judge.Verdict{},
		council.Result{},
		mad.Protocol{},
		procon.Judgment{},
	}
	for _, v := range data {
		walk(reflect.TypeOf(v))
	}
	require.Greater(t, len(seen), 40)
}

// snake returns the name that a field has in JSON: words in lower case, with underscores between them.
func snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		startsWord := unicode.IsUpper(r) && i > 0 && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
