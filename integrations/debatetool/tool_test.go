package debatetool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
)

// Tool has the methods of langchaingo's interface.
var _ interface {
	Name() string
	Description() string
	Call(ctx context.Context, input string) (string, error)
} = debatetool.Tool{}

// validate checks a value against a schema.
func validate(t *testing.T, schema json.RawMessage, text []byte) error {
	t.Helper()
	compiled, err := jsonschema.CompileString("schema.json", string(schema))
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	return compiled.Validate(v)
}

func TestEachToolHasSchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, withPerson(), debatetool.Options{})
		inputs := map[string]string{
			"debate":        `{"topic": "Ban cars?", "id": "x", "preset": "default", "participants": [{"name": "Cy"}, {"name": "Di", "side": "against"}], "budget": {"rounds": 1, "minutes": 0.5}}`,
			"debate_start":  `{"topic": "Ban cars?", "id": "x"}`,
			"debate_status": `{"id": "x", "after": 3}`,
			"debate_result": `{"id": "x"}`,
			"debate_stop":   `{"id": "x"}`,
			"debate_answer": `{"id": "x", "step": "q1", "action": "approve"}`,
		}
		require.Len(t, b.Tools(), len(inputs))
		require.Equal(t, "debate", b.Tools()[0].Name())
		for _, tool := range b.Tools() {
			require.NotEmpty(t, tool.Description())
			require.NoError(t, validate(t, tool.InputSchema(), []byte(inputs[tool.Name()])), tool.Name())
			require.Error(t, validate(t, tool.InputSchema(), []byte(`{"colour": "red"}`)), tool.Name())
			var schema struct {
				Type       string
				Properties map[string]struct{ Description string }
			}
			require.NoError(t, json.Unmarshal(tool.InputSchema(), &schema))
			require.Equal(t, "object", schema.Type)
			for name, p := range schema.Properties {
				require.Equal(t, tool.Name() != "debate_start", p.Description != "", "%s: %s", tool.Name(), name) // that of debate says it
			}
			if out, err := tool.Run(t.Context(), json.RawMessage(inputs[tool.Name()])); err == nil {
				raw, err := json.Marshal(out)
				require.NoError(t, err)
				require.NoError(t, validate(t, tool.OutputSchema(), raw), "%s", raw)
			} else {
				require.Equal(t, "debate_answer", tool.Name())
			}
		}
		require.Contains(t, string(b.Tools()[0].InputSchema()), `"enum":["default"],"description":"The kind of debate.\ndefault: a panel. Up to 4 replies, 3 in a row."`)
		waiting := debatetest.Call(t, b.Run, ask)
		raw, err := json.Marshal(waiting)
		require.NoError(t, err)
		require.NoError(t, validate(t, b.Tools()[0].OutputSchema(), raw), "%s", raw)
	})
}

func TestErrorsSayWhatWouldBeRight(t *testing.T) {
	prices := debatetest.ShortPanel(2)
	prices.Prices = price.Prices{"": {Input: 1, Output: 1}}
	prices.Limits.Cost = 2
	prices.Limits.Tokens = 500_000
	prices.Limits.RunningTime = 90 * time.Second
	people := debatetest.ShortPanel(2)
	people.Participants[0].Human, people.Participants[1].Human = true, true
	experts := debatetest.ShortPanel(2)
	experts.Participants = []debate.Participant{{Name: "Ada", Role: "architect"}, {Name: "Bo", Role: "security"}, {Name: "Cy", Role: "testing"}}
	presets := map[string]debatetool.Preset{"panel": {Config: debatetest.ShortPanel(2)}, "priced": {Config: prices}, "people": {Config: people}, "experts": {Config: experts}}
	for name, test := range map[string]struct{ tool, input, want string }{
		"no topic":                  {"debate", `{}`, `- topic: it is empty; give a topic, or the id of a debate`},
		"nothing":                   {"debate_start", ``, `- topic: it is empty`},
		"no preset":                 {"debate", `{"topic": "Q?"}`, `- preset: "default" is unknown, use one of experts, panel, people, priced`},
		"an unknown preset":         {"debate", `{"topic": "Q?", "preset": "x"}`, `- preset: "x" is unknown, use one of experts, panel, people, priced`},
		"an unknown protocol":       {"debate", `{"topic": "Q?", "preset": "panel", "protocol": "x"}`, `- protocol: "x" is unknown, use one of council, mad, panel, procon, refine, skeptic, vote`},
		"a protocol without scores": {"debate", `{"topic": "Q?", "preset": "panel", "protocol": "arbitration"}`, `- protocol: "arbitration" does not suit the preset (protocol.scores: no score for "problem", the category of topic "problem validity"); use one of council, mad`},
		"a protocol for two":        {"debate", `{"topic": "Q?", "preset": "experts", "protocol": "procon"}`, `- protocol: "procon" does not suit the preset (participants: 3 enabled, procon takes 2); use one of council, panel, refine, vote, or give participants`},
		"an unknown field":          {"debate", `{"topic": "Q?", "rounds": 2}`, `- rounds: the field is unknown, use one of after, background, budget, id,`},
		"another name of the topic": {"debate", `{"question": "Q?"}`, `- question: the field is unknown, use one of after, background, budget, id, options, participants, preset, protocol, topic`},
		"a wrong type":              {"debate", `{"topic": "Q?", "budget": {"rounds": "two"}}`, `- budget.rounds: "two" is not valid, use an integer`},
		"no object":                 {"debate_answer", `yes`, `- input: it is no JSON object: invalid character`},
		"half an object":            {"debate", `{"topic": "Q?"`, `- input: it is no JSON object: unexpected end of JSON input`},
		"too many rounds":           {"debate", `{"topic": "Q?", "preset": "panel", "budget": {"rounds": 3}}`, `- budget.rounds: 3 is out of bounds, use more than 0 and at most 2, or leave it out`},
		"negative minutes":          {"debate", `{"topic": "Q?", "preset": "panel", "budget": {"minutes": -1}}`, `- budget.minutes: -1 is out of bounds, use more than 0 and at most 60, or leave it out`},
		"too much time":             {"debate", `{"topic": "Q?", "preset": "priced", "budget": {"minutes": 2}}`, `- budget.minutes: 2 is out of bounds, use more than 0 and at most 1.5, or leave it out`},
		"negative tokens":           {"debate", `{"topic": "Q?", "preset": "panel", "budget": {"tokens": -1}}`, `- budget.tokens: -1 is not valid, use more than 0, or leave it out`},
		"too few tokens":            {"debate", `{"topic": "Q?", "preset": "panel", "budget": {"tokens": 10}}`, `- budget.tokens: too small for the first phase: `},
		"too high a cost":           {"debate", `{"topic": "Q?", "preset": "priced", "budget": {"cost": 3}}`, `- budget.cost: 3 is out of bounds, use more than 0 and at most 2, or leave it out`},
		"a cost without price":      {"debate", `{"topic": "Q?", "preset": "panel", "budget": {"cost": 3}}`, `- budget.cost: the preset knows no prices, leave it out and use tokens`},
		"one participant":           {"debate", `{"topic": "Q?", "preset": "panel", "participants": [{"name": "A"}]}`, `- participants: `},
		"equal names":               {"debate", `{"topic": "Q?", "preset": "people", "participants": [{"name": "A"}, {"name": "a"}]}`, `- participants[1].name: "a" is taken by participants[0]`},
		"too many":                  {"debate", `{"topic": "Q?", "preset": "panel", "participants": [{},{},{},{},{},{},{},{},{}]}`, `- participants: 9 are too many, use at most 8`},
		"an unknown id":             {"debate", `{"id": "x"}`, `- id: there is no debate "x"; use the id that an earlier call returned, or give a topic without an id`},
		"an unknown status":         {"debate_status", `{"id": "x"}`, `- id: there is no debate "x"`},
		"no id":                     {"debate_stop", `{}`, `- id: it is empty, give the id that an earlier call returned`},
		"a wrong id":                {"debate", `{"id": "a b", "topic": "Q?", "preset": "panel"}`, `- id: "a b" is not valid, use up to 128 letters`},
		"another topic":             {"debate", `{"id": "known", "topic": "R?"}`, `- topic: the debate "known" has another topic; leave out the topic to continue that debate, or leave out the id for a new one`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, store.Memory(), &model{}, debate.Config{}, debatetool.Options{Presets: presets})
				debatetest.Call(t, b.Run, debatetool.Input{ID: "known", Topic: "Q?", Preset: "panel"})
				tool := b.tool(t, test.tool)
				_, err := tool.Run(t.Context(), json.RawMessage(test.input))
				_, ok := errors.AsType[*debatetool.Error](err)
				require.True(t, ok, "%v", err)
				require.ErrorContains(t, err, "The call was refused. Correct these fields and call again:\n"+test.want)
				text := debatetest.Call(t, tool.Call, test.input)
				if test.input != "" && test.tool != "debate_answer" {
					require.Contains(t, text, test.want)
				}
			})
		})
	}
}

func TestTheInputShapesTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Background, c.Labels = "the preset's", map[string]string{"from": "preset"}
		c.Limits.MinRounds = 2
		c.Limits.Tokens = 900_000
		c.Participants[1].MaxTokens = 77
		c.Participants[1].Instructions = "Rhyme."
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{Labels: map[string]string{"user": "u"}})
		out := debatetest.Call(t, b.Start, debatetool.Input{
			Topic: "Q?", Background: "mine", Protocol: "procon",
			Participants: []debatetool.Participant{{Name: "Di", Side: "pro"}, {Name: "Ed", Side: "con", Role: "chemist"}},
			Budget:       debatetool.Budget{Rounds: 1, Minutes: 1.5, Tokens: 800_000},
		})
		d := debatetest.Open(t, b.engine, out.ID)
		var got debate.Config
		for s, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			if changed, ok := s.Event.(debate.ConfigChanged); ok {
				got, err = b.engine.ParseConfig(changed.Config)
				require.NoError(t, err)
			}
		}
		require.Equal(t, "Q?", got.Topic)
		require.Equal(t, "mine", got.Background)
		require.Equal(t, "procon/1", got.Protocol.Name())
		require.Equal(t, "Ed", got.Participants[1].Name)
		require.Equal(t, "chemist", got.Participants[1].Role)
		require.Equal(t, 77, got.Participants[1].MaxTokens)
		require.Empty(t, got.Participants[1].Instructions)
		require.Equal(t, map[string]string{"from": "preset", "user": "u"}, got.Labels)
		require.Equal(t, 1, got.Limits.MaxRounds)
		require.Equal(t, 90*time.Second, got.Limits.RunningTime)
		require.Equal(t, 800_000, got.Limits.Tokens)
		require.Equal(t, map[string]string{"from": "preset"}, c.Labels)
	})
}

// A toolset finds only the debates with its labels.
func TestLabelsSeparateUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.Memory()
		ann := sit(t, s, &model{}, debatetest.ShortPanel(2), debatetool.Options{Labels: map[string]string{"user": "ann"}})
		bob := sit(t, s, &model{}, debatetest.ShortPanel(2), debatetool.Options{Labels: map[string]string{"user": "bob"}})
		out := debatetest.Call(t, ann.Run, ask)
		_, err := bob.Result(t.Context(), out.ID)
		require.ErrorContains(t, err, "there is no debate")
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = bob.Open(t.Context(), out.ID)
		require.ErrorContains(t, err, "there is no debate")
		d, err := ann.Open(t.Context(), out.ID)
		require.NoError(t, err)
		require.Equal(t, out.ID, d.ID())
		_, err = bob.Run(t.Context(), debatetool.Input{ID: out.ID, Topic: "Ban cars?"})
		require.ErrorContains(t, err, "there is no debate")
	})
}

// An agent gives plain text, often with an invented result.
func TestACallTakesPlainText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		text := debatetest.Call(t, b.tool(t, "debate").Call, " \"Tea?\"\nObservation: Yes.\nThought: So")
		require.Regexp(t, `^Debate tool-\w+: completed, round limit in round 2\.\n`, text)
		id := strings.TrimSuffix(strings.Fields(text)[1], ":")
		status := debatetest.Call(t, b.tool(t, "debate_status").Call, id)
		require.Contains(t, status, "begin: Ada, round 1>>>\nI say yes.\n")
		for _, s := range debatetest.List(t, b.engine, store.Query{}) {
			require.Equal(t, "Tea?", s.Topic)
		}
	})
}

func TestTheEndOfTheContextEndsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		_, err := b.tool(t, "debate").Call(ctx, "Tea?")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "call debate: ")
	})
}

// failingStore fails all reads.
type failingStore struct{ store.Store }

func (failingStore) Load(context.Context, string, int64) (store.Status, []store.Entry, error) {
	return store.Status{}, nil, errors.New("the disk is full")
}

func TestTransientErrorsSayToCallAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, failingStore{store.Memory()}, &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		for _, call := range []func() (debatetool.Output, error){
			func() (debatetool.Output, error) { return b.Run(t.Context(), debatetool.Input{ID: "x"}) },
			func() (debatetool.Output, error) { return b.Result(t.Context(), "x") },
		} {
			_, err := call()
			require.ErrorContains(t, err, "the disk is full.\nCall again with \"id\": \"x\" and otherwise the same input.")
		}
		closed := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		require.NoError(t, closed.engine.Close(t.Context()))
		_, err := closed.Run(t.Context(), debatetool.Input{ID: "x", Topic: "Q?"})
		require.ErrorIs(t, err, debate.ErrClosed)
		require.ErrorContains(t, err, `Call again with "id": "x" and otherwise the same input.`)
	})
}

func TestNewChecksItsOptions(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{})
	for want, try := range map[string]func() (*debatetool.Toolset, error){
		"make debate tools: the engine is nil": func() (*debatetool.Toolset, error) { return debatetool.New(nil, debatetool.Options{}) },
		"make debate tools: MaxWait is -1s, want 0 or more": func() (*debatetool.Toolset, error) {
			return debatetool.New(e, debatetool.Options{MaxWait: -time.Second})
		},
		"make debate tools: MaxText is -1, want 0 or more": func() (*debatetool.Toolset, error) { return debatetool.New(e, debatetool.Options{MaxText: -1}) },
	} {
		_, err := try()
		require.EqualError(t, err, want)
	}
}
