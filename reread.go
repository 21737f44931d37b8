package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// rereading makes the prompts of a journal again, and reads its replies again.
type rereading struct {
	engine *Engine
	turns  map[int64][]*TurnDone      // of models, by the seq of the last entry that their prompt was made from
	calls  map[transcript.Key][]Event // the entries with rounds of tool calls and with failures of a step, before its turn
	found  map[int64]*EntryCheck      // by seq of the turn
	writer map[transcript.Key]Rules   // of the engine that wrote a turn
	failed []*failedCalls             // calls of steps that failed
	ends   map[string]bool            // hashes of the calls of turns and of failures
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
	x := &rereading{engine: e, turns: map[int64][]*TurnDone{}, calls: map[transcript.Key][]Event{}, found: map[int64]*EntryCheck{}, writer: map[transcript.Key]Rules{}, ends: map[string]bool{}}
	rules, done := Rules{}, map[transcript.Key]bool{}
	for _, ev := range entries {
		rules = rulesOf(ev.Meta(), rules)
		x.fail(ev, rules)
		keys := map[transcript.Key]bool{}
		switch ev := ev.(type) {
		case TurnDone:
			x.end(ev.Turn.Attempts)
			if done[ev.Turn.Key] = true; len(ev.Turn.Attempts) > 0 {
				seq := cmp.Or(ev.PromptSeq, ev.Turn.VisibleSeq)
				x.turns[seq] = append(x.turns[seq], &ev)
				x.writer[ev.Turn.Key] = rules
			}
		case ToolsCalled:
			keys[ev.Key] = true
		case StateChanged:
			for _, f := range ev.OtherFailures {
				keys[f.Key] = true
			}
		}
		if f := failureOf(ev); f != nil {
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
		if f.seq > r.Seq && r.isOpen(f.failure.Key) && (f.found == nil || f.found.Unknown > 0) {
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
	lost := slices.DeleteFunc(slices.Clone(called.Attempts), func(a transcript.Attempt) bool { return a.Hash == "" || x.ends[a.Hash] })
	if len(lost) == 0 {
		return nil
	}
	return &EntryCheck{Unknown: len(lost), Missing: []string{"the step was interrupted after this round of tool calls: its requests are not made again"}}
}

// fail notes the calls of steps that failed in an entry, unless an earlier entry has the failure: a question about it.
func (x *rereading) fail(ev Event, writer Rules) {
	list := []*Failure{failureOf(ev)}
	switch ev := ev.(type) {
	case StateChanged:
		list = append(list, ev.OtherFailures...)
	case Dropped:
		list = append(list, ev.OtherFailures...)
	}
	for _, f := range list {
		if f == nil || len(f.AttemptDetails) == 0 || slices.ContainsFunc(x.failed, func(was *failedCalls) bool {
			return was.failure.Key == f.Key && was.failure.Started.Equal(f.Started)
		}) {
			continue
		}
		x.end(f.AttemptDetails)
		x.failed = append(x.failed, &failedCalls{failure: f, seq: ev.Meta().Seq, writer: writer, before: slices.Clip(x.calls[f.Key])})
	}
}

// repeat makes the prompts of a failed step again, from the entries in a record. No entry says from which of them they were made.
func (x *rereading) repeat(r *record, f *failedCalls) (c *EntryCheck) {
	env, outer, tried := r.env, r.Env, f.failure.AttemptDetails
	c = &EntryCheck{Unknown: len(tried), Missing: []string{fmt.Sprintf("it is not known from which entries the requests of the step %s were made", f.failure.Key)}}
	defer func() {
		r.env, r.Env = env, outer
		_ = recover() // of the protocol or of a hook, which ends the change too
	}()
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == f.failure.Key })
	if at < 0 || r.isHuman(f.failure.Key.Actor) {
		return c
	}
	p := &Prompt{}
	run, err := p.rebuild(x.engine, r, &r.next()[at], &transcript.Turn{Key: f.failure.Key, Attempts: tried}, false)
	if err != nil {
		c.Missing = []string{err.Error()}
		return c
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(f.before, f.failure.Key)
	}
	found := step.RereadCalls(&run.run, tried, nil, r.times.updated)
	if c.Prompts, c.Unknown = found.Equal, len(tried)-found.Equal; c.Unknown == 0 {
		c.Missing = nil
		if err := costsIn(tried, found); err != nil && f.writer == *env.rules {
			c.Verdict, c.Reason = EntryWrong, err.Error()
		}
	}
	return c
}

// add adds what was found about a turn, or about other calls, to the check of its entry.
func (x *rereading) add(c *EntryCheck, ev Event) {
	list := []*EntryCheck{x.found[c.Seq], x.interrupted(ev)}
	for _, f := range x.failed {
		if f.seq == c.Seq {
			list = append(list, cmp.Or(f.found, &EntryCheck{Unknown: len(f.failure.AttemptDetails), Missing: []string{fmt.Sprintf("the step %s could not run", f.failure.Key)}}))
		}
	}
	for _, found := range list {
		if found == nil {
			continue
		}
		c.Prompts, c.Unknown, c.Missing = c.Prompts+found.Prompts, c.Unknown+found.Unknown, append(c.Missing, found.Missing...)
		c.Read, c.Names = c.Read || found.Read, append(c.Names, found.Names...)
		if found.Verdict == EntryWrong && c.Verdict == EntryInput {
			c.Verdict, c.Reason = found.Verdict, found.Reason
		}
	}
}

// turn makes the prompts of a turn again, and reads its reply again. The result has a verdict only if something is wrong.
func (x *rereading) turn(r *record, ev *TurnDone) (c *EntryCheck) {
	env, outer := r.env, r.Env
	t := &ev.Turn
	defer func() {
		r.env, r.Env = env, outer
		if recover() != nil { // of the protocol or of a hook, which ends the change too
			c = &EntryCheck{Unknown: len(t.Attempts)}
		}
	}()
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == t.Key })
	if at < 0 || r.isHuman(t.Actor) || t.Kind == transcript.Silence {
		return &EntryCheck{}
	}
	s, p := &r.next()[at], &Prompt{}
	defer useTemplates(r, ev.Templates)()
	same := x.writer[t.Key] == *env.rules && ev.Templates == r.Settings.Templates.Version()
	run, err := p.rebuild(x.engine, r, s, t, !same)
	if err != nil {
		return &EntryCheck{Unknown: len(t.Attempts), Missing: []string{err.Error()}}
	}
	defer run.release()
	if tools := run.run.Plan.Tools; tools != nil {
		tools.Rounds, tools.Counted = roundsIn(x.calls[t.Key], t.Key)
	}
	found := step.RereadTurn(&run.run, t, r.times.updated)
	c = &EntryCheck{Prompts: found.Equal, Unknown: found.Unknown, Missing: append(p.Missing, found.Missing...), Read: found.Read && (same || found.Wrong == nil)}
	if run.run.Plan.Private {
		c.Missing = append(c.Missing, "it reads private documents, which no journal has")
	}
	if s.Blind {
		c.Names = namesIn(run.run.Plan.Pseudonyms, found)
	}
	if c.Missing != nil && found.Fits || slices.Contains(t.Flags, transcript.Edited) {
		found.Differs = nil
	}
	if !same {
		if c.Unknown += len(found.Differs); found.Differs != nil {
			c.Missing = append(c.Missing, x.otherMaker(r, ev))
		}
		return c
	}
	if err := wrongIn(t, found); err != nil {
		c.Verdict, c.Reason = EntryWrong, err.Error()
	}
	return c
}

// otherMaker says why the prompt of a turn may be another one in this engine.
func (x *rereading) otherMaker(r *record, ev *TurnDone) string {
	if is := x.writer[ev.Turn.Key]; is != *r.env.rules {
		return fmt.Sprintf("the rules of the engine that asked were %+v, those of this one are %+v", is, *r.env.rules)
	}
	return "this engine lacks the templates " + ev.Templates
}

// wrongIn returns what is wrong with a turn by the same rules.
func wrongIn(t *transcript.Turn, found *step.Reread) error {
	switch {
	case slices.Contains(t.Flags, transcript.Edited):
		return nil
	case !found.Fits && len(found.Missing) <= 1:
		return errors.New("its window is not how the history fits into the prompt")
	case len(found.Differs) > 0:
		return fmt.Errorf("the request of its call %d has another hash", found.Differs[0])
	case found.Wrong != nil:
		return found.Wrong
	}
	return costsIn(t.Attempts, found)
}

// costsIn compares the costs of attempts with those by the prices of the configuration.
func costsIn(tried []transcript.Attempt, found *step.Reread) error {
	for i, a := range tried {
		if u := found.Costs[i]; u != a.Usage {
			return fmt.Errorf("the cost of its call %d is %v, want %v", i+1, a.Usage.Cost, u.Cost)
		}
	}
	return nil
}

// namesIn returns where a blind prompt has names of participants, found as pseudonyms are put in place of names.
func namesIn(m *judge.Pseudonyms, found *step.Reread) (list []string) {
	add := func(where, text string) {
		for _, at := range m.Find(text) {
			list = append(list, fmt.Sprintf("%s: %q", where, characters.First(text[at:], 60)))
		}
	}
	for i := range found.Request.Messages {
		add(fmt.Sprintf("message %d", i+1), found.Request.Messages[i].Text)
	}
	add("schema", string(found.Request.Schema))
	return list
}
