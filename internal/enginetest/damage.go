package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var damage = map[string]func(*scene){
	"a head that is wrong is put right when the debate is opened": (*scene).wrongHead,
	"an entry that is lost or spoiled stops its debate alone":     (*scene).wrongEntry,
}

// harms are what can befall a head.
func (s *scene) harms() map[string]func(id string, head store.Head) {
	harms := map[string]func(string, store.Head){
		"says another state": func(id string, head store.Head) {
			head.State, head.Usage, head.Topic = fsm.Error, transcript.Usage{Output: 1 << 20}, "Ban bikes?"
			require.NoError(s, s.place.Open(s).Commit(s.ctx, store.Change{ID: id, After: head.Seq, Head: head}))
		},
	}
	if d := s.place.Damage; d != nil {
		harms["is lost"] = func(id string, _ store.Head) { d.DropHead(s, id) }
		harms["cannot be read"] = func(id string, _ store.Head) { d.SpoilHead(s, id) }
		harms["is ahead"] = func(id string, head store.Head) { d.MoveHead(s, id, head.Seq+3) }
		harms["is behind"] = func(id string, head store.Head) { d.MoveHead(s, id, head.Seq-2) }
	}
	return harms
}

func (s *scene) wrongHead() {
	for name := range s.harms() {
		for lived, events := range map[string]int{"begun": 1, "halfway": 9, "completed": 99} {
			s.run(name+", "+lived, func(s *scene) {
				cfg := pair(nil)
				cfg.ID = strings.ReplaceAll(name+"-"+lived, " ", "-")
				d := s.create(s.process(), cfg)
				s.breakOff(d, events)
				before := s.stored(cfg.ID, 0)
				right := s.head(d)
				s.harms()[name](cfg.ID, right)

				d = s.elsewhere(cfg.ID)
				require.Equal(s, s.json(right), s.json(s.listed(cfg.ID)), "the list shows the right one")
				require.JSONEq(s, before, s.stored(cfg.ID, 0))
				require.Equal(s, s.json(right), s.json(s.head(d)))
				s.finish(d)
				require.Equal(s, s.undisturbed(cfg).text, s.transcript(s.elsewhere(cfg.ID)))
				s.sound(cfg.ID)
			})
		}
	}
}

func (s *scene) wrongEntry() {
	d := s.place.Damage
	if d == nil {
		s.Skip("nothing can damage this place")
	}
	for name, tt := range map[string]struct {
		harm func(t testing.TB, id string, seq int64)
		seq  int64
	}{
		"the first is lost":      {d.DropEntry, 1},
		"one between is lost":    {d.DropEntry, 5},
		"the first is spoiled":   {d.SpoilEntry, 1},
		"one between is spoiled": {d.SpoilEntry, 5},
	} {
		s.run(name, func(s *scene) {
			cfg := pair(nil)
			cfg.ID = strings.ReplaceAll(name, " ", "-")
			require.True(s, s.breakOff(s.create(s.process(), cfg), 8))
			id := cfg.ID
			cfg.ID = "beside-" + id
			beside := s.create(s.process(), cfg)
			before := []string{s.json(s.listed(id)), s.stored(id, tt.seq)}
			tt.harm(s, id, tt.seq)

			for verb, err := range s.asked(id) {
				require.ErrorContains(s, err, fmt.Sprintf("entry %d", tt.seq), verb)
				require.ErrorContains(s, err, "debate "+id, verb)
			}
			require.Equal(s, before, []string{s.json(s.listed(id)), s.stored(id, tt.seq)}, "nothing is changed")
			s.finish(beside)
			cfg.ID = "after-" + id
			s.finish(s.create(s.process(), cfg))
		})
	}
}

// asked is what a debate answers that cannot be read.
func (s *scene) asked(id string) map[string]error {
	s.Helper()
	d, opened := s.process().Open(s.ctx, id)
	require.NotNil(s, d)
	errs := map[string]error{"open": opened, "run": s.drive(d).err, "start": d.Start(s.ctx), "pause": d.Pause(s.ctx), "cancel": d.Cancel(s.ctx)}
	_, errs["head"] = d.Head(s.ctx)
	_, errs["result"] = d.Result(s.ctx)
	for _, err := range d.Replay(s.ctx) {
		errs["replay"] = err
	}
	for _, err := range d.Watch(s.ctx, 0) {
		errs["watch"] = err
	}
	return errs
}
