package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/core"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/agenda"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Fork creates a debate from the first seq entries of the journal of another debate, with edits. If seq is 0, the fork has
// all entries. The other debate does not change, and may be running. The fork refers to it in Status.Parent, but does not
// need it: you can delete it.
//
// The fork continues as the other debate did or would, and calls no model for what is committed. seq may be any entry: if
// other entries were committed together with it, such as a transition that follows from a turn, Fork adds what follows from
// the entry. If the entry is a decision with a remark, the fork has the remark too. If the fork has an edited turn, it ends
// before the entry of that turn, and Fork adds the turn and what follows from it. If turns are silent in the fork, it ends
// before the first of them.
//
// Fork does not start the new debate. If the other debate was running at the entry, the fork is paused or back in
// configuring, and Run, RunOnce or Start continue it; where workers drive debates, Start does. If the other debate had
// ended, was paused or was in error, the fork is in the same state. The usage and the running time of its parent count in
// its budgets. The observer is told of the first entry of a fork and of those that the fork does not have from its parent.
//
// Fork returns *Problems if seq or an edit is invalid, field by field, store.ErrNotFound if there is no debate with that id,
// ErrTaken if the store has a debate with the ID of the edits, and ErrUnsupported if the engine lacks the debate's protocol.
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edits Edits) (*Debate, error) {
	return e.makeFork(ctx, "fork", id, func(entries []store.Entry) (f *fork, err error) {
		f = &fork{
			engine: e,
			parent: id,
			edits:  edits,
		}
		f.entries, err = f.cut(entries, seq)
		return f, err
	})
}

// Rejudge creates a debate in which the judges of a debate that has ended are asked again. The new debate is a fork: every
// speech, vote, rank and transition is that of its parent, and Run, RunOnce or Start ask only the judges from whose replies
// the protocol computes the answer, in their order; see [protocol.Decider]. What other judges have said stays as it was.
//
// The course of the debate is kept. If a new judge would have ended the debate earlier, or gone on, Result.Rejudged says so, and
// nothing else changes. The debate may then have no answer.
//
// What Omit names is left out of the prompts of these judges. The seed, the pseudonyms, the order and the rules of windows stay.
// Personas, findings, later quotes and summaries of other readers may still have words of it; Result.Rejudged lists the prompts
// in which they remain.
//
// As with Fork, the usage of the parent counts in the budgets, the parent does not change, and you can delete it. A budget or a
// person can end the new debate earlier: then it is concluded where it is, and the rest of the course is left out.
//
// Rejudge returns *Problems if a field is invalid, if the debate has not ended or was canceled, or if no judge decides it,
// store.ErrNotFound if there is no debate with that id, ErrTaken if the store has a debate with the ID of the new one, and
// ErrUnsupported if the engine lacks the debate's protocol.
func (e *Engine) Rejudge(ctx context.Context, id string, again Rejudge) (*Debate, error) {
	return e.makeFork(
		ctx,
		"rejudge",
		id,
		func(entries []store.Entry) (*fork, error) {
			return e.rejudge(id, entries, &again)
		},
	)
}

// rejudge returns the fork in which judges are asked again.
func (e *Engine) rejudge(id string, entries []store.Entry, again *Rejudge) (f *fork, err error) {
	past := openJournalOf(e, id)
	if err := past.begin(); err != nil {
		return nil, err
	}
	events := make([]Event, len(entries))
	for i, entry := range entries {
		events[i], err = past.read(entry)
		if err != nil {
			return nil, err
		}
	}
	if err := past.rec.LacksProtocol(); err != nil {
		return nil, err
	}
	f = &fork{
		engine: e,
		parent: id,
		edits:  Edits{ID: again.ID, Labels: again.Labels},
	}
	f.course, err = courseOf(past.rec, events, again)
	if err != nil {
		return nil, err
	}
	f.entries = entries[:f.course.From]
	f.edits.Config, err = again.config(e, events, f.course.From)
	return f, err
}

// makeFork commits the fork that plan plans from the entries of a debate.
func (e *Engine) makeFork(ctx context.Context, verb, id string, plan func(entries []store.Entry) (*fork, error)) (d *Debate, err error) {
	undo := func() {}
	defer func() {
		if err != nil {
			undo()
			d = nil
			err = fmt.Errorf("%s debate %s: %w", verb, id, err)
		}
	}()
	defer catchFailure(&err, transcript.Key{})
	if e.drivers.Closed() {
		return nil, ErrClosed
	}
	_, entries, err := e.store.Load(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	f, err := plan(entries)
	if err != nil {
		return nil, err
	}
	undo = f.addProtocol()
	return f.commit(ctx)
}

// fork makes a fork.
type fork struct {
	engine  *Engine
	parent  string
	edits   Edits
	entries []store.Entry   // of the parent
	course  *journal.Course // of a rejudged debate; nil for the one of the parent, if it has one
	journal *openJournal    // of the fork
	last    lastChange
}

// lastChange holds the entries of the last change that a fork has of its parent. More may have followed from its act in the parent.
type lastChange struct {
	events   []Event
	question *Question // the one that was open before it
}

// add adds the next entry of a journal. question is the one that is open before it.
func (l *lastChange) add(ev Event, question *Question) {
	if ev.Meta().Act != "" {
		*l = lastChange{question: question}
	}
	l.events = append(l.events, ev)
}

// decided returns the answer to a question that nothing but a remark follows.
func (l *lastChange) decided() (action string, q *Question) {
	given := slices.DeleteFunc(slices.Clone(l.events), isRemark)
	if len(given) != 1 || given[0].Meta().Act != journal.ActDecide {
		return "", nil
	}
	d, ok := given[0].(Decided)
	if !ok {
		return "", nil
	}
	return d.Action, l.question
}

// isRemark reports whether an event is the remark of a person.
func isRemark(ev Event) bool {
	t, ok := ev.(TurnDone)
	return ok && t.Turn.Kind == transcript.Remark
}

// dropped returns the drop with which the change ends, or nil.
func (l *lastChange) dropped() *Dropped {
	if len(l.events) == 0 {
		return nil
	}
	if d, ok := l.events[len(l.events)-1].(Dropped); ok {
		return &d
	}
	return nil
}

// cut returns the first seq entries of the parent, or those that the fork begins with instead.
func (f *fork) cut(entries []store.Entry, seq int64) ([]store.Entry, error) {
	l := &core.ProblemList{Problems: append(userinput.CheckID(f.edits.ID), userinput.CheckLabels(f.edits.Labels)...)}
	if c := f.edits.Config; c != nil && protocols.IsNil(c.Protocol) {
		l.Add("config.protocol", "it is a nil pointer of type %T, use a value", c.Protocol)
	}
	end := int64(len(entries))
	if seq < 0 || seq > end {
		l.Add("seq", "%d is not an entry of the debate, use 1 to %d", seq, end)
	}
	if f.edits.Turn == (transcript.Key{}) && f.edits.Reply != "" {
		l.Add("turn", "it is empty, but there is a reply")
	}
	f.edits.checkSilent(entries, l)
	if err := core.ProblemsOf("fork", l.Problems); err != nil {
		return nil, err
	}
	seq = cmp.Or(seq, end)
	if at := slices.IndexFunc(entries[:seq], f.edits.replaces); at >= 0 {
		return entries[:at], nil
	}
	if seq < end {
		next, err := journal.DecodeEntry(entries[seq])
		if err == nil && isRemark(next) && next.Meta().Act == "" && next.Meta().Repeats == 0 { // with a decision
			seq++
		}
	}
	return entries[:seq], nil
}

// addProtocol makes the engine use the very protocol of the configuration, or of the parent, for the fork.
func (f *fork) addProtocol() (undo func()) {
	f.edits.ID = cmp.Or(f.edits.ID, newID())
	given := f.engine.protocols.Given(f.parent)
	if c := f.edits.Config; c != nil && c.Protocol != nil {
		given = deepcopy.Of(c.Protocol)
	}
	if given == nil {
		return func() {}
	}
	return f.engine.protocols.Add(f.edits.ID, given)
}

func (f *fork) commit(ctx context.Context) (*Debate, error) {
	j := openJournalOf(f.engine, f.edits.ID)
	f.journal = j
	j.mu.Lock()
	defer j.mu.Unlock()
	entries, err := f.replay()
	if err != nil {
		return nil, err
	}
	if err := j.rec.CanContinue(); err != nil {
		return nil, err
	}
	c := core.NewChange(j.rec, time.Now())
	c.Act = journal.ActFork
	if err := edit(ctx, f.engine, c, &f.edits); err != nil {
		return nil, err
	}
	if err := f.last.settle(c); err != nil {
		return nil, err
	}
	entries = append(entries, journal.Entries(c.Events)...)
	if j.reports.ordered() {
		defer j.reports.commits.Lock(j.id)()
	}
	err = j.store.Commit(ctx, store.Change{
		ID:      j.id,
		Entries: entries,
		Status:  core.StatusOf(j.rec),
	})
	if _, taken := errors.AsType[*store.Conflict](err); taken {
		return nil, fmt.Errorf("%w: %s", ErrTaken, j.id)
	}
	if err != nil {
		return nil, err
	}
	defer j.machine.Release()
	if first, err := journal.DecodeEntry(entries[0]); err == nil {
		j.reports.committed(ctx, j.id, first)
	}
	for _, ev := range c.Events {
		j.reports.committed(ctx, j.id, ev)
		if err := j.follow(ev); err != nil {
			return nil, err
		}
	}
	return &Debate{engine: f.engine, journal: j}, nil
}

// replay reads the parent's entries into the record of the fork, and returns them as entries of the fork.
func (f *fork) replay() (list []store.Entry, err error) {
	if err := f.journal.begin(); err != nil {
		return nil, err
	}
	rec := f.journal.rec
	list = make([]store.Entry, len(f.entries), len(f.entries)+4)
	for i, e := range f.entries {
		if e.Type == "config" {
			e, err = f.reconfigure(e)
			if err != nil {
				return nil, err
			}
		}
		asked := rec.Decisions.Question
		ev, err := f.journal.read(e)
		if err != nil {
			return nil, err
		}
		list[i] = e
		f.last.add(ev, asked)
	}
	return list, nil
}

// reconfigure returns the entry of a configuration with the fork's ID and labels.
func (f *fork) reconfigure(e store.Entry) (store.Entry, error) {
	ev, err := journal.DecodeEntry(e)
	c, ok := ev.(ConfigChanged)
	if err != nil || !ok {
		return e, err
	}
	fields := map[string]any{"id": f.edits.ID}
	if f.edits.Labels != nil {
		fields["labels"] = f.edits.Labels
	}
	c.Config, err = entrylist.SetFields(c.Config, fields)
	if err != nil {
		return e, &store.Damaged{
			ID:  f.parent,
			Seq: e.Seq,
			Err: err,
		}
	}
	if e.Seq == 1 {
		c.Parent, c.Forked = transcript.Parent{
			ID:  f.parent,
			Seq: int64(len(f.entries)),
		}, time.Now().UTC().Truncate(time.Microsecond)
		c.Origin, err = f.origin(c.Origin)
		if err != nil {
			return e, err
		}
	}
	e.Data = journal.Data(c)
	return e, nil
}

// origin returns what only the first entry of the fork has. parent is that of its parent.
func (f *fork) origin(parent *journal.Origin) (*journal.Origin, error) {
	end := int64(len(f.entries))
	own := &journal.Origin{
		Silent: forks.Silent(parent.Silent).Fork(end, f.edits.Silent.Turns, f.edits.Silent.Seats),
		Course: parent.Course,
	}
	if own.Course != nil && end < own.Course.From { // a fork of what was judged
		own.Course = nil
	}
	own.Course = cmp.Or(f.course, own.Course)
	keys, err := keysOfFork(parent.Keys, f.entries, own.Course)
	own.Keys = keys
	return own, err
}

// settle adds what follows from the last entries without a model call, and leaves the fork in a state in which nobody
// drives it.
func (l *lastChange) settle(c *core.Change) error {
	r := c.State
	action, q := l.decided()
	if q != nil && r.Lifecycle.State == fsm.Paused {
		if err := c.ApplyDecision(action, q); err != nil {
			return err
		}
	}
	dropped := l.dropped()
	judge := dropped != nil && journal.Find(r.Config.Judges, dropped.Name) != nil
	if judge && r.Config.OnJudgeFailure == End && r.Lifecycle.State.Active() {
		if err := c.EndAfterDrop(dropped.Failure, nil); err != nil {
			return err
		}
	}
	if err := c.GoOn(); err != nil {
		return err
	}
	switch {
	case r.Lifecycle.State == fsm.Ready: // Recover would start it
		return c.Fire(fsm.Edit, StateChanged{})
	case r.Lifecycle.State.Active():
		return c.Fire(fsm.Pause, StateChanged{Fork: true})
	}
	return nil
}

// keysOfFork returns the keys of a fork that begins with the given entries: a secret of its own, and the keys of the hashes in
// these entries and in its course. parent gives those.
func keysOfFork(parent *seal.Keys, entries []store.Entry, stored *journal.Course) (*seal.Keys, error) {
	k := seal.New()
	c, err := forks.ReadCourse(stored)
	if err != nil {
		return nil, err
	}
	for _, e := range append(slices.Clip(entries), journal.Entries(c.Events())...) {
		ev, err := journal.DecodeEntry(e)
		if err != nil { // whoever reads the entries into a record names it
			continue
		}
		k.Copy(parent, hashesIn(ev))
	}
	return k, nil
}

func hashesIn(ev Event) (ids []string) {
	calls := func(step transcript.Key, list []transcript.Attempt) {
		for _, a := range list {
			if a.Hash != "" {
				ids = append(ids, seal.CallID(step.String(), a.Began))
			}
		}
	}
	switch ev := ev.(type) {
	case TurnDone:
		calls(ev.Turn.Key, ev.Turn.Attempts)
		if ev.Reply != "" {
			ids = append(ids, seal.ReplyID(ev.Turn.Key.String()))
		}
	case ToolsCalled:
		calls(ev.Key, ev.Attempts)
	}
	for _, f := range journal.Failures(ev) {
		calls(f.Key, f.AttemptDetails)
	}
	return ids
}

// Edits are the differences between a fork and the debate that it is a fork of. The zero Edits changes nothing. Edits are
// plain data and survive JSON.
type Edits struct {
	// ID identifies the fork. Defaults to a new UUID of version 7.
	ID string `json:"id,omitempty"`
	// Labels are the labels of the fork. If Labels is nil, the fork has those of Config, or those of its parent if Config is
	// nil.
	Labels map[string]string `json:"labels,omitzero"`
	// Config is the whole configuration of the fork from its last entry on; its ID and an empty Seed are ignored. What is
	// committed stays as it is. If there is a turn, the seed, the protocol, and the names, the sides and the order of the
	// participants must stay too. Defaults to the configuration of the parent at that point.
	Config *Config `json:"config,omitempty"`
	// Turn is the key of a step that has the text Reply in the fork, as text or as JSON that follows the contract of the
	// step. It must be a step of the last entries that the fork has, or one that may run after them. The turn has the flag
	// transcript.Edited.
	Turn  transcript.Key `json:"turn,omitzero"`
	Reply string         `json:"reply,omitempty"`
	// Silent names speeches in free text, before the first of which the fork ends, and participants that are silent from the
	// fork on. Their steps are done at once and without a model, with an empty turn of the kind transcript.Silence that no
	// prompt shows, and the debate continues. At least two participants must remain. What is silent in the parent is silent in
	// the fork too. Documents must be empty.
	Silent Omission `json:"silent,omitzero"`
}

func edit(ctx context.Context, e *Engine, c *core.Change, edits *Edits) error {
	if edits.Config == nil &&
		edits.Turn == (transcript.Key{}) &&
		edits.Silent.IsZero() {
		return nil
	}
	if c.State.Lifecycle.State.Final() {
		return core.ProblemOf(
			"fork",
			"seq",
			"the debate has ended by entry %d, so edits have no effect: use an earlier entry",
			c.State.Seq,
		)
	}
	if edits.Config != nil {
		if err := editConfig(ctx, e, c, edits); err != nil {
			return err
		}
	}
	if seats := edits.Silent.Seats; len(seats) > 0 {
		left := c.State.Agenda.Silent.Remaining(c.State.Seq, c.State.ParticipantNames())
		found := forks.CheckSilentSeats(
			seats,
			prompting.NamesOf(core.Profiles(*c.State.Config)),
			left,
			core.ForecastOf(c.State).Steps,
		)
		if err := core.ProblemsOf("fork", found); err != nil {
			return err
		}
	}
	if edits.Turn == (transcript.Key{}) {
		return nil
	}
	return editTurn(c, edits)
}

func editConfig(ctx context.Context, e *Engine, c *core.Change, edits *Edits) error {
	r := c.State
	cfg, found := e.problems(*edits.Config, false)
	cfg.ID = edits.ID
	cfg.Seed = cmp.Or(edits.Config.Seed, r.Seed)
	if edits.Labels != nil {
		cfg.Labels = maps.Clone(edits.Labels)
	}
	if r.HasTurns() {
		found = append(found, fixedFields(r, &cfg)...)
	}
	found = append(found, userinput.CheckReaders(r.Config.Documents, cfg.Documents)...)
	var limits map[string]int
	checkedAgain := !r.Accepted.Valid || r.Lifecycle.State == fsm.Ready // before it continues
	if len(found) == 0 && !checkedAgain {
		core.KeepWindows(&cfg, r.Config)
		core.SetWindows(&cfg, e.knownWindows(ctx, &cfg))
		first := e.preflight(core.Seats{Config: &cfg}, nil)
		found = first.problems // what the engine lacks is reported when the fork runs
		limits = first.limits
	}
	for i := range found {
		found[i].Field = "config." + found[i].Field
	}
	if err := core.ProblemsOf("fork", found); err != nil {
		return err
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	ev := ConfigChanged{
		EventMeta:   c.Stamp("config"),
		At:          c.Now,
		Format:      store.Format,
		Config:      raw,
		ReplyTokens: limits,
	}
	if err := c.Add(ev); err != nil {
		return err
	}
	if r.NotStarted() {
		return c.Fire(fsm.Edit, StateChanged{})
	}
	return nil
}

func editTurn(c *core.Change, edits *Edits) error {
	r := c.State
	key := edits.Turn
	s := r.Open(key)
	if s == nil {
		return core.ProblemOf(
			"fork",
			"turn",
			"%s is neither a step of the first %d entries nor one that may run after them",
			key,
			r.Seq,
		)
	}
	if agenda.IsEmpty(*s) {
		return core.ProblemOf("fork", "turn", "%s is silent in this fork, so it cannot have a reply", key)
	}
	who, _, _ := r.Actor(s.Actor)
	text := characters.Valid(edits.Reply)
	t, err := core.GivenTurn(r, s, "fork", text, r.Engine.Count(who.Model, text), cmp.Or(who.MaxTokens, turns.MaxTokens))
	if err != nil {
		return err
	}
	t.Started = c.Now
	t.Ended = c.Now
	t.Flags = []transcript.Flag{transcript.Edited}
	r.Extract(&t)
	ev := TurnDone{
		EventMeta: c.Stamp("turn"),
		At:        c.Now,
		Turn:      t,
	}
	if r.IsHuman(s.Actor) {
		ev.Turn.By = s.Actor
		ev.Reply = r.Keys.Reply(key.String(), edits.Reply)
	}
	return c.Add(ev)
}

// replaces reports whether an entry is a turn that the edits replace.
func (edits *Edits) replaces(e store.Entry) bool {
	return e.Key == edits.Turn.String() ||
		slices.ContainsFunc(edits.Silent.Turns, func(k transcript.Key) bool {
			return e.Key == k.String()
		})
}

// checkSilent adds a problem for each turn that cannot be silent.
func (edits *Edits) checkSilent(list []store.Entry, l *core.ProblemList) {
	if edits.Silent.IsZero() {
		return
	}
	if edits.Silent.Documents != nil {
		l.Add("silent.documents", "documents cannot be silent, give turns or seats")
	}
	l.Problems = append(l.Problems, forks.CheckSilentTurns(edits.Silent.Turns, func(key transcript.Key) (*transcript.Turn, bool) {
		at := entrylist.Find(list, key.String())
		if at < 0 {
			return nil, false
		}
		ev, _ := journal.DecodeEntry(list[at]) // whoever reads it into a record reports that it is damaged
		if done, ok := ev.(TurnDone); ok {
			return &done.Turn, true
		}
		return nil, true
	})...)
	ev, _ := journal.DecodeEntry(list[0])
	if first, ok := ev.(ConfigChanged); ok &&
		first.Origin != nil &&
		first.Origin.Course != nil {
		l.Add("silent", "the judges of the debate were asked again, and its course stays: fork its parent")
	}
}

// Rejudge says how the judges of a debate are asked again. The zero Rejudge asks the same judges the same. It is plain data
// and survives JSON.
type Rejudge struct {
	// ID identifies the new debate. Defaults to a new UUID of version 7.
	ID string `json:"id,omitempty"`
	// Labels are the labels of the new debate. Defaults to those of its parent.
	Labels map[string]string `json:"labels,omitzero"`
	// Judges judge in place of the debate's judges. Defaults to these.
	Judges []Participant `json:"judges,omitempty"`
	// Rubric replaces the criteria by which judges score, and Prompts the name of the templates. Default to the debate's own.
	Rubric  judge.Rubric `json:"rubric,omitempty"`
	Prompts string       `json:"prompts,omitempty"`
	// Prices replaces the prices of models, which new judges may need. Defaults to those of the debate.
	Prices price.Prices `json:"prices,omitempty"`
	// Omit is left out of the prompts of the judges who decide.
	Omit Omission `json:"omit,omitzero"`
	// Swap shows each judge who is asked only once in a phase, and who knows the participants by pseudonyms, the participants in
	// the opposite order.
	Swap bool `json:"swap,omitempty"`
}

// config returns the configuration of the new debate, or nil if it is that of the parent at the entry from. Judges who dropped out
// before that entry stay out, unless new judges are given.
func (again *Rejudge) config(e *Engine, events []Event, from int64) (*Config, error) {
	changed := again.Judges != nil ||
		again.Rubric != nil ||
		again.Prompts != "" ||
		again.Prices != nil
	var last ConfigChanged
	dropped := map[string]bool{}
	for _, ev := range events {
		switch ev := ev.(type) {
		case ConfigChanged:
			last = ev
			changed = changed || ev.Seq > from
			if ev.Seq <= from {
				clear(dropped)
			}
		case StateChanged:
			if ev.On == fsm.Reset {
				clear(dropped)
			}
		case Dropped:
			dropped[ev.Name] = ev.Seq <= from
		}
	}
	if !changed {
		return nil, nil
	}
	c, err := e.parse(last.Config)
	if err != nil {
		return nil, err
	}
	c.Judges = slices.DeleteFunc(c.Judges, func(j Participant) bool {
		return dropped[j.Name]
	})
	if again.Judges != nil {
		c.Judges = slices.Clone(again.Judges)
	}
	if again.Rubric != nil {
		c.Rubric = slices.Clone(again.Rubric)
	}
	if again.Prompts != "" {
		c.Prompts = again.Prompts
	}
	if again.Prices != nil {
		c.Prices = maps.Clone(again.Prices)
	}
	if again.Labels != nil {
		c.Labels = maps.Clone(again.Labels)
	}
	return &c, nil
}

// courseOf returns the course that a rejudged debate has of its parent.
func courseOf(r *core.State, events []Event, again *Rejudge) (*journal.Course, error) {
	l := &core.ProblemList{Problems: append(userinput.CheckID(again.ID), userinput.CheckLabels(again.Labels)...)}
	c := &journal.Course{Omit: again.Omit, Swap: again.Swap}
	decider, ok := r.Config.Protocol.(protocol.Decider)
	if ok {
		c.Phases = decider.Deciding()
	}
	c.From = int64(forks.FirstDecision(events, c))
	switch {
	case !ok:
		l.Add("id", "the protocol %s does not say which steps decide, see protocol.Decider", r.Config.Protocol.Name())
	case r.Lifecycle.State == fsm.Canceled:
		l.Add("id", "the debate was canceled, so there is nothing to judge")
	case !r.Lifecycle.State.Final():
		l.Add("id", "the debate has not ended, it is %s", r.Lifecycle.State)
	case c.From == 0:
		l.Add("id", "no judge decides the debate")
	}
	if err := core.ProblemsOf("rejudge", l.Problems); err != nil {
		return nil, err
	}
	l.Problems = append(l.Problems, forks.CheckOmission(
		&c.Omit,
		r.Find,
		prompting.NamesOf(core.Profiles(*r.Config)),
		core.DocumentNames(r.Config),
	)...)
	again.checkTools(l, r, events[c.From:], c)
	if err := core.ProblemsOf("rejudge", l.Problems); err != nil {
		return nil, err
	}
	for _, ev := range events[c.From:] {
		raw, err := json.Marshal(ev)
		if err != nil {
			return nil, err
		}
		c.Entries = append(c.Entries, raw)
	}
	return c, nil
}

// checkTools adds a problem if new judges could find sources whose numbers are those of sources that participants have found
// later.
func (again *Rejudge) checkTools(l *core.ProblemList, r *core.State, rest []Event, course *journal.Course) {
	judges := again.Judges
	if judges == nil {
		judges = r.Config.Judges
	}
	called := slices.ContainsFunc(rest, func(ev Event) bool {
		calls, ok := ev.(ToolsCalled)
		return ok && !course.Decides(calls.Key.Phase)
	})
	for i := range judges {
		if called && len(judges[i].Tools) > 0 {
			l.Add(
				actor.Field("judges", i),
				"%q has tools, but others called tools after the first decision, and the numbers of sources must stay; "+
					"use a judge without tools",
				judges[i].Name,
			)
		}
	}
}

// beforeRejudging returns the entries of the debate that a rejudged debate has judged again, as far as the debate keeps them. It
// returns the list unchanged if the debate does not repeat the turn with that key.
func beforeRejudging(list []store.Entry, key transcript.Key) ([]store.Entry, error) {
	at := entrylist.Find(list, key.String())
	if at < 0 {
		return list, nil
	}
	if ev, err := journal.DecodeEntry(list[at]); err != nil || ev.Meta().Repeats == 0 {
		return list, err
	}
	ev, err := journal.DecodeEntry(list[0])
	if err != nil {
		return nil, err
	}
	first := ev.(ConfigChanged)
	c, err := forks.ReadCourse(first.Origin.Course)
	if err != nil {
		return nil, err
	}
	alone := *first.Origin
	alone.Course = nil
	first.Origin = &alone
	list = slices.Clone(list[:c.Given.From])
	list[0].Data = journal.Data(first)
	return append(list, journal.Entries(c.Events())...), nil
}
