package forktest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// requirePrompts requires that the journal is valid, and that PromptOf rebuilds the last request of each step that a model was asked for.
func requirePrompts(t *testing.T, d *debate.Debate, calls map[transcript.Key][]providers.Request) {
	t.Helper()
	require.NoError(t, d.Verify(t.Context()))
	derivedtest.Require(t, d)
	for _, turn := range debatetest.Result(t, d).Turns {
		if len(turn.Attempts) == 0 {
			continue
		}
		p := debatetest.PromptOf(t, d, turn.Key)
		require.Empty(t, p.Missing, turn.Key.String())
		require.Equal(t, "equal", p.Match, turn.Key.String())
		list := calls[turn.Key]
		require.Equal(t, list[len(list)-1], p.Request, turn.Key.String())
	}
	requireHashes(t, d, calls)
	requireWords(t, d, calls)
}

// requireHashes requires that the journal has a hash of each call, also of calls that failed, of rounds of tool calls and of
// summaries after an overflow.
func requireHashes(t *testing.T, d *debate.Debate, calls map[transcript.Key][]providers.Request) {
	t.Helper()
	seen, made := map[string]bool{}, 0
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, timed := v["duration"]; timed && v["usage"] != nil {
				hash, _ := v["hash"].(string)
				require.Len(t, hash, 43, "%v", v)
				seen[hash] = true
			}
			for _, x := range v {
				look(x)
			}
		case []any:
			for _, x := range v {
				look(x)
			}
		}
	}
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		var fields any
		require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, m.Event)), &fields))
		look(fields)
	}
	for _, list := range calls {
		made += len(list)
	}
	require.GreaterOrEqual(t, len(seen), made)
}

// counter counts tokens in another way.
type counter struct{ factor float64 }

func (c counter) Count(_, text string) int { return int(c.factor * float64(window.Estimate(text))) }

// requireWords requires that an engine without providers, or with another way to count tokens, rebuilds the same requests or says
// why it cannot. It returns how often it took a cut from a turn's Window.
func requireWords(t *testing.T, d *debate.Debate, calls map[transcript.Key][]providers.Request) (recut int) {
	t.Helper()
	made, known := options.Load(d)
	if !known {
		return 0
	}
	for _, c := range []window.TokenCounter{nil, counter{0.2}, counter{3}} {
		o := debate.Options{Store: made.(debate.Options).Store, TokenCounter: c}
		e := debatetest.Engine(t, o)
		other := debatetest.Open(t, e, d.ID())
		for _, turn := range debatetest.Result(t, d).Turns {
			if len(turn.Attempts) == 0 {
				continue
			}
			p := debatetest.PromptOf(t, other, turn.Key)
			if c != nil && p.Missing != nil {
				require.Greater(t, len(turn.Attempts), 1, "%s: %s", turn.Key, p.Missing)
				continue
			}
			require.Empty(t, p.Missing, turn.Key.String())
			require.Equal(t, "equal", p.Match, turn.Key.String())
			list := calls[turn.Key]
			require.Equal(t, list[len(list)-1], p.Request, "%s, %v", turn.Key, c)
			if p.OtherCounter {
				recut++
			}
			require.False(t, c == nil && p.OtherCounter)
		}
		require.NoError(t, e.Close(t.Context()))
	}
	return recut
}

// In small windows, each manager cuts histories, and the calibration of the models moves the cut.
func TestPromptsInWindows(t *testing.T) {
	for _, manager := range []window.Manager{window.Truncate, window.Sliding, window.Summarize, window.Hybrid} {
		for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
			t.Run(fmt.Sprint(manager, " ", mode), func(t *testing.T) {
				cfg := lifeConfig()
				cfg.Protocol, cfg.History = panel.Protocol{Mode: mode, Format: panel.RoundLimited}, window.Policy{Manager: manager, AllowSummaries: manager == window.Hybrid}
				cfg.Limits = debate.Limits{MaxRounds: 6, StepTokens: 500, JudgeTokens: 500}
				for i := range cfg.Participants {
					cfg.Participants[i].Window = 3500 + 500*i
				}
				for i := range cfg.Judges {
					cfg.Judges[i].Window = 4500
				}
				e, m := newEngine(t, cfg)
				m.alter = func(key transcript.Key, n int, reply *scripted.Reply) {
					reply.Usage = transcript.Usage{Input: 2000 + 100*len(key.Actor)*key.Round, Output: 300}
					if !strings.HasPrefix(reply.Text, "{") {
						reply.Text = strings.Repeat(reply.Text+" ", 80)
					}
				}
				d := create(t, e, cfg)
				run(t, d)
				omitted, summaries := 0, 0
				for _, turn := range debatetest.Result(t, d).Turns {
					if turn.Window != nil {
						omitted, summaries = omitted+turn.Window.Omitted, summaries+turn.Window.Summarized
					}
				}
				require.Positive(t, omitted+summaries, "the windows are too large for this test")
				calls := m.take()
				requirePrompts(t, d, calls)
				require.Positive(t, requireWords(t, d, calls), "no cut is taken from a turn's Window")
				requireLeftOut(t, d)
			})
		}
	}
}

// requireLeftOut requires that PromptOf tells which turns the window of each step left out or summarized.
func requireLeftOut(t *testing.T, d *debate.Debate) {
	t.Helper()
	r, at := debatetest.Result(t, d), map[int64]int{}
	for i, turn := range r.Turns {
		at[turn.Seq] = i
	}
	for _, turn := range r.Turns {
		p := debatetest.PromptOf(t, d, turn.Key)
		w := transcript.Window{}
		if turn.Window != nil && turn.Kind != transcript.Summary { // that of a summary is the one that led to it
			w = *turn.Window
		}
		require.Len(t, p.Omitted, w.Omitted, turn.Key)
		require.Len(t, p.Summarized, w.Summarized, turn.Key)
		last := -1
		for _, seq := range slices.Concat(p.Summarized, p.Omitted) {
			require.Contains(t, at, seq, "entry %d is no turn", seq)
			require.Less(t, last, at[seq], "the turns are in order")
			last = at[seq]
			require.NotContains(t, text(p.Request), r.Turns[last].Text, "%s, entry %d", turn.Key, seq)
		}
	}
}

// attempts describes a debate whose steps need several attempts.
type attempts struct {
	change func(*debate.Config)
	keep   bool // Options.KeepReplies
	alter  func(key transcript.Key, n int, reply *scripted.Reply)
	// missing is in Prompt.Missing of the steps that needed several attempts; empty if their requests are rebuilt.
	missing string
}

func overflow(times int) func(transcript.Key, int, *scripted.Reply) {
	return func(key transcript.Key, n int, reply *scripted.Reply) {
		if key.Round == 3 && key.Actor == "C" && n <= times {
			*reply = scripted.Reply{Err: &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}}
		}
	}
}

// severalAttempts returns debates whose steps need several attempts.
func severalAttempts() map[string]attempts {
	broken := func(text string) func(transcript.Key, int, *scripted.Reply) {
		return func(key transcript.Key, n int, reply *scripted.Reply) {
			if key.Actor == "J" && n == 1 {
				reply.Text = text
			}
		}
	}
	summarize := func(c *debate.Config) { c.OnOverflow = debate.OverflowSummarize }
	return map[string]attempts{
		"an overflow":                          {alter: overflow(1)},
		"two overflows":                        {alter: overflow(2)},
		"a summary after an overflow":          {change: summarize, keep: true, alter: overflow(1)},
		"a summary, and another overflow":      {change: summarize, keep: true, alter: overflow(3)},
		"a summary that is not kept":           {change: summarize, alter: overflow(1), missing: "summary"},
		"an invalid reply":                     {keep: true, alter: broken(`{"reasoning": "x"}`)},
		"an invalid reply that is not kept":    {alter: broken(`{"reasoning": "x"}`), missing: "invalid reply of attempt 1"},
		"an empty reply":                       {alter: func(_ transcript.Key, n int, reply *scripted.Reply) { blank(n, reply) }},
		"a cut reply that is not kept":         {alter: func(_ transcript.Key, n int, reply *scripted.Reply) { cut(n, reply) }},
		"an empty reply that is not cut":       {change: retries, alter: func(_ transcript.Key, n int, reply *scripted.Reply) { empty(n, reply) }},
		"a cut reply":                          {keep: true, alter: func(_ transcript.Key, n int, reply *scripted.Reply) { cut(n, reply) }},
		"a substitute":                         {change: substitute(0), alter: fails},
		"a substitute with a smaller window":   {change: substitute(4200), alter: fails},
		"reasoning that is refused":            {alter: refuses(providers.InvalidRequest)},
		"reasoning that is too long":           {alter: refuses(providers.ContextOverflow)},
		"a failure of the service":             {change: retries, alter: fails},
		"an overflow of a judge, a substitute": {change: substitute(4200), alter: overflows},
	}
}

func TestPromptsOfSeveralAttempts(t *testing.T) {
	for name, a := range severalAttempts() {
		t.Run(name, func(t *testing.T) { synctest.Test(t, a.require) }) // retries wait
	}
}

// debate runs the debate.
func (a attempts) debate(t *testing.T) (*debate.Debate, *recorder) {
	cfg := lifeConfig()
	cfg.Limits.MaxRounds, cfg.Protocol = 3, panel.Protocol{Format: panel.RoundLimited}
	if a.change != nil {
		a.change(&cfg)
	}
	e, m := newEngine(t, cfg, func(o *debate.Options) { o.KeepReplies = a.keep; o.Providers["n"] = o.Providers["m"] })
	m.alter = a.alter
	d := create(t, e, cfg)
	run(t, d)
	return d, m
}

// require requires that the prompts of a debate with several attempts are rebuilt.
func (a attempts) require(t *testing.T) {
	d, m := a.debate(t)
	several := 0
	calls := m.take()
	for _, turn := range debatetest.Result(t, d).Turns {
		if len(turn.Attempts) == 1 {
			continue
		}
		several++
		if a.missing != "" {
			p := debatetest.PromptOf(t, d, turn.Key)
			require.Contains(t, strings.Join(p.Missing, ""), a.missing)
		}
	}
	require.Positive(t, several)
	if a.missing == "" {
		requirePrompts(t, d, calls)
	}
}

// refuses makes a model reason, and lets the first call of a step fail whose prompt has the reasoning.
func refuses(kind providers.ErrorKind) func(transcript.Key, int, *scripted.Reply) {
	return func(key transcript.Key, n int, reply *scripted.Reply) {
		if key.Actor != "C" {
			return
		}
		reply.Reasoning = []providers.Reasoning{{Service: "s", Data: []byte(`{"thought":"x"}`)}}
		if key.Round == 3 && n == 1 {
			*reply = scripted.Reply{Err: &providers.Error{Kind: kind, Err: errors.New("refused")}}
		}
	}
}

func blank(n int, reply *scripted.Reply) {
	if n == 1 {
		reply.Text, reply.FinishReason = "", providers.Length
	}
}

func empty(n int, reply *scripted.Reply) {
	if n == 1 {
		reply.Text = ""
	}
}

func cut(n int, reply *scripted.Reply) {
	if n == 1 && strings.HasPrefix(reply.Text, "{") {
		reply.Text, reply.FinishReason = reply.Text[:len(reply.Text)/2], providers.Length
	}
}

func substitute(size int) func(*debate.Config) {
	return func(c *debate.Config) {
		c.Substitutes = []debate.Participant{{Provider: "n", Model: "small", Window: size, MaxTokens: 700}}
		c.Participants[0].Instructions = strings.Repeat("word ", 500)
	}
}

func retries(c *debate.Config) { c.Retries = nil }

// fails lets the first call for each step of a judge fail.
func fails(key transcript.Key, n int, reply *scripted.Reply) {
	if key.Actor == "J" && n == 1 {
		*reply = scripted.Reply{Err: &providers.Error{Kind: providers.ServerError, Err: errors.New("it fails")}}
	}
}

// overflows lets the first three calls for each step of a judge overflow.
func overflows(key transcript.Key, n int, reply *scripted.Reply) {
	if key.Actor == "J" && n <= 2 {
		*reply = scripted.Reply{Err: &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("too long")}}
	}
}

// The prompt of a person's step is what the person could read, and the task.
func TestPromptsOfPeople(t *testing.T) {
	cfg := lifeConfig()
	cfg.Participants[1], cfg.Judges[0] = debate.Participant{Name: "B", Human: true}, debate.Participant{Name: "J", Human: true, Blind: true}
	e, m := newEngine(t, cfg)
	d := create(t, e, cfg)
	asked := map[transcript.Key]debate.Asked{}
	for range 50 {
		run(t, d)
		if debatetest.Status(t, d).State == fsm.Completed {
			break
		}
		list := debatetest.Waiting(t, d)
		for _, a := range list {
			asked[a.Key] = a
		}
		require.NoError(t, enginetest.ReplyForPeople(t.Context(), d, cfg))
	}
	requirePrompts(t, d, m.take())
	require.Len(t, asked, 5)
	for key, a := range asked {
		p := debatetest.PromptOf(t, d, key)
		require.Empty(t, p.Missing)
		require.Equal(t, a.Kind, p.Kind)
		require.Equal(t, a.Contract, p.Request.SchemaName)
		require.Equal(t, a.Tokens, p.Request.MaxTokens)
		require.Len(t, p.Request.Messages, len(a.Said)+1)
		require.Equal(t, a.Task, p.Request.Messages[len(a.Said)].Text)
		for i, said := range a.Said {
			require.Contains(t, p.Request.Messages[i].Text, said.Text)
			require.Equal(t, said.Actor == key.Actor, p.Request.Messages[i].Role == providers.Assistant)
		}
	}
}

// The prompts of a run before a reset, of a phase in which an actor dropped out, and of turns with remarks between them.
func TestPromptsOfAllLives(t *testing.T) {
	for name, l := range lives() {
		t.Run(name, func(t *testing.T) {
			_, _, m, d := l.lead(t)
			calls, n := m.take(), 0
			for _, ev := range events(t, d) {
				done, ok := ev.(debate.TurnDone)
				if !ok || len(calls[done.Turn.Key]) == 0 {
					continue
				}
				n++
				p := debatetest.PromptOf(t, d, done.Turn.Key)
				made := calls[done.Turn.Key]
				require.Equal(t, made[len(made)-1], p.Request, done.Turn.Key.String())
			}
			require.Positive(t, n)
		})
	}
}

// Another engine may have other templates.
func TestPromptsWithOtherTemplates(t *testing.T) {
	kept := store.Memory()
	cfg := lifeConfig()
	e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = kept })
	d := create(t, e, cfg)
	run(t, d)
	calls := m.take()
	speech := debatetest.Result(t, d).Turns[0].Key
	other, _ := newEngine(t, cfg, func(o *debate.Options) {
		o.Store, o.Prompts = kept, fstest.MapFS{"free-form.tmpl": {Data: []byte(`{{define "system"}}You are {{.Me.Name}}.{{end}}Speak.`)}}
	})
	seen := debatetest.Open(t, other, "d")
	first := debatetest.PromptOf(t, d, speech)
	require.False(t, first.OtherTemplates)
	p := debatetest.PromptOf(t, seen, speech)
	require.True(t, p.OtherTemplates)
	require.Equal(t, first.Templates, p.Templates)
	require.NotEqual(t, calls[speech][0], p.Request)
	require.Equal(t, "Speak.", p.Request.Messages[len(p.Request.Messages)-1].Text)
}

func TestPromptsThatDoNotExist(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol = vote.Protocol{}
	cfg.Judges = nil
	kept := store.Memory()
	e, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = kept })
	d := create(t, e, cfg)
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "r", From: "Cleo", Text: "Think of buses."}))
	run(t, d)
	remark := debatetest.Result(t, d).Turns[0].Key
	require.Equal(t, "Cleo", remark.Actor)
	for _, key := range []transcript.Key{{}, {Run: 1, Round: 1, Phase: "answer", Actor: "Z"}, remark} {
		_, err := d.PromptOf(t.Context(), key)
		problems, ok := errors.AsType[*debate.Problems](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "key", problems.List[0].Field)
		require.ErrorContains(t, err, "rebuild prompt of debate d: check step: key: ")
	}
	gone := debatetest.Open(t, e, "d")
	require.NoError(t, e.Delete(t.Context(), "d"))
	_, err := gone.PromptOf(t.Context(), remark)
	require.ErrorIs(t, err, store.ErrNotFound)
}
