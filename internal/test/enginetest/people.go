package enginetest

import (
	"context"
	"errors"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

var peopleTests = map[string]func(*env){
	"people reply from other processes":                                (*env).peopleElsewhere,
	"a debate with people survives a process for each event":           (*env).peopleAndProcessPerEvent,
	"of two people who reply for one seat at once, the first is heard": (*env).peopleAtOnce,
}

// ReplyForPeople replies for all people whom a debate waits for, and approves at an open gate. Each reply depends on what
// the person may read.
func ReplyForPeople(ctx context.Context, d *debate.Debate, cfg debate.Config) error {
	r, err := d.Result(ctx)
	if err != nil {
		return err
	}
	if q := r.Question; q != nil && q.Gate != "" {
		return d.Decide(ctx, q.ID, "approve")
	}
	list, err := d.Waiting(ctx)
	for _, a := range list {
		if err == nil {
			err = d.Answer(ctx, a.Key, personReply(cfg, a), "")
		}
		if errors.Is(err, debate.ErrNotAsked) { // the debate, or another process, was faster
			err = nil
		}
	}
	return err
}

// personReply returns a valid reply of a person, as a model would give it.
func personReply(cfg debate.Config, a debate.Asked) string {
	r := providers.Request{SchemaName: a.Contract}
	for _, t := range a.Said {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: t.Actor + ": " + t.Text})
	}
	r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: a.Key.Actor + ", " + a.Task})
	return PresetReply(cfg, r)
}

// forEachModeWithPeople runs a subtest for each mode, with a debate of a person and two models, a human judge and a gate,
// and with its outcome and its journal if one process runs it in memory.
func (s *env) forEachModeWithPeople(test func(s *env, cfg debate.Config, text string, journal []string)) {
	for name, p := range modes {
		s.runSubtest(name, func(s *env) {
			cfg := withOneJudge(presetConfig(p.(panel.Protocol), 2, "A", "B", "C"))
			cfg.ID, cfg.AskBeforeVerdict = "people-"+string(name[3]), true
			cfg.Participants[1].Human, cfg.Judges[0].Human = true, true
			m := store.Memory()
			d := s.create(s.newProcessOver(m, presetModel(cfg)), cfg)
			for !s.status(d).State.Final() {
				require.NoError(s, s.runDebate(d).err)
				require.NoError(s, ReplyForPeople(s.ctx, d, cfg))
			}
			test(s, cfg, s.formatOutcome(d), s.journalOf(m, cfg.ID))
		})
	}
}

// journalOf returns the types and keys of a debate's entries, sorted because models speak at the same time.
func (s *env) journalOf(st store.Store, id string) (list []string) {
	s.Helper()
	_, entries, err := st.Load(s.ctx, id, 0)
	require.NoError(s, err)
	for _, e := range entries {
		list = append(list, e.Type+" "+e.Key)
	}
	slices.Sort(list)
	return list
}

// peopleElsewhere runs a debate whose processes end when it waits. While it waits, other processes change nothing: neither
// a further run nor Recover.
func (s *env) peopleElsewhere() {
	s.forEachModeWithPeople(func(s *env, cfg debate.Config, text string, journal []string) {
		s.create(s.newProcess(), cfg)
		waited := map[string]int{}
		for {
			d := s.open(s.newProcess(presetModel(cfg)), cfg.ID)
			require.NoError(s, s.runDebate(d).err)
			status := s.status(d)
			if status.State.Final() {
				break
			}
			require.Equal(s, fsm.Paused, status.State)
			require.NoError(s, s.runDebate(s.open(s.newProcess(presetModel(cfg)), cfg.ID)).err)
			p := s.newProcess(presetModel(cfg))
			require.NoError(s, p.Recover(s.ctx))
			require.NoError(s, p.Close(s.ctx))
			require.Equal(s, status.Seq, s.status(d).Seq, "nothing was added")
			for _, name := range status.Waiting {
				waited[name]++
				s.requireListed(name, cfg.ID)
			}
			require.NoError(s, ReplyForPeople(s.ctx, s.openInNewProcess(cfg.ID), cfg))
		}
		require.Equal(s, map[string]int{"B": 2, "J": 3}, waited)
		require.Equal(s, text, s.formatOutcome(s.openInNewProcess(cfg.ID)))
		require.Equal(s, journal, s.journalOf(s.backend.Open(s), cfg.ID))
		s.requireJournalValid(cfg.ID)
	})
}

// requireListed checks that a list of the debates that wait for a person has this debate.
func (s *env) requireListed(name, id string) {
	s.Helper()
	for h, err := range s.newProcess().List(s.ctx, store.Query{Waiting: name}) {
		require.NoError(s, err)
		require.Contains(s, h.Waiting, name)
		if h.ID == id {
			return
		}
	}
	s.Fatalf("no list of the debates that wait for %s has %s", name, id)
}

func (s *env) peopleAndProcessPerEvent() {
	s.forEachModeWithPeople(func(s *env, cfg debate.Config, text string, _ []string) {
		d := s.create(s.newProcess(), cfg)
		for !s.status(d).State.Final() {
			d = s.open(s.newProcess(presetModel(cfg)), cfg.ID)
			if !s.runUntilEvent(d, 1) {
				require.NoError(s, ReplyForPeople(s.ctx, s.openInNewProcess(cfg.ID), cfg))
			}
		}
		require.Equal(s, text, s.formatOutcome(d))
		s.requireJournalValid(cfg.ID)
	})
}

// peopleAtOnce has two processes reply at the same time for one seat.
func (s *env) peopleAtOnce() {
	s.forEachModeWithPeople(func(s *env, cfg debate.Config, _ string, _ []string) {
		d := s.create(s.newProcess(presetModel(cfg)), cfg)
		require.NoError(s, s.runDebate(d).err)
		list, err := d.Waiting(s.ctx)
		require.NoError(s, err)
		require.Len(s, list, 1)
		replies := make(chan error, 2)
		for _, text := range []string{"Yes.", "No."} {
			other := s.openInNewProcess(cfg.ID)
			go func() { replies <- other.Answer(s.ctx, list[0].Key, text, "") }()
		}
		first, second := await(s, replies, "a reply"), await(s, replies, "a reply")
		if first != nil {
			first, second = second, first
		}
		require.NoError(s, first)
		require.ErrorIs(s, second, debate.ErrAnswered)
		s.requireJournalValid(cfg.ID)
	})
}
