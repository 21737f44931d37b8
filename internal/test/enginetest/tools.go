package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

var toolTests = map[string]func(*env){
	"a debate with tools that loses its process at any commit goes on after the last committed round": (*env).toolsInterrupted,
}

// toolRounds is the number of rounds of tool calls in each step.
const toolRounds = 2

// toolRuns counts the calls of tools that ran, by the ID of the call.
type toolRuns struct {
	mu  sync.Mutex
	ran map[string]int
}

// use gives a process a tool that may run again and one that must not, and a model that calls both in each round.
func (c *toolRuns) use(s *env) func(*debate.Options) {
	return func(o *debate.Options) {
		type question struct {
			Q string `json:"q"`
		}
		run := func(ctx context.Context, name string, q question) (tool.Result, error) {
			call, ok := tool.CallFrom(ctx)
			require.True(s, ok)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ran[call.ID]++
			list := []tool.Source{{URI: "file:" + q.Q, Text: q.Q}}
			if name == "look" {
				list = append(list, tool.Source{Text: call.ID})
			}
			return tool.Result{Text: "It is " + q.Q, Sources: list}, nil
		}
		for _, spec := range []tool.Spec{{Name: "look", Description: "Looks.", Fresh: true}, {Name: "order", Description: "Orders.", Once: true}} {
			o.Tools = append(o.Tools, tool.Func(spec, func(ctx context.Context, q question) (tool.Result, error) { return run(ctx, spec.Name, q) }))
		}
		o.Providers["m"].(*model).alter = callTools
	}
}

// callTools replaces a reply with calls until a step has its rounds.
func callTools(r providers.Request, reply scripted.Reply, _ int) scripted.Reply {
	done := 0
	for _, m := range r.Messages {
		if len(m.Parts) > 0 && m.Parts[0].ToolResult != nil {
			done++
		}
	}
	if !r.MayCallTools() || done == toolRounds {
		return reply
	}
	reply = scripted.Reply{Text: "Let me look."}
	for i, name := range []string{"look", "order"} {
		reply.ToolCalls = append(reply.ToolCalls, providers.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(fmt.Sprintf(`{"q":"%d"}`, done))})
	}
	return reply
}

// toolsInterrupted loses the process of a debate before and after each commit.
func (s *env) toolsInterrupted() {
	s.forEachMode(func(s *env, cfg debate.Config, _ reference) {
		for _, p := range []*debate.Participant{&cfg.Participants[0], &cfg.Participants[1], &cfg.Judges[0]} {
			p.Tools = []string{"look", "order"}
		}
		id := cfg.ID
		undisturbed := func() (text string, numbers map[string]int, commits int) {
			m := &failingStore{Store: store.Memory()}
			runs := &toolRuns{ran: map[string]int{}}
			p := s.newProcessOver(m, runs.use(s))
			d := s.create(p, cfg)
			s.runToEnd(d)
			require.Len(s, runs.ran, 2*toolRounds*len(s.result(d).Turns))
			return s.transcript(d), s.numbers(p, cfg.ID), int(m.commits.Load()) - 1
		}
		_, _, commits := undisturbed()
		moments := s.moments()
		for n := 1; n <= commits; n++ {
			for when, after := range map[string]bool{"before": false, "after": true} {
				if !moments.Tries(when) {
					continue
				}
				cfg.ID = fmt.Sprint(id, n, when)
				s.runSubtest(fmt.Sprint(when, " commit ", n), func(s *env) {
					s.toolsInterruptedAt(cfg, &failingStore{failAt: int64(n), afterCommit: after}, undisturbed)
				})
			}
		}
	})
}

func (s *env) toolsInterruptedAt(cfg debate.Config, fails *failingStore, undisturbed func() (string, map[string]int, int)) {
	before, after := &toolRuns{ran: map[string]int{}}, &toolRuns{ran: map[string]int{}}
	s.create(s.newProcess(before.use(s)), cfg)
	fails.Store = s.backend.Open(s)
	o := s.runDebate(s.open(s.newProcessOver(fails, before.use(s)), cfg.ID))
	require.ErrorIs(s, o.err, errDisk)

	p := s.newProcess(after.use(s))
	d := s.open(p, cfg.ID)
	stood := s.calls(p, cfg.ID)
	turns := s.result(d).Turns
	s.runToEnd(d)
	want, numbers, _ := undisturbed()
	require.Equal(s, want, s.transcript(d))
	require.Equal(s, numbers, s.numbers(p, cfg.ID), "the sources have the same numbers")
	s.requireNoRepeatedCalls(p, turns)
	s.requireJournalValid(cfg.ID)
	for _, c := range stood {
		if c.Done {
			require.Zero(s, after.ran[c.ID], "a call with a committed result runs again")
		}
	}
	for _, c := range s.calls(p, cfg.ID) {
		require.True(s, c.Done)
		if c.Name == "order" {
			require.LessOrEqual(s, before.ran[c.ID]+after.ran[c.ID], 1, "a call that must not run twice does")
		}
	}
}

// calls returns the last record of each call of a tool.
func (s *env) calls(p *process, id string) map[string]tool.Record {
	list := map[string]tool.Record{}
	s.rounds(p, id, func(round debate.ToolsCalled) {
		for _, c := range round.Calls {
			list[c.ID] = c
		}
	})
	return list
}

// rounds calls f with each entry of a journal that has calls of tools.
func (s *env) rounds(p *process, id string, f func(debate.ToolsCalled)) {
	j, err := archive.Export(s.ctx, p.store, id)
	require.NoError(s, err)
	for _, e := range j.Entries {
		ev, err := debate.ParseEvent(e.Data.(json.RawMessage))
		require.NoError(s, err)
		if round, ok := ev.(debate.ToolsCalled); ok {
			f(round)
		}
	}
}

// numbers returns the numbers of the sources of a debate, by the step, the round, the call and the place in its result. A call
// that must not run twice may have no result.
func (s *env) numbers(p *process, id string) map[string]int {
	list := map[string]int{}
	s.rounds(p, id, func(round debate.ToolsCalled) {
		for i, c := range round.Calls {
			for j, x := range c.Sources {
				if require.Positive(s, x.Number); c.Name != "look" {
					continue
				}
				list[fmt.Sprint(round.Key, " ", round.Number, " ", i, " ", j)] = x.Number
			}
		}
	})
	return list
}
