package evidencetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// question holds the arguments of a tool.
type question struct {
	Q string `json:"q"`
}

// specs are tools of which only the first may run again.
var specs = []tool.Spec{{Name: "look"}, {Name: "order", Once: true}, {Name: "ask", Approval: true}}

// withLook adds the tools to an engine. calls counts the calls.
func withLook(o *debate.Options, calls *int) {
	for _, s := range specs {
		s.Description = "Looks."
		o.Tools = append(o.Tools, tool.Func(s, func(context.Context, question) (string, error) {
			*calls++
			return "It is so.", nil
		}))
	}
}

// A step that reads a private document has no entry for its calls, so only tools that may run again can be its tools.
func TestToolsOfReadersAreRepeatable(t *testing.T) {
	calls := 0
	for name, tt := range map[string]struct {
		change func(*debate.Config)
		want   string // empty if it is allowed
	}{
		"a reader, repeatable": {func(c *debate.Config) { c.Participants[0].Tools = []string{"look"} }, ""},
		"a reader, once":       {func(c *debate.Config) { c.Participants[0].Tools = []string{"look", "order"} }, `participants[0].tools: "order" must be repeatable`},
		"a reader, approval":   {func(c *debate.Config) { c.Participants[0].Tools = []string{"ask"} }, `participants[0].tools: "ask" must be repeatable and need no approval, because A reads a private document`},
		"no reader":            {func(c *debate.Config) { c.Participants[1].Tools = []string{"order", "ask"} }, ""},
		"a judge": {func(c *debate.Config) {
			c.Judges[0].Tools, c.Documents[1].Readers = []string{"order"}, []string{"A", "J"}
		}, `judges[0].tools: "order"`},
		"everybody": {func(c *debate.Config) {
			c.Participants[1].Tools, c.Documents[1].Readers = []string{"order"}, []string{"*"}
		}, `participants[1].tools: "order"`},
		"a shared document": {func(c *debate.Config) { c.Participants[0].Tools, c.Documents = []string{"order"}, c.Documents[:1] }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := pair()
			tt.change(&cfg)
			e, _ := engine(t, pair(), func(o *debate.Options) { withLook(o, &calls) })
			_, err := e.Create(t.Context(), cfg)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			d := debatetest.Create(t, e, pair())
			plain := cfg
			plain.Documents = pair().Documents // no readers are added
			if plain.Participants[0].Tools != nil {
				require.ErrorContains(t, d.Edit(t.Context(), plain), tt.want)
				_, err = e.Fork(t.Context(), "d", 0, debate.Edits{ID: "f", Config: &plain})
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

// An engine whose tools have other properties leaves such a debate alone.
func TestAnEngineWhoseToolMustNotRunAgainLeavesTheDebateAlone(t *testing.T) {
	calls, kept := 0, store.Memory()
	cfg := pair()
	cfg.Participants[0].Tools = []string{"order"}
	first, _ := engine(t, cfg, func(o *debate.Options) { o.Store = kept }) // it has no tools: another engine drives
	debatetest.Create(t, first, cfg)
	second, m := engine(t, cfg, func(o *debate.Options) { o.Store = kept; withLook(o, &calls) })
	d := debatetest.Open(t, second, "d")
	err := run(t, d)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, `"order" must be repeatable`)
	require.Empty(t, m.requests)
	require.Zero(t, calls)
}

// caller is a model that calls a tool once in each step.
type caller struct{ *recorded }

// Generate implements providers.Provider.
func (m caller) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	called := func(x providers.Message) bool { return len(x.Parts) > 0 && x.Parts[0].ToolResult != nil }
	if r.MayCallTools() && !slices.ContainsFunc(r.Messages, called) {
		s, _ := debate.StepFrom(ctx)
		return providers.Response{FinishReason: providers.ToolCalls, Parts: []providers.Part{{ToolCall: &providers.ToolCall{
			ID: "1", Name: "look", Arguments: json.RawMessage(fmt.Sprintf(`{"q":"%s"}`, s.Key.Phase)),
		}}}}, nil
	}
	return m.recorded.Generate(ctx, r)
}

// The journal has the rounds of public steps, and no round of a private one. A prompt of the past says that they are missing.
func TestPrivateStepsCommitNoRounds(t *testing.T) {
	calls, kept := 0, store.Memory()
	cfg := pair()
	cfg.Participants[0].Tools, cfg.Participants[1].Tools = []string{"look"}, []string{"look"}
	e, _ := engine(t, cfg, func(o *debate.Options) {
		o.Store = kept
		o.Providers["m"] = caller{&recorded{cfg: cfg, requests: map[string][]providers.Request{}}}
		withLook(o, &calls)
	})
	d := debatetest.Create(t, e, cfg)
	require.NoError(t, run(t, d))
	require.Positive(t, calls)

	rounds := map[string]int{}
	j, err := archive.Export(t.Context(), kept, "d")
	require.NoError(t, err)
	for _, entry := range j.Entries {
		ev, err := debate.ParseEvent(entry.Data.(json.RawMessage))
		require.NoError(t, err)
		if called, ok := ev.(debate.ToolsCalled); ok {
			rounds[called.Key.Actor]++
		}
	}
	r := debatetest.Result(t, d)
	turns := map[string]int{}
	for _, turn := range r.Turns {
		if turn.Kind != transcript.Speech {
			continue
		}
		turns[turn.Actor]++
		require.Len(t, turn.Attempts, 2, "%s", turn.Key)
		p := debatetest.PromptOf(t, d, turn.Key)
		if turn.Actor == "A" {
			require.Equal(t, []string{"the round of tool calls of attempt 1 is not kept"}, p.Missing)
		} else {
			require.Empty(t, p.Missing)
		}
	}
	require.Equal(t, map[string]int{"B": turns["B"]}, rounds)
	require.Positive(t, turns["A"])
	private := 0
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		if slices.Contains(c.Missing, "it reads private documents, which no journal has") {
			private++
		}
	}
	require.Equal(t, turns["A"], private, "only the reader's steps cannot be derived")
}
