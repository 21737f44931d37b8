package rounds

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

var ada = transcript.Key{Run: 1, Round: 1, Phase: "speech", Actor: "Ada"}

func entry(number int, calls ...tool.Record) *journal.ToolsCalled {
	return &journal.ToolsCalled{
		Key: ada, Number: number, Calls: calls,
		Attempts: []transcript.Attempt{{Usage: transcript.Usage{Input: 10}}},
	}
}

func results(number int, calls ...tool.Record) *journal.ToolsCalled {
	return &journal.ToolsCalled{Key: ada, Number: number, Calls: calls}
}

func call(text string) tool.Record {
	return tool.Record{ID: "c", Name: "look", Arguments: json.RawMessage(`{}`), Text: text, Done: text != ""}
}

func TestEntriesFollowOneAnother(t *testing.T) {
	for name, tt := range map[string]struct {
		before []*journal.ToolsCalled
		next   *journal.ToolsCalled
		wrong  string
	}{
		"the first round":  {nil, entry(1, call("")), ""},
		"a round too many": {nil, entry(2, call("")), "it is round 2 of the tool calls of its step, want 1"},
		"no calls":         {nil, entry(1), "it has no calls"},
		"results":          {[]*journal.ToolsCalled{entry(1, call(""))}, results(1, call("x")), ""},
		"other calls": {
			[]*journal.ToolsCalled{entry(1, call(""))},
			results(1, call("x"), call("y")),
			"it does not continue round 1",
		},
		"before the results":  {[]*journal.ToolsCalled{entry(1, call(""))}, entry(2, call("")), "it is round 2"},
		"the round after one": {[]*journal.ToolsCalled{entry(1, call("x"))}, entry(2, call("")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var all Rounds
			for _, r := range tt.before {
				all.Add(r)
			}
			if err := all.Check(tt.next); tt.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.wrong)
			}
		})
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	var all Rounds
	none := transcript.Usage{}
	all.Add(entry(1, call("x")))
	require.Equal(t, 10, all.AddTo(none).Input)
	all.Failed(ada, []transcript.Attempt{{}})
	require.Zero(t, all.AddTo(none).Input, "the failure has it")
	all.Add(entry(2, call("y")))
	require.Equal(t, 10, all.AddTo(none).Input)
	require.Equal(t, 1, all.Of(ada).Counted)
	require.Equal(t, 20, all.Of(ada).Usage().Input, "of all rounds")
	require.Equal(t, 20, all.InPhase(ada).Input)
	require.Zero(t, all.InPhase(transcript.Key{Phase: "another"}))
	require.Equal(t, 10, all.End(ada, nil).Input, "a person has replied, so no turn has it")
	require.Zero(t, all.AddTo(none).Input)
	require.Nil(t, all.Of(ada).Last())
	require.Zero(t, all.Of(ada).Usage())
}

// newCaller returns the caller of a step with a tool that answers, one that may run only once, and one that a person approves.
func newCaller(t *testing.T) *Caller {
	t.Helper()
	var list []tool.Tool
	for _, s := range []tool.Spec{{Name: "look"}, {Name: "order", Once: true}, {Name: "buy", Approval: true}} {
		s.Schema = json.RawMessage(`{"type":"object"}`)
		list = append(list, given{s})
	}
	set, err := toolcall.Compile(list)
	require.NoError(t, err)
	return &Caller{Set: set, Names: []string{"look", "order", "buy"}, Limits: toolcall.Limits{Calls: 2, Bytes: 1000, Timeout: time.Minute}}
}

type given struct{ spec tool.Spec }

func (g given) Spec() tool.Spec { return g.spec }

func (g given) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Text: g.spec.Name + " answers"}, nil
}

func asked(names ...string) *step.Calls {
	c := &step.Calls{Round: &step.Round{Attempts: make([]transcript.Attempt, 2)}, Number: 1, Room: 1000, Time: time.Minute}
	for _, name := range names {
		c.Parts = append(
			c.Parts,
			providers.Part{ToolCall: &providers.ToolCall{Name: name, Arguments: json.RawMessage(`{"of":["Debater A",1.0]}`)}},
		)
	}
	return c
}

func newCalls(b *Caller, all *Rounds, c *step.Calls) []tool.Record {
	reveal := func(s string) string { return strings.ReplaceAll(s, "Debater A", "Bo") }
	return b.New("d", ada, c, reveal, func(f func(*Rounds)) { f(all) })
}

func TestARoundOfCalls(t *testing.T) {
	var all Rounds
	b, c := newCaller(t), asked("look", "order", "look")
	calls := newCalls(b, &all, c)
	require.JSONEq(t, `{"of":["Bo",1.0]}`, string(calls[0].Arguments), "tools know no pseudonyms")
	require.NotEqual(t, calls[0].ID, calls[1].ID)
	require.Equal(t, calls[0].ID, newCalls(b, &all, c)[0].ID, "each process makes the same IDs")
	require.True(t, calls[2].Done, "the step may make two calls")
	require.False(t, b.Decide(calls))
	require.True(t, b.BeginOnce(calls))
	require.False(t, calls[0].Begun)
	require.True(t, calls[1].Begun)
	require.Equal(t, 2, b.Attempt(c))
	length := func(r *tool.Record) int { return len(r.Text) }
	require.NoError(t, b.Run(t.Context(), calls, c, length, func(ctx context.Context, _ *tool.Record) (context.Context, func(error)) {
		return ctx, func(error) {}
	}))
	require.Equal(t, []step.Result{{Text: "look answers"}, {Text: "order answers"}}, Results(calls)[:2])
	all.Add(entry(1, calls...))
	require.Equal(t, "look answers", all.Result(&calls[0]).Text)
	require.Empty(t, Hide(&calls[0]).Text)
	require.Equal(t, len("look answers"), Hide(&calls[0]).Size)
}

func TestACallThatHadBegunIsNotRepeated(t *testing.T) {
	var all Rounds
	calls := newCalls(newCaller(t), &all, asked("order"))
	calls[0].Begun = true
	all.Add(entry(1, calls...))
	b := newCaller(t)
	b.ContinueFrom(&all, all.Of(ada))
	calls = b.Pending()
	require.Nil(t, b.Pending())
	require.False(t, b.BeginOnce(calls))
	require.True(t, calls[0].Done)
	require.NotEmpty(t, calls[0].Error)
}

func TestAPersonDecides(t *testing.T) {
	for name, d := range map[string]Decision{"approved": {}, "refused": {Refused: true, Reason: "too dear"}} {
		t.Run(name, func(t *testing.T) {
			var all Rounds
			b := newCaller(t)
			calls := newCalls(b, &all, asked("buy"))
			require.True(t, b.Decide(calls))
			all.Add(entry(1, calls...))
			steps := []protocol.Step{{Key: ada}}
			_, c := all.Awaited(steps)
			require.Equal(t, calls[0].ID, c.ID)
			all.Decide(c.ID, d)
			_, c = all.Awaited(steps)
			require.Nil(t, c)
			b = newCaller(t)
			b.ContinueFrom(&all, all.Of(ada))
			calls = b.Pending()
			require.False(t, b.Decide(calls))
			require.Equal(t, d.Refused, calls[0].Done)
			require.Len(t, all.Of(ada).Plan(), 1)
			require.Nil(t, all.Of(ada).Plan()[0].Results)
		})
	}
}

func TestAnEntryHasNoRoomForLongSources(t *testing.T) {
	long := strings.Repeat("x", maxRound)
	calls := []tool.Record{{Sources: []tool.Source{{URI: "a", Text: "short"}, {URI: "b", Text: long}}}}
	FitSources(nil, calls)
	require.Equal(t, "short", calls[0].Sources[0].Text)
	require.Empty(t, calls[0].Sources[1].Text)
	require.Equal(t, len(long), calls[0].Sources[1].Size)
	require.NotEmpty(t, calls[0].Sources[1].SHA256)
}

func TestArgumentsThatAreNoJSONStay(t *testing.T) {
	same := func(s string) string { return s }
	require.Equal(t, `{"a":`, string(revealArguments(json.RawMessage(`{"a":`), same)))
	require.Equal(t, `{"a": 1}`, string(revealArguments(json.RawMessage(`{"a": 1}`), same)), "unchanged to the byte")
}
