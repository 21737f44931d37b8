package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/step/rounds"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Snapshot is the state of a debate after one entry of its journal.
type Snapshot struct {
	Event Event // the event in the entry
	rec   *core.State
}

// Status returns a short summary of the debate's state at that point.
func (m *Snapshot) Status() store.Status { return core.StatusOf(m.rec) }

// Result returns the debate as it was at that point.
func (m *Snapshot) Result() *Result { return core.ResultOf(m.rec) }

// Refusal returns the *fsm.Refused with which the lifecycle refused an event at that point, or nil if the event was possible.
func (m *Snapshot) Refusal(on fsm.Event) (err error) {
	if on == fsm.Start && m.rec.Fork.Idle { // Start resumes it
		on = fsm.Resume
	}
	_, err = fsm.Next(m.rec.Lifecycle, on, m.rec.Facts())
	return err
}

// Replay yields the debate's state after each entry of its journal, with the entry's event. The events are those that
// were shown when they happened, except live events. Replay stops at the end of the journal; use Watch to follow the
// debate further. A snapshot is valid until the next one is yielded. If an entry cannot be read, Replay yields an
// error that names it.
func (d *Debate) Replay(ctx context.Context) iter.Seq2[*Snapshot, error] {
	return d.ReplayAs(ctx, "")
}

// ReplayAs replays the debate for a viewer who speaks for a participant or a judge. It stops before the first entry that
// [Debate.WatchAs] withholds from that seat, and yields the same errors. An empty seat sees everything.
func (d *Debate) ReplayAs(ctx context.Context, seat string) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		entries, err := d.journal.all(ctx)
		if err == nil && seat != "" {
			entries, err = d.entriesFor(seat, entries)
		}
		past := openJournalOf(d.engine, d.ID())
		err = cmp.Or(err, past.begin())
		for i := 0; i < len(entries) && err == nil; i++ {
			var ev Event
			ev, err = past.read(entries[i])
			if err == nil && !yield(&Snapshot{Event: ev, rec: past.rec}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Verify reads the whole journal and checks more than reading it does: that each turn, question and failure is of a step that
// could run, with the round, the order, the visible_seq and the contract of that step, and that the usage of a turn is that of its
// attempts. It returns a *store.Damaged for the first entry that the entries before it contradict, and a *NewerFormat if a
// newer version wrote the journal. Of a debate with a protocol that the engine lacks, it checks the numbers only.
func (d *Debate) Verify(ctx context.Context) (err error) {
	last := int64(0)
	panicked := panics.Call(func() { err = d.verify(ctx, &last) })
	if panicked != nil { // the protocol, on what the entries hold
		err = &store.Damaged{
			ID:  d.ID(),
			Seq: last,
			Err: panicked,
		}
	}
	if err != nil {
		return fmt.Errorf("verify debate %s: %w", d.ID(), err)
	}
	return nil
}

// verify sets last to the entry that it reads.
func (d *Debate) verify(ctx context.Context, last *int64) error {
	past := openJournalOf(d.engine, d.ID())
	var plans entrylist.Plans
	past.verify = func(r *core.State, ev Event) error {
		return verifyEntry(&plans, r, ev)
	}
	status, entries, err := d.engine.store.Load(ctx, d.ID(), 0)
	err = cmp.Or(err, past.begin())
	if err != nil {
		return err
	}
	for _, e := range entries {
		*last = e.Seq
		if _, err := past.read(e); err != nil {
			return err
		}
	}
	if status.Seq > *last {
		err := fmt.Errorf("the journal ends at entry %d, but its status is at entry %d", *last, status.Seq)
		return &store.Damaged{
			ID:  d.ID(),
			Seq: *last + 1,
			Err: err,
		}
	}
	return nil
}

// VerifyEntries derives each entry from the entries before it, with the replies of models and the acts of people that the
// journal has, and compares the result with the journal: transitions, phases, summaries, findings, endings, questions
// and stops for a budget. It calls no model and changes nothing. It yields a check for each entry, in order.
//
// An error ends the sequence: the journal cannot be read from that entry on. Of a debate with a protocol that the engine
// lacks, no entry is derived.
func (d *Debate) VerifyEntries(ctx context.Context) iter.Seq2[EntryCheck, error] {
	return func(yield func(EntryCheck, error) bool) {
		_, entries, err := d.engine.store.Load(ctx, d.ID(), 0)
		x := &rederivation{
			journal: openJournalOf(d.engine, d.ID()),
			engine:  d.engine,
		}
		err = cmp.Or(err, x.journal.begin())
		if err != nil {
			yield(EntryCheck{}, fmt.Errorf("verify debate %s: %w", d.ID(), err))
			return
		}
		for _, e := range entries {
			ev, err := journal.DecodeEntry(e)
			if err != nil {
				x.broken = &store.Damaged{
					ID:  d.ID(),
					Seq: e.Seq,
					Err: err,
				}
				break
			}
			x.entries = append(x.entries, ev)
		}
		x.again = newRereading(d.engine, x.entries)
		shown := 0
		for x.at < len(x.entries) {
			err := x.next()
			for ; shown < len(x.checks); shown++ {
				if !yield(x.checks[shown], nil) {
					return
				}
			}
			if err != nil {
				yield(EntryCheck{}, fmt.Errorf("verify debate %s: %w", d.ID(), err))
				return
			}
		}
		if x.broken != nil {
			yield(EntryCheck{}, fmt.Errorf("verify debate %s: %w", d.ID(), x.broken))
		}
	}
}

// Entries returns the entries of the debate's journal as the store has them. Their Data is an Event, or its JSON as a
// json.RawMessage. The first entry has the secret of the debate's hashes.
func (d *Debate) Entries(ctx context.Context) ([]store.Entry, error) {
	_, entries, err := d.engine.store.Load(ctx, d.ID(), 0)
	return entries, err
}

// Code returns the code that shaped the debate, in the order of its first use. It says nothing of entries that it cannot read.
func (d *Debate) Code(ctx context.Context) (*Code, error) {
	_, entries, err := d.engine.store.Load(ctx, d.ID(), 0)
	if err != nil {
		return nil, fmt.Errorf("read code of debate %s: %w", d.ID(), err)
	}
	c := &Code{}
	for _, entry := range entries {
		if ev, err := journal.DecodeEntry(entry); err == nil { // whoever derives the entries reports it
			c.add(d.engine, ev)
		}
	}
	return c, nil
}

// entriesFor decodes the entries of a whole journal to what a viewer who speaks for a seat may see of them.
func (d *Debate) entriesFor(seat string, entries []store.Entry) ([]store.Entry, error) {
	viewer := newViewer(d, seat, 0)
	for _, e := range entries {
		ev, err := journal.DecodeEntry(e)
		if err != nil {
			return nil, &store.Damaged{
				ID:  d.ID(),
				Seq: e.Seq,
				Err: err,
			}
		}
		if err := viewer.add(ev); err != nil {
			return nil, err
		}
	}
	shown := viewer.Take()
	entries = slices.Clone(entries[:len(shown)])
	for i, ev := range shown {
		entries[i].Data = ev
	}
	return entries, nil
}

// PromptOf rebuilds the request that a committed step was asked with, from the journal. It calls no model. What the turn's
// Window says was left out or summarized is left out here too, and prompts that were shortened after an overflow are
// shortened.
//
// Prompt.Missing says what the journal does not have: an invalid reply that was asked for again, and a summary after an
// overflow, unless Options.KeepReplies was set, and the prompt of a step whose reply a fork has edited. It also says
// if the request depends on how tokens were counted then, and this engine counts in another way. No provider is needed.
// Prompt.Match says whether the request has the hash that the journal keeps of the one that was sent.
//
// PromptOf returns *Problems if the debate has no turn with that key or the turn is a remark or silent, and ErrUnsupported if the engine
// lacks the debate's protocol, a tool, a template or a reply contract.
func (d *Debate) PromptOf(ctx context.Context, key transcript.Key) (p *Prompt, err error) {
	defer func() {
		if err != nil {
			p = nil
			err = fmt.Errorf("rebuild prompt of debate %s: %w", d.ID(), err)
		}
	}()
	defer catchFailure(&err, key)
	entries, err := d.journal.all(ctx)
	if err == nil {
		entries, err = beforeRejudging(entries, key)
	}
	if err != nil {
		return nil, err
	}
	past := openJournalOf(d.engine, d.ID())
	ev, err := past.readBefore(entries, key)
	if err != nil {
		return nil, err
	}
	r := past.rec
	if err := r.LacksProtocol(); err != nil {
		return nil, err
	}
	s := r.Open(key)
	if s == nil {
		return nil, fmt.Errorf("step %s cannot be planned after entry %d", key, r.Seq)
	}
	useTemplates(r, ev.Templates)
	p = &Prompt{
		Key:       key,
		Kind:      s.Kind,
		Templates: ev.Templates,
		Match:     "unknown",
	}
	p.OtherTemplates = p.Templates != "" && p.Templates != r.Settings.Templates.Version()
	if r.IsHuman(s.Actor) {
		return p, p.askPerson(r, s)
	}
	x, err := p.rebuild(d.engine, r, s, &ev.Turn, true)
	if err != nil {
		return nil, err
	}
	defer x.release()
	if t := x.run.Plan.Tools; t != nil {
		t.Rounds, t.Counted, err = roundsOf(entries, key)
		if err != nil {
			return nil, err
		}
	}
	request, tokens, missing := x.run.Repeat(ev.Turn.Attempts, ev.Turn.Window)
	p.Request = request
	p.Tokens = tokens
	p.Missing = append(p.Missing, missing...)
	p.compare(&x.run, ev.Turn.Attempts)
	if p.Match == "different" && ev.Repeats > 0 {
		p.Match = "unknown"
		p.Missing = append(p.Missing, noCourse)
	}
	return p, nil
}

// readBefore reads the entries that the prompt of a committed step was made from, and returns the entry of its turn.
func (j *openJournal) readBefore(list []store.Entry, key transcript.Key) (done TurnDone, err error) {
	if err := j.begin(); err != nil {
		return done, err
	}
	at := entrylist.Find(list, key.String())
	if at < 0 {
		return done, core.ProblemOf("step", "key", "the debate has no turn %s", key)
	}
	ev, err := journal.DecodeEntry(list[at])
	if err != nil {
		return done, err
	}
	done, _ = ev.(TurnDone)
	if k := done.Turn.Kind; k == transcript.Remark || k == transcript.Silence {
		return done, core.ProblemOf("step", "key", "%s is a %s: nobody was asked for it", key, k)
	}
	last := int64(at)
	if len(done.Turn.Attempts) > 0 { // otherwise the turn was committed as soon as it was there
		last = min(done.PromptSeq, last)
	}
	for _, e := range list[:last] {
		if _, err := j.read(e); err != nil {
			return done, err
		}
	}
	return done, nil
}

// askPerson sets what a person could read, had to know and was asked.
func (p *Prompt) askPerson(r *core.State, s *protocol.Step) (err error) {
	p.Request.Messages = r.Messages(s)
	if asked := r.People.Asked[s.Key]; asked != nil {
		p.Request.Messages = append(p.Request.Messages, providers.Message{
			Role: providers.User,
			Text: asked.Task,
		})
		p.Request.SchemaName = asked.Contract
		p.Request.Schema = asked.Schema
		p.Request.MaxTokens = asked.Tokens
	}
	p.Briefing, err = core.NewBriefing(r, s)
	return err
}

// EntryVerdict says whether an entry of a journal follows from the entries before it.
type EntryVerdict string

// The verdicts.
const (
	EntryDerived      EntryVerdict = "derived"       // nothing else could follow
	EntryInput        EntryVerdict = "input"         // a model, a person, a failure, a clock or an engine's check of limits has led to it
	EntryNotDerivable EntryVerdict = "not derivable" // something is missing that tells
	EntryWrong        EntryVerdict = "wrong"         // something else must follow
)

// EntryCheck is what [Debate.VerifyEntries] says of one entry.
type EntryCheck struct {
	Seq     int64        `json:"seq"`
	Type    string       `json:"type"`          // of the entry, such as "turn"
	Key     string       `json:"key,omitempty"` // of the turn, if the entry has one
	Verdict EntryVerdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`

	// Of a turn by a model, and of steps that failed: Prompts is the number of calls whose request was made again and has the hash
	// in the journal. Unknown is the number of the other calls, and Missing says what the journal lacks, if it is known. Read reports that the
	// reply was read again, and the turn has what it says; otherwise the journal does not have the reply.
	Prompts int      `json:"prompts,omitempty"`
	Unknown int      `json:"unknown,omitempty"`
	Missing []string `json:"missing,omitempty"`
	Read    bool     `json:"read,omitempty"`
	// Names says where the prompt of a blind judge has a word that is the name of a participant, with the words that follow it.
	// Texts of the debate never have one there, but templates and the names of criteria may.
	Names []string `json:"names,omitempty"`
}

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
func (p *Prompt) rebuild(e *Engine, r *core.State, s *protocol.Step, t *transcript.Turn, recut bool) (*execution, error) {
	p.remember(r, t, recut)
	x, err := e.newExecution(r, *s)
	if err != nil {
		return nil, err
	}
	m := &x.run.Plan.Model
	m.Provider, _, _ = r.Engine.Bind(m.Provider)
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
func (p *Prompt) remember(r *core.State, t *transcript.Turn, recut bool) {
	env := *r.Engine
	only := ""
	if len(t.Attempts) > 0 {
		only = t.Attempts[0].Provider
	}
	env.Bind = func(name string) (string, providers.Provider, error) {
		return cmp.Or(name, only), clients.Person{}, nil
	}
	if !recut {
		r.Engine = &env
		r.Env = &env.Environment
		return
	}
	env.Recut = func(policy window.Policy, h window.History, cut *window.Cut) {
		is := t.Window
		if t.Kind == transcript.Summary && is != nil &&
			*is == r.History.Wanted.Window { // the window that led to it
			is = nil
		}
		if hasOtherWindow(t) || sameWindow(cut.Window(), is) {
			return
		}
		if made, ok := policy.Recorded(h, is); ok {
			*cut, p.OtherCounter = made, true
		}
	}
	r.Engine = &env
	r.Env = &env.Environment
}

// hasOtherWindow reports whether the window of a turn is not that of its first prompt: no model was asked, or an overflow or a
// substitute's smaller window has changed it.
func hasOtherWindow(t *transcript.Turn) bool {
	if len(t.Attempts) == 0 {
		return true
	}
	overflowed := slices.ContainsFunc(t.Attempts[:len(t.Attempts)-1], func(a transcript.Attempt) bool {
		return a.ErrorKind == string(providers.ContextOverflow)
	})
	return overflowed || slices.Contains(t.Flags, transcript.Substituted)
}

func sameWindow(a, b *transcript.Window) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// roundsOf returns the rounds of tool calls of a committed step, and how many of them a failure of the step has counted.
func roundsOf(entries []store.Entry, key transcript.Key) (list []step.Round, counted int, err error) {
	var calls []Event
	for _, e := range entries {
		if e.Key == key.String() {
			break
		}
		if !slices.Contains([]string{"tools", "state", "dropped"}, e.Type) {
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
func (p *Prompt) leaveOut(plan *step.Plan, r *core.State) {
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
		rules = core.RulesOf(ev.Meta(), rules)
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
func (x *rereading) at(r *core.State) {
	for _, ev := range x.turns[r.Seq] {
		if x.found[ev.Seq] == nil {
			x.found[ev.Seq] = x.turn(r, ev)
		}
	}
	for _, f := range x.failed {
		if f.seq > r.Seq &&
			r.Open(f.failure.Key) != nil &&
			(f.found == nil || f.found.Unknown > 0) {
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
		func(a transcript.Attempt) bool {
			return a.Hash == "" || x.ends[a.Hash]
		},
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
func (x *rereading) repeat(r *core.State, f *failedCalls) (c *EntryCheck) {
	env := r.Engine
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
		r.Engine = env
		r.Env = outer
	}()
	_ = panics.Call(func() { x.repeatCalls(r, f, c) }) // a panic of the protocol or of a hook ends the change too
	return c
}

// repeatCalls sets in the check of a failed step what its prompts say.
func (x *rereading) repeatCalls(r *core.State, f *failedCalls, c *EntryCheck) {
	env := r.Engine
	tried := f.failure.AttemptDetails
	s := r.Open(f.failure.Key)
	if s == nil || r.IsHuman(f.failure.Key.Actor) {
		return
	}
	p := &Prompt{}
	run, err := p.rebuild(x.engine, r, s, &transcript.Turn{
		Key:      f.failure.Key,
		Attempts: tried,
	}, false)
	if err != nil {
		c.Missing = []string{err.Error()}
		return
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(f.before, f.failure.Key)
	}
	found := step.RereadCalls(&run.run, tried, nil, r.Times.Updated)
	c.Prompts = found.Equal
	c.Unknown = len(tried) - found.Equal
	if c.Unknown == 0 {
		c.Missing = nil
		if err := entrylist.WrongCalls(tried, found); err != nil && f.writer == *env.Rules {
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
func (x *rereading) turn(r *core.State, ev *TurnDone) (c *EntryCheck) {
	env := r.Engine
	outer := r.Env
	defer func() {
		r.Engine = env
		r.Env = outer
	}()
	panicked := panics.Call(func() { c = x.readTurn(r, ev) })
	if panicked != nil { // the protocol or a hook, which ends the change too
		return &EntryCheck{Unknown: len(ev.Turn.Attempts)}
	}
	return c
}

func (x *rereading) readTurn(r *core.State, ev *TurnDone) *EntryCheck {
	env := r.Engine
	t := &ev.Turn
	s := r.Open(t.Key)
	p := &Prompt{}
	if s == nil || r.IsHuman(t.Actor) || t.Kind == transcript.Silence {
		return &EntryCheck{}
	}
	defer useTemplates(r, ev.Templates)()
	same := !x.lacksCourse(r, ev.Seq) && x.writer[t.Key] == *env.Rules &&
		ev.Templates == r.Settings.Templates.Version()
	run, err := p.rebuild(x.engine, r, s, t, !same)
	if err != nil {
		return &EntryCheck{
			Unknown: len(t.Attempts),
			Missing: []string{err.Error()},
		}
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(x.calls[t.Key], t.Key)
	}
	found := step.RereadTurn(&run.run, t, r.Times.Updated)
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
		c.Names = entrylist.NamesIn(run.run.Plan.Pseudonyms, found)
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
	if err := entrylist.WrongTurn(t, found); err != nil {
		c.Verdict = EntryWrong
		c.Reason = err.Error()
		return c
	}
	judgedAgain := c.Unknown == 0 && r.Agenda.Course.Begun()
	if judgedAgain && ev.Remains != core.Remains(r, s, run.run.Plan.Prompt.Messages) {
		c.Verdict = EntryWrong
		c.Reason = otherRemains
	}
	return c
}

// noCourse says why an entry that a debate begins with is not derived.
const noCourse = "it is of a debate that was judged again, whose course is not here"

// lacksCourse reports whether an entry is one of those with which the record begins, if these repeat a course that it does not have.
func (x *rereading) lacksCourse(r *core.State, seq int64) bool {
	n := r.Agenda.Course.Before(r.Fork.Seq)
	return seq <= n && 0 < x.repeats && x.repeats <= n
}

const otherRemains = "whether its prompt has words of what was left out is wrong"

// otherMaker says why the prompt of a turn may be another one in this engine.
func (x *rereading) otherMaker(r *core.State, ev *TurnDone) string {
	if x.lacksCourse(r, ev.Seq) {
		return noCourse
	}
	if is := x.writer[ev.Turn.Key]; is != *r.Engine.Rules {
		return fmt.Sprintf("the rules of the engine that asked were %+v, those of this one are %+v", is, *r.Engine.Rules)
	}
	return "this engine lacks the templates " + ev.Templates
}

// rederivation makes the changes of a debate again.
type rederivation struct {
	engine  *Engine
	journal *openJournal
	plans   entrylist.Plans
	entries []Event
	at      int // index of the next entry
	checks  []EntryCheck
	again   *rereading
	writer  Rules // of the engine that wrote the entry before the next one; the record has those of this engine after what it derives
	broken  error // why the entries end

	from  int    // index of the first entry of the change
	label string // why the next entry is an input, although it is what the change makes; else empty
	last  lastChange
}

// Errors that end a change.
var (
	errBoundary = errors.New("the fork begins here")
	errNoEntry  = errors.New("the journal ends")
)

// notNext reports that an entry is not the one that follows.
type notNext struct{ reason string }

func (e *notNext) Error() string { return e.reason }

// readAgain reads the entries before the next one again, because a change that did not come to its end has changed the record.
func (x *rederivation) readAgain() error {
	if err := x.journal.begin(); err != nil {
		return err
	}
	for _, ev := range x.entries[:x.at] {
		_, at := journal.KeyAndTime(ev)
		if err := x.journal.rec.Apply(ev, at); err != nil {
			return err
		}
		if err := x.journal.follow(ev); err != nil {
			return err
		}
	}
	return nil
}

// insideFork reports whether the next entry may be the first one after those that a fork has of another debate. The last change of the
// other debate may end before it then.
func (x *rederivation) insideFork() bool {
	r := x.journal.rec
	return r.Fork.ID != "" && int64(x.at) <= r.Fork.Seq
}

// repeatsUnknown reports whether the next entry repeats a course that the debate does not have.
func (x *rederivation) repeatsUnknown() bool {
	m := x.entries[x.at].Meta()
	return m.Repeats > 0 && x.again.lacksCourse(x.journal.rec, m.Seq)
}

// transaction returns a change that is compared with the next entries.
func (x *rederivation) transaction() *core.Change {
	_, at := journal.KeyAndTime(x.entries[x.at])
	c := core.NewChange(x.journal.rec, at)
	c.Now = at
	c.Match = x.match
	c.Take = x.given
	return c
}

// match compares an event that follows with the next entry, and takes the entry.
func (x *rederivation) match(want Event) error {
	if x.at == len(x.entries) {
		return errNoEntry
	}
	is := x.entries[x.at]
	begins := x.at > x.from && is.Meta().Act != ""
	switch {
	case x.repeatsUnknown() || begins && x.insideFork():
		return errBoundary
	case begins:
		return &notNext{fmt.Sprintf("%s must follow, but another act leads to it", describeEvent(want))}
	}
	if field := entrylist.Difference(want, is); field != "" {
		return &notNext{fmt.Sprintf("%s must follow, but %s", describeEvent(want), field)}
	}
	if err := verifyEntry(&x.plans, x.journal.rec, is); err != nil {
		return &notNext{err.Error()}
	}
	verdict := EntryDerived
	reason := ""
	switch {
	case x.label != "":
		verdict = EntryInput
		reason = x.label
		x.label = ""
	case is.Meta().Repeats > 0:
		reason = "the course of the debate that is judged again"
	case core.FailureOf(is) != nil:
		verdict = EntryInput
		reason = "a failure, and what the policy for it is"
	}
	return x.take(is, verdict, reason)
}

// take adds the check of an entry that is about to be applied.
func (x *rederivation) take(is Event, verdict EntryVerdict, reason string) error {
	key, _ := journal.KeyAndTime(is)
	c := EntryCheck{
		Seq:     is.Meta().Seq,
		Type:    is.Meta().Type,
		Key:     key,
		Verdict: verdict,
		Reason:  reason,
	}
	if x.journal.rec.LacksProtocol() == nil {
		x.again.at(x.journal.rec)
		x.again.add(&c, is)
	}
	x.checks = append(x.checks, c)
	x.writer = core.RulesOf(is.Meta(), x.writer)
	x.last.add(is, x.journal.rec.Decisions.Question)
	x.at++
	return x.journal.follow(is)
}

// accept applies the next entry as it is.
func (x *rederivation) accept(verdict EntryVerdict, reason string) error {
	is := x.entries[x.at]
	_, at := journal.KeyAndTime(is)
	if err := verifyEntry(&x.plans, x.journal.rec, is); err != nil && verdict != EntryWrong {
		verdict = EntryWrong
		reason = err.Error()
	}
	if err := x.take(is, verdict, reason); err != nil {
		return err
	}
	return x.journal.rec.Apply(is, at)
}

// input applies the next entry, which somebody has given.
func (x *rederivation) input(reason string) error {
	return x.accept(EntryInput, reason)
}

// spoil changes the last verdict to wrong.
func (x *rederivation) spoil(err error) {
	last := &x.checks[len(x.checks)-1]
	last.Verdict, last.Reason = x.judge(x.writer, EntryWrong, err.Error())
}

// judge returns the verdict about an entry that contradicts those before it: another engine may have had a reason.
func (x *rederivation) judge(writer Rules, verdict EntryVerdict, reason string) (EntryVerdict, string) {
	if x.again.lacksCourse(x.journal.rec, int64(x.at)+1) {
		return EntryNotDerivable, noCourse + ": " + reason
	}
	if ours := *x.engine.env.Rules; writer != ours {
		return EntryNotDerivable, fmt.Sprintf(
			"the rules of the engine that wrote it were %+v, those of this one are %+v: %s",
			writer,
			ours,
			reason,
		)
	}
	return verdict, reason
}

// describeEvent names an event in an error.
func describeEvent(ev Event) string {
	switch ev := ev.(type) {
	case StateChanged:
		return fmt.Sprintf("the transition %q from %q to %q", ev.On, ev.From, ev.To)
	case PhaseStarted:
		return fmt.Sprintf("the phase %q", ev.Phase)
	case Asked:
		return fmt.Sprintf("the question for step %s", ev.Key)
	case TurnDone:
		return fmt.Sprintf("the turn %s", ev.Turn.Key)
	case Dropped:
		return fmt.Sprintf("the drop of %q", ev.Name)
	}
	return fmt.Sprintf("an entry of type %q", ev.Meta().Type)
}

// verifyEntry returns an error if an entry that follows those in the record has values that the record contradicts.
func verifyEntry(plans *entrylist.Plans, r *core.State, ev Event) error {
	at := plans.At(&r.Record, r.Next(), r.LacksProtocol() == nil)
	if ev.Meta().Repeats > 0 {
		return verifyRepetition(r, ev)
	}
	switch ev := ev.(type) {
	case StateChanged:
		if err := at.Ending(ev.Ending); err != nil {
			return err
		}
		if q := ev.Question; q != nil && q.ID != core.QuestionID(ev.Seq) {
			return fmt.Errorf("the question has the id %q, want %q", q.ID, core.QuestionID(ev.Seq))
		}
		return verifyFailures(at, ev)
	case Dropped:
		return verifyFailures(at, ev)
	case PhaseStarted:
		return verifyCallers(r, &ev)
	case ToolsCalled:
		visible := ev.VisibleSeq
		if last := r.Tools.Of(ev.Key).Last(); last != nil {
			visible = last.VisibleSeq
		}
		return r.Sources.CheckNumbers(ev.Key, visible, ev.Calls)
	case TurnDone:
		if err := at.Turn(&ev.Turn, ev.Seq, ev.PromptSeq); err != nil {
			return err
		}
		found := r.Sources.Cite(&ev.Turn, nil)
		if found.Contradict(ev.Turn.Citations, r.Engine.Texts) { // as far as the journal has the texts
			return errors.New("its citations are not those of its text, or a verdict is wrong")
		}
	case Asked:
		return at.Asked(ev.Key, ev.Kind, ev.Contract)
	case Decided:
		if ev.Action == core.ActionDecline {
			return at.Declined(ev.Key)
		}
	}
	return nil
}

// verifyRepetition returns an error if an entry of a rejudged debate is not the next one of its course.
func verifyRepetition(r *core.State, ev Event) error {
	if r.LacksProtocol() != nil || ev.Meta().Seq <= r.Agenda.Course.Before(r.Fork.Seq) {
		return nil
	}
	_, at := journal.KeyAndTime(ev)
	c := core.NewChange(r, at)
	c.Act = ev.Meta().Act
	want := r.Agenda.Given(&r.Record, r.Next, c.Stamp, at)
	if want == nil {
		return errors.New("it repeats an entry, but the course of the debate has none here")
	}
	if field := entrylist.Difference(want, ev); field != "" {
		return fmt.Errorf("%s must follow in the course, but %s", describeEvent(want), field)
	}
	return nil
}

func verifyFailures(at *entrylist.Point, ev Event) error {
	for _, f := range journal.Failures(ev) {
		if err := at.Failed(f.Key); err != nil {
			return err
		}
	}
	return nil
}

// verifyCallers checks the callers of a phase, on which the numbers of sources depend.
func verifyCallers(r *core.State, ev *PhaseStarted) error {
	if r.LacksProtocol() != nil {
		return nil
	}
	var want []string
	for _, p := range r.Phases(r.Cursor.Stage) {
		if p.Name == ev.Phase && ev.Summary == nil {
			want = core.CallersOf(r.Config, &p)
		}
	}
	if slices.Equal(ev.Callers, want) {
		return nil
	}
	return fmt.Errorf("its callers are %q, want %q", ev.Callers, want)
}

// next makes the next change. It returns an error if no further entry can be read.
func (x *rederivation) next() error {
	x.from = x.at
	err := x.changeSafely()
	switch {
	case errors.Is(err, errBoundary):
		return x.readAgain()
	case errors.Is(err, errNoEntry):
		return nil
	}
	if _, damaged := errors.AsType[*store.Damaged](err); damaged {
		return err
	}
	if err == nil && x.at > x.from {
		return nil
	}
	return x.reject(err)
}

// reject takes the next entry, to which nothing leads. err says why, if it is known.
func (x *rederivation) reject(err error) error {
	reason := "no act leads to it"
	verdict := EntryWrong
	if err != nil {
		reason = err.Error()
	}
	if _, panicked := errors.AsType[*panics.Error](err); panicked || errors.Is(err, core.ErrUnsupported) {
		verdict = EntryNotDerivable
	}
	if x.at == len(x.entries) {
		return &store.Damaged{
			ID:  x.journal.id,
			Seq: int64(x.at),
			Err: errors.New(reason),
		}
	}
	return x.accept(x.judge(core.RulesOf(x.entries[x.at].Meta(), x.writer), verdict, reason))
}

// changeSafely makes the next change. It returns a panic of the protocol or of a hook as a *panics.Error.
func (x *rederivation) changeSafely() (err error) {
	defer panics.Catch(&err)
	x.label = ""
	if r := x.journal.rec; x.at > 0 && r.LacksProtocol() != nil {
		return x.accept(EntryNotDerivable, fmt.Sprintf("the engine lacks the protocol %s", r.Config.Protocol.Name()))
	}
	if x.at > 0 && x.repeatsUnknown() {
		return x.accept(EntryNotDerivable, noCourse)
	}
	return x.change()
}

// change makes the change that begins with the next entry, as its act says.
func (x *rederivation) change() error {
	c := x.transaction()
	ev := x.entries[x.at]
	kind := ev.Meta().Act
	switch {
	case kind == "": // an entry before it is wrong, or cannot be derived
		return x.goOn(c)
	case kind == journal.ActFork && !x.insideFork():
		return errors.New("the debate is not forked here")
	case kind == journal.ActFork:
		c.Act = kind
		return x.settleFork(c)
	}
	a, err := x.act(ev)
	if err != nil {
		return err
	}
	x.label = reasons[kind]
	return c.Decide(a)
}

// goOn makes the rest of a change of which an entry is not what follows from its act.
func (x *rederivation) goOn(c *core.Change) error {
	err := c.Settle()
	if x.at > x.from || x.at == 0 {
		return err
	}
	before := x.checks[x.at-1]
	if before.Verdict != EntryNotDerivable {
		return err
	}
	return x.accept(EntryNotDerivable, before.Reason)
}

// reasons says in words why entries are inputs, by what led to them.
var reasons = map[journal.Act]string{
	journal.ActCreate:   "the configuration",
	journal.ActEdit:     "an edit of the configuration",
	journal.ActStart:    "the debate was started",
	journal.ActPause:    "a person paused the debate",
	journal.ActResume:   "the debate was resumed",
	journal.ActStop:     "a person stopped the debate",
	journal.ActCancel:   "a person canceled the debate",
	journal.ActRetry:    "a person's decision",
	journal.ActReset:    "a person's decision",
	journal.ActDecide:   "a person's decision",
	journal.ActAnswer:   "a person's reply",
	journal.ActDecline:  "a person's decision",
	journal.ActRemark:   "a person's remark",
	journal.ActAnnotate: "a note",
	journal.ActTurn:     "a model's reply",
	journal.ActTools:    "a model's calls, and the results of tools",
	journal.ActClock:    "an engine's clock",
	journal.ActBroken:   "a failure",
	journal.ActWait:     "a note",
	journal.ActCheck:    "an engine's check of the configuration",
	journal.ActSign:     "a note",
}

// act returns the act that leads to an entry, with what the journal has of it.
func (x *rederivation) act(ev Event) (*core.Act, error) {
	a := &core.Act{Kind: ev.Meta().Act}
	fits := true
	switch a.Kind {
	case journal.ActCreate, journal.ActEdit,
		journal.ActTurn, journal.ActAnswer, journal.ActRemark,
		journal.ActTools,
		journal.ActDecide, journal.ActDecline:
		fits = a.Kind == x.giver(ev)
		a.Given = ev
		a.Remark = x.remarkAfter(ev)
	case journal.ActAnnotate, journal.ActWait, journal.ActSign:
		_, fits = ev.(Annotated)
		a.Given = ev
	case journal.ActCheck:
		return a, x.check(a)
	case journal.ActFailure, journal.ActClock, journal.ActBroken:
		x.failures(a)
		fits = a.Failure != nil || a.Kind == journal.ActClock
	default:
	}
	if !fits {
		return nil, fmt.Errorf("the act %q cannot lead to %s", a.Kind, describeEvent(ev))
	}
	return a, nil
}

// giver returns the act that gives the next entry. It is empty if the entry follows from others, or if several acts may give it.
func (x *rederivation) giver(ev Event) journal.Act {
	switch ev := ev.(type) {
	case ConfigChanged:
		if x.at > 0 {
			return journal.ActEdit
		}
		return journal.ActCreate
	case TurnDone:
		return x.kindOf(&ev.Turn)
	case ToolsCalled:
		return journal.ActTools
	case Decided:
		return core.GiverOf(ev.Action)
	}
	return ""
}

// kindOf returns the act that gives a turn.
func (x *rederivation) kindOf(t *transcript.Turn) journal.Act {
	switch {
	case t.Kind == transcript.Remark:
		return journal.ActRemark
	case t.Kind == transcript.Silence:
		return ""
	case x.journal.rec.IsHuman(t.Actor):
		return journal.ActAnswer
	}
	return journal.ActTurn
}

// remarkAfter returns the remark that was given with a decision, or nil.
func (x *rederivation) remarkAfter(ev Event) *TurnDone {
	d, _ := ev.(Decided)
	if d.Action != core.ActionEdit || x.at+1 == len(x.entries) {
		return nil
	}
	t, ok := x.entries[x.at+1].(TurnDone)
	if !ok || t.Act != "" || t.Turn.Kind != transcript.Remark {
		return nil
	}
	return &t
}

// failures sets the failures that lead to the next entries.
func (x *rederivation) failures(a *core.Act) {
	for i, ev := range x.entries[x.at:] {
		if i > 0 && ev.Meta().Act != "" {
			return
		}
		switch ev := ev.(type) {
		case Dropped:
			a.Failure = ev.Failure
			a.Lost = ev.OtherFailures
		case StateChanged:
			if a.Failure == nil {
				a.Failure = core.FailureOf(ev)
				a.Lost = ev.OtherFailures
			}
			if ev.On == fsm.Stop && len(ev.OtherFailures) > 0 { // after a drop
				a.Lost = ev.OtherFailures
			}
		default:
			return
		}
		if a.Failure != nil && a.Kind == journal.ActBroken {
			return
		}
	}
}

// check sets what an engine's check of the configuration has found. The windows are what it was told by providers.
func (x *rederivation) check(a *core.Act) error {
	r := x.journal.rec
	ev, _ := x.entries[x.at].(StateChanged)
	switch ev.On {
	case fsm.Reject:
		a.Check.Problems = ev.Problems
		return nil
	case fsm.Accept:
	default:
		return fmt.Errorf("the act %q cannot lead to %s", a.Kind, describeEvent(x.entries[x.at]))
	}
	first := x.engine.preflight(r.ActorSettings(), ev.Windows)
	switch {
	case first.lacks != nil:
		return first.lacks
	case len(first.problems) > 0:
		return &notNext{fmt.Sprintf("the configuration must be refused: %v", core.ProblemsError(first.problems))}
	}
	a.Check.Warnings = slices.Concat(
		r.ConfigWarnings(),
		core.StartWarnings(first.record.Config, r.Cursor.Run, ev.Windows, first.limits),
	)
	// Warnings about judges that use the model of a participant depend on the names of providers.
	if len(x.engine.lacks(r.ActorSettings())) > 0 {
		a.Check.Warnings = ev.Warnings
	}
	a.Check.ReplyTokens = first.limits
	a.Check.Windows = ev.Windows
	return nil
}

// given takes the next entry, which somebody has given.
func (x *rederivation) given(Event) error {
	if x.at == len(x.entries) {
		return errNoEntry
	}
	r := x.journal.rec
	ev := x.entries[x.at]
	kind := ev.Meta().Act
	reason := reasons[cmp.Or(kind, journal.ActRemark)] // with a decision
	wrong := x.wrongGift(ev)
	was := r.Config
	if err := x.input(reason); err != nil {
		return err
	}
	if kind == journal.ActEdit {
		wrong = x.wrongEdit(was)
	}
	if wrong != nil {
		x.spoil(wrong)
	}
	x.label = ""
	return nil
}

// wrongGift returns what is wrong with what a person has given, or nil.
func (x *rederivation) wrongGift(ev Event) error {
	r := x.journal.rec
	switch ev := ev.(type) {
	case TurnDone:
		s := r.Open(ev.Turn.Key)
		if ev.Act == journal.ActAnswer &&
			s != nil &&
			ev.Remains != core.Remains(r, s, r.Messages(s)) {
			return errors.New(otherRemains)
		}
	case Decided:
		q := r.Decisions.Question
		if core.IsAnswer(ev.Action) && (q == nil || !slices.Contains(core.ActionsOf(q), ev.Action)) {
			return errors.New("no question has this answer")
		}
	}
	return nil
}

// wrongEdit returns what an edit has changed that must not change, or nil. was is the configuration before it.
func (x *rederivation) wrongEdit(was *Config) error {
	r := x.journal.rec
	is := *r.Config
	r.Config = was
	defer func() { r.Config = &is }()
	return core.ProblemsError(frozenFields(r, is))
}

// settleFork makes the change that makes a fork: of this debate, or of one that it is a fork of.
func (x *rederivation) settleFork(c *core.Change) error {
	r := x.journal.rec
	last := x.last
	if _, ok := x.entries[x.at].(ConfigChanged); ok {
		was := r.Config
		if err := x.input(reasons[journal.ActEdit]); err != nil {
			return err
		}
		c.Act = ""
		if r.NotStarted() {
			if wrong := x.wrongEdit(was); wrong != nil {
				x.spoil(wrong)
			}
			if err := c.Fire(fsm.Edit, StateChanged{}); err != nil {
				return err
			}
		}
		if x.at == len(x.entries) {
			return nil
		}
	}
	if t, ok := x.entries[x.at].(TurnDone); ok && slices.Contains(t.Turn.Flags, transcript.Edited) {
		if err := x.input("a reply that was edited in a fork"); err != nil {
			return err
		}
		c.Act = ""
	}
	return last.settle(c)
}

// Code names the rules, protocols, contracts, tools and templates with which a debate was run, as far as they are not in its
// configuration.
type Code struct {
	// Rules lists those of the engines that wrote the entries, with the names of their own counters and extractors.
	Rules []Rules `json:"rules,omitempty"`
	// Protocols, Contracts and Tools are the names of those that are not of the library.
	Protocols []string `json:"protocols,omitempty"`
	Contracts []string `json:"contracts,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	// Templates holds the texts of the templates of prompts, if the engine has them.
	Templates []prompts.Texts `json:"templates,omitempty"`
	// Lacks says in words which of these the engine does not have, such as "the contract claim".
	Lacks []string `json:"-"`
}

// add adds what an entry names.
func (c *Code) add(e *Engine, ev Event) {
	if is := ev.Meta().Rules; is != nil && !slices.Contains(c.Rules, *is) {
		c.Rules = append(c.Rules, *is)
		ours := e.env.Rules
		c.lack(is.Number == ours.Number, "the rules with number", fmt.Sprint(is.Number))
		c.lack(is.Counter == ours.Counter || is.Counter == "", "the counter of tokens", is.Counter)
		c.lack(is.Extractor == ours.Extractor ||
			is.Extractor == "", "the extractor of answers", is.Extractor)
	}
	contract := ""
	switch ev := ev.(type) {
	case ConfigChanged:
		cfg, err := e.parse(ev.Config)
		if err != nil || cfg.Protocol == nil {
			return
		}
		_, unknown := cfg.Protocol.(protocols.Unknown)
		c.name(&c.Protocols, "the protocol", cfg.Protocol.Name(), !unknown, protocols.Has(cfg.Protocol))
		for _, p := range cfg.Actors() {
			for _, tool := range p.Tools {
				c.name(&c.Tools, "the tool", tool, e.tools[tool] != nil, false)
			}
		}
	case Asked:
		contract = ev.Contract
	case TurnDone:
		contract = ev.Turn.Contract
		c.addTemplates(e, ev.Templates)
	}
	ours := slices.ContainsFunc(protocols.Contracts(), func(k *reply.Contract) bool {
		return k.Name() == contract
	})
	c.name(&c.Contracts, "the contract", contract, e.replies[contract] != nil, ours || contract == "")
}

// name adds a name to a list, unless the library has it.
func (c *Code) name(list *[]string, kind, name string, has, ours bool) {
	if !ours && !slices.Contains(*list, name) {
		*list = append(*list, name)
		c.lack(has, kind, name)
	}
}

// lack notes what the engine does not have.
func (c *Code) lack(has bool, kind, name string) {
	if text := kind + " " + name; !has && !slices.Contains(c.Lacks, text) {
		c.Lacks = append(c.Lacks, text)
	}
}

func (c *Code) addTemplates(e *Engine, version string) {
	has := func(version string) bool {
		return slices.ContainsFunc(c.Templates, func(t prompts.Texts) bool {
			return t.Version == version
		})
	}
	if version == "" || has(version) {
		return
	}
	set := e.env.Templates(version)
	c.lack(set != nil, "the templates", version)
	if set == nil {
		return
	}
	for _, t := range set.Texts() {
		if !has(t.Version) {
			c.Templates = append(c.Templates, t)
		}
	}
}

// useTemplates makes the prompts of the record be made from the templates with a version, if the engine has them under any name.
// restore takes that back.
func useTemplates(r *core.State, version string) (restore func()) {
	was := r.Settings.Templates
	set := r.Engine.Templates(version)
	if set == nil || was.Version() == version {
		return func() {}
	}
	use := func(s *prompts.Set) {
		r.Settings.Templates = s
		r.Forget()
	}
	use(set)
	return func() { use(was) }
}
