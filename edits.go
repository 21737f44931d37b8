package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/journals"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

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

func edit(ctx context.Context, e *Engine, c *transaction, edits *Edits) error {
	if edits.Config == nil && edits.Turn == (transcript.Key{}) && edits.Silent.IsZero() {
		return nil
	}
	if c.rec.lifecycle.State.Final() {
		return problemOf(
			"fork",
			"seq",
			"the debate has ended by entry %d, so edits have no effect: use an earlier entry",
			c.rec.Seq,
		)
	}
	if edits.Config != nil {
		if err := editConfig(ctx, e, c, edits); err != nil {
			return err
		}
	}
	if seats := edits.Silent.Seats; len(seats) > 0 {
		left := c.rec.fork.silent.Remaining(c.rec.Seq, c.rec.ParticipantNames())
		found := forks.CheckSilentSeats(
			seats,
			prompting.NamesOf(participantProfiles(*c.rec.config)),
			left,
			forecastOf(c.rec).Steps,
		)
		if err := problemsOf("fork", found); err != nil {
			return err
		}
	}
	if edits.Turn == (transcript.Key{}) {
		return nil
	}
	return editTurn(c, edits)
}

func editConfig(ctx context.Context, e *Engine, c *transaction, edits *Edits) error {
	r := c.rec
	cfg, found := withDefaults(*edits.Config, e.env, e.learnsWindow)
	cfg.ID = edits.ID
	cfg.Seed = cmp.Or(edits.Config.Seed, r.Seed)
	if edits.Labels != nil {
		cfg.Labels = maps.Clone(edits.Labels)
	}
	if len(found) == 0 && r.HasTurns() {
		found = fixedFields(r, &cfg)
	}
	found = append(append(found, additions.CheckReaders(
		r.config.Documents,
		cfg.Documents,
	)...), unrepeatable(
		e,
		seatSettings{config: &cfg},
	)...)
	var limits map[string]int
	if len(found) == 0 && r.accepted.valid &&
		r.lifecycle.State != fsm.Ready { // it is not checked again before it continues
		keepWindows(&cfg, r.config)
		setWindows(&cfg, e.knownWindows(ctx, &cfg))
		found, limits, _, _ = e.preflight(
			seatSettings{config: &cfg},
			nil,
		) // what the engine lacks is reported when the fork runs
	}
	for i := range found {
		found[i].Field = "config." + found[i].Field
	}
	if err := problemsOf("fork", found); err != nil {
		return err
	}
	raw, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	ev := ConfigChanged{
		EventMeta:   c.stamp("config"),
		At:          c.now,
		Format:      store.Format,
		Config:      raw,
		ReplyTokens: limits,
	}
	if err := c.add(ev); err != nil {
		return err
	}
	if s := r.lifecycle.State; s == fsm.Configuring || s == fsm.Ready {
		return c.fire(fsm.Edit, StateChanged{})
	}
	return nil
}

// fixedFields returns a problem for each field that a fork with turns must not change.
func fixedFields(r *record, cfg *Config) []protocol.Problem {
	l := &problemList{}
	same := func(field string, a, b any) {
		l.same(field, "it cannot change after the first turn, fork from an earlier entry", a, b)
	}
	same("seed", r.Seed, cfg.Seed)
	same("protocol", protocols.Parameters(r.config.Protocol), protocols.Parameters(cfg.Protocol))
	seats := func(c *Config) (list []string) {
		for _, p := range participantProfiles(*c) {
			list = append(list, p.Name, p.Side)
		}
		return list
	}
	same("participants", seats(r.config), seats(cfg))
	return l.problems
}

func editTurn(c *transaction, edits *Edits) error {
	r := c.rec
	key := edits.Turn
	s := r.open(key)
	if s == nil {
		return problemOf(
			"fork",
			"turn",
			"%s is neither a step of the first %d entries nor one that may run after them",
			key,
			r.Seq,
		)
	}
	if forks.IsSilent(*s) {
		return problemOf("fork", "turn", "%s is silent in this fork, so it cannot have a reply", key)
	}
	who, _, _ := r.actor(s.Actor)
	text := characters.Valid(edits.Reply)
	t, err := givenTurn(r, s, "fork", text, r.env.Count(who.Model, text), cmp.Or(who.MaxTokens, turns.MaxTokens))
	if err != nil {
		return err
	}
	t.Started = c.now
	t.Ended = c.now
	t.Flags = []transcript.Flag{transcript.Edited}
	r.extract(&t)
	ev := TurnDone{
		EventMeta: c.stamp("turn"),
		At:        c.now,
		Turn:      t,
	}
	if r.isHuman(s.Actor) {
		ev.Turn.By = s.Actor
		ev.Reply = r.keys.Reply(key.String(), edits.Reply)
	}
	return c.add(ev)
}

// replaces reports whether an entry is a turn that the edits replace.
func (edits *Edits) replaces(e store.Entry) bool {
	return e.Key == edits.Turn.String() ||
		slices.ContainsFunc(edits.Silent.Turns, func(k transcript.Key) bool { return e.Key == k.String() })
}

// checkSilent adds a problem for each turn that cannot be silent.
func (edits *Edits) checkSilent(list []store.Entry, l *problemList) {
	if edits.Silent.IsZero() {
		return
	}
	if edits.Silent.Documents != nil {
		l.add("silent.documents", "documents cannot be silent, give turns or seats")
	}
	l.problems = append(l.problems, forks.CheckSilentTurns(edits.Silent.Turns, func(key transcript.Key) (*transcript.Turn, bool) {
		at := journals.Find(list, key.String())
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
	if first, ok := ev.(ConfigChanged); ok && first.Origin != nil && first.Origin.Course != nil {
		l.add("silent", "the judges of the debate were asked again, and its course stays: fork its parent")
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
	changed := again.Judges != nil || again.Rubric != nil || again.Prompts != "" || again.Prices != nil
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
	c.Judges = slices.DeleteFunc(c.Judges, func(j Participant) bool { return dropped[j.Name] })
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
func courseOf(r *record, events []Event, again *Rejudge) (*journal.Course, error) {
	l := &problemList{append(additions.CheckID(again.ID), additions.CheckLabels(again.Labels)...)}
	c := &journal.Course{Omit: again.Omit, Swap: again.Swap}
	decider, ok := r.config.Protocol.(protocol.Decider)
	if ok {
		c.Phases = decider.Deciding()
	}
	c.From = int64(forks.FirstDecision(events, c))
	switch {
	case !ok:
		l.add("id", "the protocol %s does not say which steps decide, see protocol.Decider", r.config.Protocol.Name())
	case r.lifecycle.State == fsm.Canceled:
		l.add("id", "the debate was canceled, so there is nothing to judge")
	case !r.lifecycle.State.Final():
		l.add("id", "the debate has not ended, it is %s", r.lifecycle.State)
	case c.From == 0:
		l.add("id", "no judge decides the debate")
	}
	if err := problemsOf("rejudge", l.problems); err != nil {
		return nil, err
	}
	l.problems = append(l.problems, forks.CheckOmission(
		&c.Omit,
		r.Find,
		prompting.NamesOf(participantProfiles(*r.config)),
		documentNames(r.config),
	)...)
	again.checkTools(l, r, events[c.From:], c)
	if err := problemsOf("rejudge", l.problems); err != nil {
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
func (again *Rejudge) checkTools(l *problemList, r *record, rest []Event, course *journal.Course) {
	judges := again.Judges
	if judges == nil {
		judges = r.config.Judges
	}
	called := slices.ContainsFunc(rest, func(ev Event) bool {
		calls, ok := ev.(ToolsCalled)
		return ok && !course.Decides(calls.Key.Phase)
	})
	for i := range judges {
		if called && len(judges[i].Tools) > 0 {
			l.add(
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
	at := journals.Find(list, key.String())
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
	list = slices.Clone(list[:c.Plan.From])
	list[0].Data = journal.Data(first)
	return append(list, journal.Entries(c.Events())...), nil
}
