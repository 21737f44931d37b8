package debate

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/journals"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Snapshot is the state of a debate after one entry of its journal.
type Snapshot struct {
	Event Event // the event in the entry
	rec   *record
}

// Status returns a short summary of the debate's state at that point.
func (m *Snapshot) Status() store.Status { return statusOf(m.rec) }

// Result returns the debate as it was at that point.
func (m *Snapshot) Result() *Result { return resultOf(m.rec) }

// Refusal returns the *fsm.Refused with which the lifecycle refused an event at that point, or nil if the event was possible.
func (m *Snapshot) Refusal(on fsm.Event) (err error) {
	if on == fsm.Start && m.rec.fork.idle { // Start resumes it
		on = fsm.Resume
	}
	_, err = fsm.Next(m.rec.lifecycle, on, m.rec.facts())
	return err
}

// Replay yields the debate's state after each entry of its journal, with the entry's event. The events are those that
// were shown when they happened, except live events. Replay stops at the end of the journal; use Watch to follow the
// debate further. A snapshot is valid until the next one is yielded. If an entry cannot be read, Replay yields an
// error that names it.
func (d *Debate) Replay(ctx context.Context) iter.Seq2[*Snapshot, error] { return d.ReplayAs(ctx, "") }

// ReplayAs replays the debate for a viewer who speaks for a participant or a judge. It stops before the first entry that
// [Debate.WatchAs] withholds from that seat, and yields the same errors. An empty seat sees everything.
func (d *Debate) ReplayAs(ctx context.Context, seat string) iter.Seq2[*Snapshot, error] {
	return func(yield func(*Snapshot, error) bool) {
		entries, err := d.journal.all(ctx)
		if err == nil && seat != "" {
			entries, err = d.entriesFor(seat, entries)
		}
		past := openJournalOf(d.engine, d.ID())
		if err == nil {
			err = past.begin()
		}
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
	if panicked := panics.Call(func() {
		err = d.verify(ctx, &last)
	}); panicked != nil { // the protocol, on what the entries hold
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
	var plans journals.Plans
	past.verify = func(r *record, ev Event) error { return verifyEntry(&plans, r, ev) }
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
		x := &rederivation{journal: openJournalOf(d.engine, d.ID()), engine: d.engine}
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
	if err := r.protocolKnown(); err != nil {
		return nil, err
	}
	s := r.open(key)
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
	if r.isHuman(s.Actor) {
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
	at := journals.Find(list, key.String())
	if at < 0 {
		return done, problemOf("step", "key", "the debate has no turn %s", key)
	}
	ev, err := journal.DecodeEntry(list[at])
	if err != nil {
		return done, err
	}
	done, _ = ev.(TurnDone)
	if k := done.Turn.Kind; k == transcript.Remark || k == transcript.Silence {
		return done, problemOf("step", "key", "%s is a %s: nobody was asked for it", key, k)
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
func (p *Prompt) askPerson(r *record, s *protocol.Step) (err error) {
	p.Request.Messages = r.Messages(s)
	if asked := r.people.asked[s.Key]; asked != nil {
		p.Request.Messages = append(p.Request.Messages, providers.Message{Role: providers.User, Text: asked.Task})
		p.Request.SchemaName = asked.Contract
		p.Request.Schema = asked.Schema
		p.Request.MaxTokens = asked.Tokens
	}
	p.Briefing, err = newBriefing(r, s)
	return err
}
