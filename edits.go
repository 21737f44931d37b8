package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/additions"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/internal/silence"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
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

// edit adds the edits to the fork.
func edit(ctx context.Context, e *Engine, c *transaction, edits *Edits) error {
	if edits.Config == nil && edits.Turn == (transcript.Key{}) && edits.Silent.IsZero() {
		return nil
	}
	if c.rec.lifecycle.State.Final() {
		return problemsOf("fork", []protocol.Problem{protocol.Problemf("seq", "the debate has ended by entry %d, so edits have no effect: use an earlier entry", c.rec.Seq)})
	}
	if edits.Config != nil {
		if err := editConfig(ctx, e, c, edits); err != nil {
			return err
		}
	}
	if err := checkSilentSeats(c.rec, edits.Silent.Seats); err != nil {
		return err
	}
	if edits.Turn == (transcript.Key{}) {
		return nil
	}
	return editTurn(c, edits)
}

// editConfig adds the edited configuration.
func editConfig(ctx context.Context, e *Engine, c *transaction, edits *Edits) error {
	r := c.rec
	cfg, found := edits.Config.withDefaults(e.env, e.learnsWindow)
	cfg.ID, cfg.Seed = edits.ID, cmp.Or(edits.Config.Seed, r.Seed)
	if edits.Labels != nil {
		cfg.Labels = maps.Clone(edits.Labels)
	}
	if len(found) == 0 && r.hasTurns() {
		found = fixedFields(r, &cfg)
	}
	found = append(append(found, additions.CheckReaders(r.config.Documents, cfg.Documents)...), unrepeatable(e, &cfg)...)
	var limits map[string]int
	if len(found) == 0 && r.accepted.valid && r.lifecycle.State != fsm.Ready { // it is not checked again before it continues
		keepWindows(&cfg, r.config)
		setWindows(&cfg, e.knownWindows(ctx, &cfg))
		found, limits, _, _ = e.preflight(&cfg) // what the engine lacks is reported when the fork runs
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
	if err := c.add(ConfigChanged{EventMeta: c.stamp("config"), At: c.now, Format: formatOf(&cfg), Config: raw, ReplyTokens: limits}); err != nil {
		return err
	}
	if s := r.lifecycle.State; s == fsm.Configuring || s == fsm.Ready {
		return c.fire(fsm.Edit, StateChanged{})
	}
	return nil
}

// fixedFields returns a problem for each field that a fork with turns must not change.
func fixedFields(r *record, cfg *Config) (list []protocol.Problem) {
	same := func(field string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			list = append(list, protocol.Problemf(field, "it cannot change after the first turn, fork from an earlier entry"))
		}
	}
	same("seed", r.Seed, cfg.Seed)
	same("protocol", protocoljson.Parameters(r.config.Protocol), protocoljson.Parameters(cfg.Protocol))
	seats := func(c *Config) (list []string) {
		for _, p := range participantProfiles(*c) {
			list = append(list, p.Name, p.Side)
		}
		return list
	}
	same("participants", seats(r.config), seats(cfg))
	return list
}

// editTurn adds the edited turn.
func editTurn(c *transaction, edits *Edits) error {
	r, key := c.rec, edits.Turn
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == key })
	if at < 0 {
		return problemsOf("fork", []protocol.Problem{protocol.Problemf("turn", "%s is neither a step of the first %d entries nor one that may run after them", key, r.Seq)})
	}
	s := &r.next()[at]
	if silence.Is(*s) {
		return problemsOf("fork", []protocol.Problem{protocol.Problemf("turn", "%s is silent in this fork, so it cannot have a reply", key)})
	}
	who, _, _ := r.actor(s.Actor)
	text := characters.Valid(edits.Reply)
	t, err := givenTurn(r, s, "fork", text, r.env.Count(who.Model, text), cmp.Or(who.MaxTokens, turns.MaxTokens))
	if err != nil {
		return err
	}
	t.Started, t.Ended, t.Flags = c.now, c.now, []transcript.Flag{transcript.Edited}
	r.extract(&t)
	ev := TurnDone{EventMeta: c.stamp("turn"), At: c.now, Turn: t}
	if r.isHuman(s.Actor) {
		ev.Turn.By, ev.Reply = s.Actor, r.keys.Reply(key.String(), edits.Reply)
	}
	return c.add(ev)
}

// replaces reports whether an entry is a turn that the edits replace.
func (edits *Edits) replaces(e store.Entry) bool {
	return e.Key == edits.Turn.String() || slices.ContainsFunc(edits.Silent.Turns, func(k transcript.Key) bool { return e.Key == k.String() })
}

// checkSilent adds a problem for each turn that cannot be silent.
func (edits *Edits) checkSilent(entries []store.Entry, l *problemList) {
	if edits.Silent.IsZero() {
		return
	}
	if edits.Silent.Documents != nil {
		l.add("silent.documents", "documents cannot be silent, give turns or seats")
	}
	for i, key := range edits.Silent.Turns {
		field := fmt.Sprintf("silent.turns[%d]", i)
		at := slices.IndexFunc(entries, func(e store.Entry) bool { return e.Key == key.String() })
		if at < 0 {
			l.add(field, "the debate has no turn %s", key)
			continue
		}
		ev, _ := decodeEntry(entries[at])
		if done, ok := ev.(TurnDone); ok && done.Turn.Kind != transcript.Speech && done.Turn.Kind != transcript.Silence {
			l.add(field, "%s is no speech, but a turn of kind %s", key, done.Turn.Kind)
		} else if ok && done.Turn.Contract != "" {
			l.add(field, "%s has the contract %s, and the protocol counts on its values", key, done.Turn.Contract)
		}
	}
	ev, _ := decodeEntry(entries[0])
	if first, ok := ev.(ConfigChanged); ok && first.course != nil {
		l.add("silent", "the judges of the debate were asked again, and its course stays: fork its parent")
	}
}

// checkSilentSeats returns a problem for each participant that cannot be silent in a fork.
func checkSilentSeats(r *record, seats []string) error {
	l := &problemList{}
	for i, name := range seats {
		field := fmt.Sprintf("silent.seats[%d]", i)
		if findParticipant(r.config.Participants, name) == nil {
			l.add(field, "%q is not a participant", name)
		}
		steps := forecastOf(r).Steps
		if at := slices.IndexFunc(steps, func(s protocol.Step) bool { return s.Actor == name && s.Kind == transcript.Speech && s.Contract != "" }); at >= 0 {
			l.add(field, "%q replies with the contract %s, and the protocol counts on its values", name, steps[at].Contract)
		}
	}
	if left := r.fork.silent.Remaining(r.ParticipantNames()); len(seats) > 0 && len(left) < 2 {
		l.add("silent.seats", "at least two participants must remain, but there are %d: leave out turns instead", len(left))
	}
	return problemsOf("fork", l.problems)
}
