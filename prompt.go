package debate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/actor/binding"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/proof"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/journal"
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
	// for a person's step and for a step that reads private documents.
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
	only := ""
	shortened := len(t.Attempts) == 0 // no model was asked
	if len(t.Attempts) > 0 {
		only = t.Attempts[0].Provider
		for _, a := range t.Attempts[:len(t.Attempts)-1] { // an overflow, or a substitute's smaller window, has changed the turn's Window
			shortened = shortened || a.ErrorKind == string(providers.ContextOverflow)
		}
		shortened = shortened || slices.Contains(t.Flags, transcript.Substituted)
	}
	env.Bind = func(name string) (string, providers.Provider, error) {
		return cmp.Or(name, only), binding.Person{}, nil
	}
	if !recut {
		r.env = &env
		r.Env = &env.Environment
		return
	}
	env.Recut = func(policy window.Policy, h window.History, cut *window.Cut) {
		is := t.Window
		if t.Kind == transcript.Summary && is != nil &&
			*is == r.History.Wanted.Window { // the window that led to it
			is = nil
		}
		if was := cut.Window(); shortened || was == nil && is == nil ||
			was != nil && is != nil && *was == *is {
			return
		}
		if made, ok := policy.Recorded(h, is); ok {
			*cut, p.OtherCounter = made, true
		}
	}
	r.env = &env
	r.Env = &env.Environment
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
		ev, err := journal.DecodeEntry(e)
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
			t.Add(&called)
		}
		for _, f := range journal.Failures(ev) {
			t.Failed(f.Key, f.AttemptDetails)
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

// rereading makes the prompts of a journal again, and reads its replies again.
type rereading struct {
	engine *Engine
	turns  map[int64][]*TurnDone      // of models, by the seq of the last entry that their prompt was made from
	calls  map[transcript.Key][]Event // the entries with rounds of tool calls and with failures of a step, before its turn
	found  map[int64]*EntryCheck      // by seq of the turn
	writer map[transcript.Key]Rules   // of the engine that wrote a turn
	failed []*failedCalls             // calls of steps that failed
	ends   map[string]bool            // hashes of the calls of turns and of failures

	repeats int64 // seq of the first entry that repeats another one; 0 if there is none
}

// failedCalls holds the calls of a step that failed.
type failedCalls struct {
	failure *Failure
	seq     int64   // of the entry that has the failure
	writer  Rules   // of the engine that wrote it
	before  []Event // entries with rounds of tool calls and with failures of the step, before that entry
	found   *EntryCheck
}

// newRereading returns what the entries of a journal ask for.
func newRereading(e *Engine, entries []Event) *rereading {
	x := &rereading{
		engine: e,
		turns:  map[int64][]*TurnDone{},
		calls:  map[transcript.Key][]Event{},
		found:  map[int64]*EntryCheck{},
		writer: map[transcript.Key]Rules{},
		ends:   map[string]bool{},
	}
	rules := Rules{}
	done := map[transcript.Key]bool{}
	for _, ev := range entries {
		rules = rulesOf(ev.Meta(), rules)
		if ev.Meta().Repeats > 0 {
			x.repeats = cmp.Or(x.repeats, ev.Meta().Seq)
		}
		x.fail(ev, rules)
		keys := map[transcript.Key]bool{}
		switch ev := ev.(type) {
		case TurnDone:
			x.end(ev.Turn.Attempts)
			done[ev.Turn.Key] = true
			if len(ev.Turn.Attempts) > 0 {
				x.turns[ev.PromptSeq] = append(x.turns[ev.PromptSeq], &ev)
				x.writer[ev.Turn.Key] = rules
			}
		case ToolsCalled:
			keys[ev.Key] = true
		}
		for _, f := range journal.Failures(ev) {
			keys[f.Key] = true
		}
		for k := range keys {
			if !done[k] {
				x.calls[k] = append(x.calls[k], ev)
			}
		}
	}
	return x
}

// at makes the prompts that were made from the entries in a record.
func (x *rereading) at(r *record) {
	for _, ev := range x.turns[r.Seq] {
		if x.found[ev.Seq] == nil {
			x.found[ev.Seq] = x.turn(r, ev)
		}
	}
	for _, f := range x.failed {
		if f.seq > r.Seq && r.open(f.failure.Key) != nil && (f.found == nil || f.found.Unknown > 0) {
			if c := x.repeat(r, f); f.found == nil || c.Prompts > f.found.Prompts {
				f.found = c
			}
		}
	}
}

// end notes the calls of a step that came to an end.
func (x *rereading) end(tried []transcript.Attempt) {
	for _, a := range tried {
		x.ends[a.Hash] = true
	}
}

// interrupted says of a round of tool calls whose step did not come to an end, because its process died, that its requests are not
// made again.
func (x *rereading) interrupted(ev Event) *EntryCheck {
	called, _ := ev.(ToolsCalled)
	lost := slices.DeleteFunc(
		slices.Clone(called.Attempts),
		func(a transcript.Attempt) bool { return a.Hash == "" || x.ends[a.Hash] },
	)
	if len(lost) == 0 {
		return nil
	}
	return &EntryCheck{
		Unknown: len(lost),
		Missing: []string{"the step was interrupted after this round of tool calls: its requests are not made again"},
	}
}

// fail notes the calls of steps that failed in an entry, unless an earlier entry has the failure: a question about it.
func (x *rereading) fail(ev Event, writer Rules) {
	for _, f := range journal.Failures(ev) {
		if len(f.AttemptDetails) == 0 || slices.ContainsFunc(x.failed, func(was *failedCalls) bool {
			return was.failure.Key == f.Key && was.failure.Started.Equal(f.Started)
		}) {
			continue
		}
		x.end(f.AttemptDetails)
		x.failed = append(x.failed, &failedCalls{
			failure: f,
			seq:     ev.Meta().Seq,
			writer:  writer,
			before:  slices.Clip(x.calls[f.Key]),
		})
	}
}

// repeat makes the prompts of a failed step again, from the entries in a record. No entry says from which of them they were made.
func (x *rereading) repeat(r *record, f *failedCalls) (c *EntryCheck) {
	env := r.env
	outer := r.Env
	tried := f.failure.AttemptDetails
	c = &EntryCheck{
		Unknown: len(tried),
		Missing: []string{fmt.Sprintf(
			"it is not known from which entries the requests of the step %s were made",
			f.failure.Key,
		)},
	}
	defer func() {
		r.env = env
		r.Env = outer
	}()
	_ = panics.Call(func() { x.repeatCalls(r, f, c) }) // a panic of the protocol or of a hook ends the change too
	return c
}

// repeatCalls sets in the check of a failed step what its prompts say.
func (x *rereading) repeatCalls(r *record, f *failedCalls, c *EntryCheck) {
	env := r.env
	tried := f.failure.AttemptDetails
	s := r.open(f.failure.Key)
	if s == nil || r.isHuman(f.failure.Key.Actor) {
		return
	}
	p := &Prompt{}
	run, err := p.rebuild(x.engine, r, s, &transcript.Turn{Key: f.failure.Key, Attempts: tried}, false)
	if err != nil {
		c.Missing = []string{err.Error()}
		return
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(f.before, f.failure.Key)
	}
	found := step.RereadCalls(&run.run, tried, nil, r.times.updated)
	c.Prompts = found.Equal
	c.Unknown = len(tried) - found.Equal
	if c.Unknown == 0 {
		c.Missing = nil
		if err := proof.WrongCalls(tried, found); err != nil && f.writer == *env.rules {
			c.Verdict, c.Reason = EntryWrong, err.Error()
		}
	}
}

// add adds what was found about a turn, or about other calls, to the check of its entry.
func (x *rereading) add(c *EntryCheck, ev Event) {
	list := []*EntryCheck{x.found[c.Seq], x.interrupted(ev)}
	for _, f := range x.failed {
		if f.seq == c.Seq {
			list = append(list, cmp.Or(f.found, &EntryCheck{
				Unknown: len(f.failure.AttemptDetails),
				Missing: []string{fmt.Sprintf("the step %s could not run", f.failure.Key)},
			}))
		}
	}
	for _, found := range list {
		if found == nil {
			continue
		}
		c.Prompts = c.Prompts + found.Prompts
		c.Unknown = c.Unknown + found.Unknown
		c.Missing = append(c.Missing, found.Missing...)
		c.Read = c.Read || found.Read
		c.Names = append(c.Names, found.Names...)
		if found.Verdict == EntryWrong && c.Verdict == EntryInput {
			c.Verdict = found.Verdict
			c.Reason = found.Reason
		}
	}
}

// turn makes the prompts of a turn again, and reads its reply again. The result has a verdict only if something is wrong.
func (x *rereading) turn(r *record, ev *TurnDone) (c *EntryCheck) {
	env := r.env
	outer := r.Env
	defer func() {
		r.env = env
		r.Env = outer
	}()
	if panics.Call(func() { c = x.readTurn(r, ev) }) != nil { // of the protocol or of a hook, which ends the change too
		return &EntryCheck{Unknown: len(ev.Turn.Attempts)}
	}
	return c
}

func (x *rereading) readTurn(r *record, ev *TurnDone) *EntryCheck {
	env := r.env
	t := &ev.Turn
	s := r.open(t.Key)
	p := &Prompt{}
	if s == nil || r.isHuman(t.Actor) || t.Kind == transcript.Silence {
		return &EntryCheck{}
	}
	defer useTemplates(r, ev.Templates)()
	same := !x.lacksCourse(r, ev.Seq) && x.writer[t.Key] == *env.rules &&
		ev.Templates == r.Settings.Templates.Version()
	run, err := p.rebuild(x.engine, r, s, t, !same)
	if err != nil {
		return &EntryCheck{Unknown: len(t.Attempts), Missing: []string{err.Error()}}
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(x.calls[t.Key], t.Key)
	}
	found := step.RereadTurn(&run.run, t, r.times.updated)
	c := &EntryCheck{
		Prompts: found.Equal,
		Unknown: found.Unknown,
		Missing: append(p.Missing, found.Missing...),
		Read:    found.Read && (same || found.Wrong == nil),
	}
	if run.run.Plan.Private {
		c.Missing = append(c.Missing, "it reads private documents, which no journal has")
	}
	if s.Blind {
		c.Names = proof.Names(run.run.Plan.Pseudonyms, found)
	}
	if c.Missing != nil && found.Fits || slices.Contains(t.Flags, transcript.Edited) {
		found.Differs = nil
	}
	if !same {
		c.Unknown += len(found.Differs)
		if found.Differs != nil {
			c.Missing = append(c.Missing, x.otherMaker(r, ev))
		}
		return c
	}
	if err := proof.Wrong(t, found); err != nil {
		c.Verdict, c.Reason = EntryWrong, err.Error()
	} else if c.Unknown == 0 && r.course.Begun() &&
		ev.Remains != r.remains(s, run.run.Plan.Prompt.Messages) {
		c.Verdict = EntryWrong
		c.Reason = otherRemains
	}
	return c
}

// noCourse says why an entry that a debate begins with is not derived.
const noCourse = "it is of a debate that was judged again, whose course is not here"

// lacksCourse reports whether an entry is one of those with which the record begins, if these repeat a course that it does not have.
func (x *rereading) lacksCourse(r *record, seq int64) bool {
	n := r.course.Before(r.fork.Seq)
	return seq <= n && 0 < x.repeats && x.repeats <= n
}

const otherRemains = "whether its prompt has words of what was left out is wrong"

// otherMaker says why the prompt of a turn may be another one in this engine.
func (x *rereading) otherMaker(r *record, ev *TurnDone) string {
	if x.lacksCourse(r, ev.Seq) {
		return noCourse
	}
	if is := x.writer[ev.Turn.Key]; is != *r.env.rules {
		return fmt.Sprintf("the rules of the engine that asked were %+v, those of this one are %+v", is, *r.env.rules)
	}
	return "this engine lacks the templates " + ev.Templates
}
