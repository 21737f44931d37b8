package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/core"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// An engine runs a debate of each preset. The core then runs it alone, with the replies of models, and without a look at what the
// engine has decided: it says which step is next, and which events follow from each act. Both have the same events.
func TestTheCoreRunsADebateAlone(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := events(t, cfg)
			run := newRun(t, want)
			run.decide(&core.Act{Kind: journal.ActCreate, Given: want[0]})
			run.decide(&core.Act{Kind: journal.ActStart})
			run.decide(&core.Act{Kind: journal.ActCheck, Check: run.found})
			for run.state.Lifecycle.State.Active() {
				run.step()
			}
			require.Equal(t, fsm.Completed, run.state.Lifecycle.State)
			require.Equal(t, described(t, want), described(t, run.events))
		})
	}
}

// A run drives a debate with nothing but its state.
type run struct {
	*testing.T

	state  *core.State
	now    time.Time
	events []journal.Event
	turns  map[transcript.Key]journal.TurnDone // what models say
	found  journal.StateChanged                // what an engine's check of the configuration has found
}

// newRun returns the run of a debate whose models say what they say in the given events.
func newRun(t *testing.T, of []journal.Event) *run {
	t.Helper()
	x := &run{
		T:     t,
		now:   at(of[0]),
		turns: map[transcript.Key]journal.TurnDone{},
	}
	for _, ev := range of {
		switch ev := ev.(type) {
		case journal.TurnDone:
			x.turns[ev.Turn.Key] = ev
		case journal.StateChanged:
			if ev.On == fsm.Accept {
				x.found = journal.StateChanged{Warnings: ev.Warnings, ReplyTokens: ev.ReplyTokens, Windows: ev.Windows}
			}
		}
	}
	x.state = core.NewState("d", environment(t))
	return x
}

// decide makes the change that an act leads to, a second later.
func (x *run) decide(a *core.Act) {
	x.Helper()
	x.now = x.now.Add(time.Second)
	c := core.NewChange(x.state, x.now)
	require.NoError(x, c.Decide(a))
	x.events = append(x.events, c.Events...)
}

// step has a model reply to the first of the next steps, in the order in which the engine had the replies.
func (x *run) step() {
	x.Helper()
	steps := x.state.Next()
	require.NotEmpty(x, steps)
	first := slices.MinFunc(steps, func(a, b protocol.Step) int { return int(x.turns[a.Key].Seq - x.turns[b.Key].Seq) })
	said, ok := x.turns[first.Key]
	require.True(x, ok, "the engine has no turn %s", first.Key)
	said.Turn.Seq = x.state.Seq + 1
	said.Rules = nil
	said.Seq = said.Turn.Seq
	said.At = x.now.Add(time.Second)
	x.decide(&core.Act{Kind: journal.ActTurn, Given: said})
}

// at returns when an event happened.
func at(ev journal.Event) time.Time {
	_, at := journal.KeyAndTime(ev)
	return at
}

// environment returns what a state needs of an engine: the protocols, contracts and templates of the library.
func environment(t *testing.T) *core.Environment {
	t.Helper()
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	known := protocols.NewRegistry()
	contracts := map[string]*reply.Contract{}
	for _, c := range protocols.Contracts() {
		contracts[c.Name()] = c
	}
	env := *core.NoEnvironment
	env.Sets = map[string]*prompts.Set{"": set}
	env.Contract = func(name string) *reply.Contract { return contracts[name] }
	env.Bind = func(name string) (string, providers.Provider, error) { return name, nil, nil }
	env.Parse = func(b json.RawMessage) (journal.Config, error) {
		c, encoded, err := journal.StoredConfig(b)
		if err == nil {
			c.Protocol, err = known.Decode(c.ID, encoded, protocols.Has)
		}
		return c, err
	}
	return &env
}

// model replies as the debate's contracts ask.
type model struct{ debate.Config }

// Generate implements providers.Provider.
func (m model) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	return providers.Response{Text: enginetest.PresetReply(m.Config, r)}, nil
}

// events returns the journal of a debate that an engine has run.
func events(t *testing.T, cfg debate.Config) (list []journal.Event) {
	t.Helper()
	cfg.ID = "d"
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: map[string]providers.Provider{"m": model{cfg}}})
	require.NoError(t, err)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if !ev.Meta().Live {
			list = append(list, ev)
		}
	}
	entries, err := d.Entries(t.Context())
	require.NoError(t, err)
	first, err := journal.DecodeEntry(entries[0]) // with the secret
	require.NoError(t, err)
	return append([]journal.Event{first}, list...)
}

// described returns events as JSON, without the times.
func described(t *testing.T, list []journal.Event) (lines []string) {
	t.Helper()
	for _, ev := range list {
		b, err := json.Marshal(ev)
		require.NoError(t, err)
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal(b, &fields))
		delete(fields, "at")
		delete(fields, "started")
		b, err = json.Marshal(fields)
		require.NoError(t, err)
		lines = append(lines, fmt.Sprintf("%T %s", ev, b))
	}
	return lines
}
