package debate

import (
	"cmp"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Prompt is what a committed step was asked with.
type Prompt struct {
	Key  transcript.Key  `json:"key"`
	Kind transcript.Kind `json:"kind"`
	// Request is the request of the last attempt, which gave the turn. For a person's step, it holds what the person could
	// read, and as the last message the task.
	Request providers.Request `json:"request"`
	// Briefing is what the person had to know besides. It is nil if a model was asked.
	Briefing *Briefing `json:"briefing,omitempty"`
	Tokens   int       `json:"tokens,omitempty"` // estimated tokens of the prompt
	// Templates is the version of the templates that the step was asked with; it is empty if the journal does not have it.
	// OtherTemplates reports that this engine has other templates, with which the request was rebuilt.
	Templates      string `json:"templates,omitempty"`
	OtherTemplates bool   `json:"other_templates,omitempty"`
	// Summarized are the seqs of the turns in place of which the request has a summary, and Omitted of those that the window
	// left out, in the order of Result.Turns. What was removed after an overflow is in neither.
	Summarized []int64 `json:"summarized,omitempty"`
	Omitted    []int64 `json:"omitted,omitempty"`
	// OtherCounter reports that this engine counts tokens in another way, so that what the window left out was taken from the
	// turn's Window.
	OtherCounter bool `json:"other_counter,omitempty"`
	// Match says whether the request is the one that was sent, by the hash in the journal: "equal", "different", or "unknown"
	// for a person's step, for a step that reads private documents, and for what an earlier version wrote.
	Match string `json:"match"`
	// Missing says what else the request lacks, in words. It is empty if the request is the one that was sent.
	Missing []string `json:"missing,omitempty"`
}

// rebuild returns the execution of a committed step, and sets what its turn says of the prompt. r is as it was when the prompt was
// made. If recut is set, the turn's Window says what was left out.
func (p *Prompt) rebuild(e *Engine, r *record, s *protocol.Step, t *transcript.Turn, recut bool) (*execution, error) {
	p.remember(r, t, recut)
	x, err := e.newExecution(r, *s)
	if err != nil {
		return nil, err
	}
	m := &x.run.Plan.Model
	m.Provider, _, _ = r.env.Bind(m.Provider)
	p.leaveOut(&x.run.Plan, r)
	if slices.Contains(t.Flags, transcript.Edited) {
		p.Missing = append(p.Missing, "a person gave the reply in a fork: no model was asked")
	}
	return x, nil
}

// compare sets whether the request has the hash of the last attempt.
func (p *Prompt) compare(x *step.Run, tried []transcript.Attempt) {
	if len(tried) == 0 {
		return
	}
	last := &tried[len(tried)-1]
	switch equal, known := x.Matches(&p.Request, last.Hash, last.Began); {
	case equal && known:
		p.Match = "equal"
	case known:
		p.Match = "different"
	}
}

// remember makes the environment of a record the one in which the prompt of a turn was made: providers have the names that its
// attempts had, and if recut is set its window says what was left out.
func (p *Prompt) remember(r *record, t *transcript.Turn, recut bool) {
	env := *r.env
	only, shortened := "", len(t.Attempts) == 0 // no model was asked
	if len(t.Attempts) > 0 {
		only = t.Attempts[0].Provider
		for _, a := range t.Attempts[:len(t.Attempts)-1] { // an overflow, or a substitute's smaller window, has changed the turn's Window
			shortened = shortened || a.ErrorKind == string(providers.ContextOverflow)
		}
		shortened = shortened || slices.Contains(t.Flags, transcript.Substituted)
	}
	env.Bind = func(name string) (string, providers.Provider, error) { return cmp.Or(name, only), person{}, nil }
	if !recut {
		r.env, r.Env = &env, &env.Environment
		return
	}
	env.Recut = func(policy window.Policy, h window.History, cut *window.Cut) {
		is := t.Window
		if t.Kind == transcript.Summary && is != nil && *is == r.History.Wanted.Window { // the window that led to it
			is = nil
		}
		if was := cut.Window(); shortened || was == nil && is == nil || was != nil && is != nil && *was == *is {
			return
		}
		if made, ok := policy.Recorded(h, is); ok {
			*cut, p.OtherCounter = made, true
		}
	}
	r.env, r.Env = &env, &env.Environment
}

// roundsOf returns the rounds of tool calls of a committed step, and how many of them a failure of the step has counted.
func roundsOf(entries []store.Entry, key transcript.Key) (list []step.Round, counted int, err error) {
	var calls []Event
	for _, e := range entries {
		if e.Key == key.String() {
			break
		}
		if e.Type != "tools" && e.Type != "state" && e.Type != "dropped" {
			continue
		}
		ev, err := decodeEntry(e)
		if err != nil {
			return nil, 0, err
		}
		calls = append(calls, ev)
	}
	list, counted = roundsIn(calls, key)
	return list, counted, nil
}

// roundsIn returns the rounds of tool calls of a step, and how many of them a failure of the step has counted.
func roundsIn(entries []Event, key transcript.Key) (list []step.Round, counted int) {
	var t rounds.Rounds
	for _, ev := range entries {
		if called, ok := ev.(ToolsCalled); ok && called.Key == key {
			t.Add(called.round())
		} else if f := failureOf(ev); f != nil {
			t.Failed(f.Key, f.AttemptDetails)
		}
		if s, ok := ev.(StateChanged); ok {
			for _, f := range s.OtherFailures {
				t.Failed(f.Key, f.AttemptDetails)
			}
		}
	}
	if o := t.Of(key); o != nil {
		return o.Plan(), o.Counted
	}
	return nil, 0
}

// leaveOut sets which turns the window left out or summarized.
func (p *Prompt) leaveOut(plan *step.Plan, r *record) {
	cut := plan.Prompt.Cut
	if cut.To == cut.From {
		return
	}
	shown, _ := r.Visible(&plan.Step)
	for at, i := range shown[:cut.To] {
		switch seq := r.Turns[i].Seq; {
		case at < cut.Summarized():
			p.Summarized = append(p.Summarized, seq)
		case at >= cut.From:
			p.Omitted = append(p.Omitted, seq)
		}
	}
}
